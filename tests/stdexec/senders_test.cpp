// Senders with the adaptors of stdexec: what they are to its concepts, and how they compose.
#include "ham/offload/senders.hpp"

#include <atomic>
#include <stdexcept>
#include <stdexec/execution.hpp>
#include <tuple>
#include <type_traits>

#include "offload/loopback_job.hpp"

namespace stdexec_test {

using namespace ham;
using namespace ham::test;

std::atomic<int> begun{0};

int twice(int value) { return 2 * value; }
node_t here() { return offload::this_node(); }
void raise() { throw std::invalid_argument("as expected"); }
void until_stopped() {
  const auto stop = this_call::stop_token();
  ++begun;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!stop.stop_requested())
    if (std::chrono::steady_clock::now() > until) return;
  throw operation_cancelled("as you wish", call_outcome::may_have_run);
}

using of_call = decltype(offload::call(1, fn<&twice>, 1));
using of_future = decltype(offload::as_sender(offload::future<void>()));
using on_node = decltype(offload::schedule(1) | offload::then(fn<&here>));
static_assert(stdexec::sender<of_call> && stdexec::sender<of_future> && stdexec::sender<on_node>);
static_assert(stdexec::sender<offload::schedule_sender>);
static_assert(stdexec::sender_in<of_call, offload::detail::wait_env>);
static_assert(
    std::is_same_v<stdexec::completion_signatures_of_t<of_call, offload::detail::wait_env>,
                   stdexec::completion_signatures<stdexec::set_value_t(int), stdexec::set_error_t(std::exception_ptr),
                                                  stdexec::set_stopped_t()>>);

using stdexec_senders = two_targets;

TEST_F(stdexec_senders, adaptors_go_on_here_behind_calls) {
  auto work = offload::call(1, fn<&twice>, 4) | stdexec::then([](int value) { return value + offload::this_node(); });
  EXPECT_EQ(offload::sync_wait(std::move(work)), std::tuple(8));
}

TEST_F(stdexec_senders, several_calls_are_one_sender) {
  auto both = stdexec::when_all(offload::call(1, fn<&here>), offload::as_sender(offload::async(2, fn<&here>))) |
              stdexec::then([](node_t first, node_t second) { return 10 * first + second; });
  EXPECT_EQ(offload::sync_wait(std::move(both)), std::tuple(12));
}

TEST_F(stdexec_senders, a_call_may_follow_another_one) {
  auto chained = offload::call(1, fn<&twice>, 4) |
                 stdexec::let_value([](int& value) { return offload::call(2, fn<&twice>, value); });
  EXPECT_EQ(offload::sync_wait(std::move(chained)), std::tuple(16));
}

TEST_F(stdexec_senders, both_spellings_of_then_run_on_the_node) {
  EXPECT_EQ(offload::sync_wait(offload::schedule(2) | offload::then(fn<&here>)), std::tuple(2));
  EXPECT_EQ(offload::sync_wait(offload::schedule(2) | stdexec::then(fn<&here>)), std::tuple(2));
  EXPECT_EQ(offload::sync_wait(stdexec::then(offload::schedule(1) | offload::then(fn<&here>),
                                             [](node_t before) { return 10 * before + offload::this_node(); })),
            std::tuple(11));
}

TEST_F(stdexec_senders, errors_go_the_way_of_errors) {
  EXPECT_THROW(static_cast<void>(offload::sync_wait(offload::call(1, fn<&raise>) | stdexec::then([] { return 1; }))),
               std::invalid_argument);
  auto mended = offload::call(1, fn<&raise>) | stdexec::then([] { return 1; }) |
                stdexec::upon_error([](std::exception_ptr) { return 2; });
  EXPECT_EQ(offload::sync_wait(std::move(mended)), std::tuple(2));
}

TEST_F(stdexec_senders, when_one_of_several_fails_the_others_are_stopped) {
  begun = 0;
  auto both = stdexec::when_all(offload::call(1, fn<&until_stopped>), offload::call(2, [] {
                                  while (begun == 0) std::this_thread::yield();
                                  raise();
                                }));
  EXPECT_THROW(static_cast<void>(offload::sync_wait(std::move(both))), std::invalid_argument);
}

}  // namespace stdexec_test
