// Which deadline a call has that a function makes, and that its future is stopped with the function.
#include "runtime/stop_with_caller.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "core/callable.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace stop_with_caller_test {

class stop_with_caller : public two_targets {};

std::int64_t deadline_of_call(std::int64_t own_ns) { return detail::deadline_within_caller(own_ns); }

TEST_F(stop_with_caller, a_deadline_is_no_later_than_that_of_the_function) {
  constexpr std::int64_t soon = 1;
  EXPECT_EQ(detail::deadline_within_caller(0), 0) << "no function";
  EXPECT_EQ(offload::sync(1, fn<&deadline_of_call>, std::int64_t{0}), 0);
  EXPECT_EQ(offload::sync(offload::stoppable(1), fn<&deadline_of_call>, std::int64_t{0}), base::never_ns);
  EXPECT_EQ(offload::sync(offload::within(1, 60s), fn<&deadline_of_call>, soon), soon);
  const std::int64_t bounded = offload::sync(offload::within(1, 60s), fn<&deadline_of_call>, std::int64_t{0});
  EXPECT_GT(bounded, base::now_ns());
  EXPECT_LT(bounded, base::never_ns);
}

std::atomic<bool> made{false};

/// Whether a future that this function makes is stopped with it.
bool future_is_stopped() {
  detail::engine& here = detail::current();
  detail::call_slot& future = *detail::make_local_slot(here);
  here.repeated.add(future, msg::handler_registrar<test::callable>::entry());
  detail::stop_with_caller(here, future);
  made = true;
  const auto stop = this_call::stop_token();
  while (!stop.stop_requested()) std::this_thread::sleep_for(100us);
  const bool stopped = here.repeated.is_stopped(future);
  here.repeated.remove(future);
  here.calls.cancel(future);
  return stopped;
}

TEST_F(stop_with_caller, a_future_is_stopped_with_the_function_that_has_made_it) {
  made = false;
  auto call = offload::async(offload::stoppable(1), fn<&future_is_stopped>);
  ASSERT_TRUE(eventually([] { return made.load(); }));
  EXPECT_TRUE(call.request_stop(offload::when_stopped::after_answer));
  EXPECT_TRUE(call.get());
}

}  // namespace stop_with_caller_test
