// Active messages on their own: a message is a small object, copied through any byte buffer, executed by its receiver.
// expect: received: 6 times 7 is 42
// link: ham::ham
#include <ham/msg/active_msg.hpp>
#include <ham/msg/active_msg_base.hpp>
#include <ham/msg/execution_policy.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <iostream>

using namespace ham::msg;

// The message brings its data and what is to be done. Its handler is registered by the base class.
class multiply_message : public active_msg<multiply_message> {
 public:
  multiply_message(int a, int b) : a_(a), b_(b) {}
  void operator()() const { std::cout << "received: " << a_ << " times " << b_ << " is " << a_ * b_ << '\n'; }

 private:
  int a_;
  int b_;
};

int main() {
  msg_handler_registry::init();  // numbers the handlers; after this, messages carry valid keys

  // Sender: any way of moving bytes will do; a plain buffer stands for it here.
  const multiply_message message(6, 7);
  alignas(std::max_align_t) std::array<std::byte, 256> wire{};
  static_assert(sizeof(message) <= sizeof(wire));
  std::memcpy(wire.data(), &message, sizeof(message));

  // Receiver: it knows nothing of the message's type; the key in front of the bytes finds the handler.
  auto& received = *reinterpret_cast<active_msg_base*>(wire.data());
  received(wire.data());
}
