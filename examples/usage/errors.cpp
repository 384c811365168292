// Errors for programs: what failed, why, and whether the function has run, without the text of the message.
// expect: there is no node 99: no such node
// expect: too late, may have run
// expect: std::out_of_range: no such row
// expect: room: yes
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

double row(int number) {
  if (number > 10) throw std::out_of_range("no such row");
  return 1.0;
}
void slow() { std::this_thread::sleep_for(1s); }

int main() {
  try {
    offload::sync(99, fn<&row>, 1);
  } catch (const call_error& refused) {
    if (refused.reason() == call_error_reason::no_such_node)
      std::cout << "there is no node 99: " << to_string(refused.reason()) << '\n';
  }

  // error() waits as get() does, and throws nothing; describe_error says what it is.
  auto late = offload::async(offload::within(1, 5ms), fn<&slow>);
  if (const error_info why = describe_error(late.error()); why.kind == error_kind::deadline)
    std::cout << "too late, " << to_string(why.outcome) << '\n';

  auto missing = offload::async(1, fn<&row>, 11);
  if (!missing.has_value()) {
    const error_info why = describe_error(missing.error());
    std::cout << why.type << ": " << why.message << '\n';
  }

  // attempt makes a future of any verb, also of one that would throw at once.
  auto room = offload::attempt([] { return offload::allocate<double>(1, 100); });
  std::cout << "room: " << (room.has_value() ? "yes" : "no") << '\n';
  offload::free(room.get());
}
