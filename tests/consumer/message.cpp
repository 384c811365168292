// Active messages alone, as an application with a network of its own uses them: copied as bytes, executed elsewhere.
#include <cstddef>
#include <cstring>

#include "ham/msg/active_msg.hpp"
#include "ham/msg/active_msg_base.hpp"
#include "ham/msg/execution_policy.hpp"

static int sum = 0;

class add : public ham::msg::active_msg<add> {
 public:
  explicit add(int value) : value_(value) {}
  void operator()() const { sum += value_; }

 private:
  int value_;
};

int main() {
  ham::msg::msg_handler_registry::init();
  alignas(std::max_align_t) std::byte received[sizeof(add)];
  const add message{42};
  std::memcpy(received, static_cast<const void*>(&message), sizeof message);
  (*reinterpret_cast<ham::msg::active_msg_base*>(received))(received);
  return sum == 42 ? 0 : 1;
}
