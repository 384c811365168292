// Functions that no stop takes back.
#include "runtime/always_runs.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace always_runs_test {

int give_back(int what) { return what; }
int compute(int what) { return what; }

}  // namespace always_runs_test

namespace {

template <class Callable>
const msg::handler_entry& entry_of(const Callable&) {
  return offload::detail::call_of<Callable, int>::message::entry();
}

TEST(always_runs, is_a_mark_of_the_functions_that_are_named) {
  using always_runs_test::compute;
  using always_runs_test::give_back;
  EXPECT_FALSE(entry_of(fn<&give_back>).always_runs());
  EXPECT_TRUE(always_run(fn<&give_back>));
  EXPECT_TRUE(entry_of(fn<&give_back>).always_runs());
  EXPECT_FALSE(entry_of(fn<&compute>).always_runs());
}

}  // namespace
}  // namespace ham::detail
