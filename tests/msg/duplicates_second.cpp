// The second of two files with functions and messages of the same names.
#include <string>

#include "duplicates.hpp"
#include "ham/msg/active_msg.hpp"
#include "ham/msg/f2f.hpp"

namespace {

[[maybe_unused]] int value_of_this_file() { return 2; }

struct twice_defined : ham::msg::active_msg<twice_defined> {
  void operator()() {}
};

template <class Callable>
struct registration {
  using tag = ham::msg::tag_for<Callable>;
  static constexpr ham::msg::handler_kind kind = ham::msg::handler_kind::call;
  static void handler(void* buffer) { *static_cast<int*>(buffer) = Callable{}(); }
  static std::string layout() { return ";;i4"; }
  static constexpr std::size_t message_size() { return 0; }
};

}  // namespace

ham::msg::handler_entry& duplicates::second_file_entry() {
  using callable = std::remove_const_t<decltype(ham::fn<&value_of_this_file>)>;
  return ham::msg::handler_registrar<registration<callable>>::entry();
}

void duplicates::make_second_message() { static_cast<void>(twice_defined{}); }
