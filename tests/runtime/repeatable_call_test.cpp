// Calls of pools and of retry(): sent as often as needed, but not with memory of a process that has gone.
#include "runtime/repeatable_call.hpp"

#include <gtest/gtest.h>

#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

using namespace ham;
using namespace ham::test;

namespace repeatable_call_test {

using phase = detail::replacements::phase;
using offload::detail::call_place;
using offload::detail::call_slot;
using offload::detail::repeatable_call;

int runs = 0;
int doubled(int value) {
  ++runs;
  return 2 * value;
}
bool is_null(offload::buffer_ptr<int> memory) { return memory.address() == 0; }

template <class Callable, class... Args>
repeatable_call made(const Callable& callable, const Args&... args) {
  return offload::detail::make_repeatable<offload::detail::call_plan<Callable, const Args&...>>(call_place{1}, callable,
                                                                                                args...);
}

template <class Result>
Result result_of(call_slot* of) {
  return offload::detail::future_access::make<Result>(of).get();
}

class a_repeatable_call : public two_targets {
 protected:
  a_repeatable_call() { runs = 0; }
  [[nodiscard]] call_slot* send(const repeatable_call& call, node_t node) {
    return send_repeatable(at_, {node}, call, offload::detail::when_full::wait);
  }
  detail::engine& at_ = detail::current();
};

TEST_F(a_repeatable_call, is_sent_again_and_to_others) {
  const repeatable_call call = made(fn<&doubled>, 21);
  for (const node_t node : {1, 2, 1}) EXPECT_EQ(result_of<int>(send(call, node)), 42);
  EXPECT_EQ(runs, 3);
}

TEST_F(a_repeatable_call, is_not_sent_with_memory_of_a_process_that_another_one_has_followed) {
  const auto memory = offload::allocate<int>(1, 1);
  const repeatable_call call = made(fn<&is_null>, memory);
  EXPECT_FALSE(result_of<bool>(send(call, 1)));
  at_.numbers.set(1, 2, phase::up);
  const std::string why = message_of<buffer_error>([&] { static_cast<void>(send(call, 1)); });
  EXPECT_NE(why.find("memory of a process of node 1"), std::string::npos) << why;
  EXPECT_EQ(result_of<int>(send(made(fn<&doubled>, 1), 1)), 2) << "the room of the refused call was given back";
  at_.numbers.set(1, 1, phase::up);
}

}  // namespace repeatable_call_test
