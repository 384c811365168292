// Calls that a process had when it failed: it answers that it ends, and they are repeated once it has.
#include "ham/offload/retry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "core/node_loss.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

using namespace ham;
using namespace ham::test;

namespace retried_call_test {

using phase = detail::replacements::phase;

node_failure::details of(node_t node) {
  node_failure::details what;
  what.node = node;
  return what;
}

int runs = 0;
/// As a process answers whose device has failed; this one may stay.
int ends_on_node_1() {
  ++runs;
  const node_t here = offload::this_node();
  if (here == 1) throw detail::ending_failure("node 1 failed: its device did", of(1));
  return here;
}
int is_lost_elsewhere() { throw detail::ending_failure("node 2 failed: its device did", of(2)); }
int fails() { throw node_failure("node 1 failed: so it says", of(1)); }

class retried_call : public two_targets {
 protected:
  retried_call() { runs = 0; }
  [[nodiscard]] bool waits() const { return at_.losses.next_ns() != base::never_ns; }
  [[nodiscard]] bool comes_to_wait() {
    return eventually([this] {
      at_.poll_once();
      return waits();
    });
  }
  detail::engine& at_ = detail::current();
};

TEST_F(retried_call, is_repeated_by_the_next_process_when_the_one_that_ends_is_lost) {
  at_.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 1), idempotent(fn<&ends_on_node_1>));
  ASSERT_TRUE(comes_to_wait());
  EXPECT_FALSE(result.test()) << "it is not known yet whether there will be another process";
  at_.numbers.set(1, 1, phase::restarting);
  at_.part_with(1, "its process died");
  EXPECT_FALSE(waits());
  EXPECT_FALSE(result.test());
  at_.numbers.set(1, 2, phase::up);
  EXPECT_EQ(result.get(), 2);
  EXPECT_EQ(runs, 2);
}

TEST_F(retried_call, fails_with_the_reason_when_the_number_is_given_up) {
  at_.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 3), idempotent(fn<&ends_on_node_1>));
  ASSERT_TRUE(comes_to_wait());
  at_.numbers.set(1, 1, phase::given_up, "it dies too often");
  at_.part_with(1, "its process died");
  const std::string why = message_of<node_failure>([&] { static_cast<void>(result.get()); });
  EXPECT_NE(why.find("its device did"), std::string::npos) << why;
  EXPECT_EQ(runs, 1);
}

int ends_everywhere() {
  const node_t here = offload::this_node();
  throw detail::ending_failure("node " + std::to_string(here) + " failed: its device did", of(here));
}

TEST_F(retried_call, fails_with_the_first_reason_when_no_repetition_is_left) {
  at_.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 1), idempotent(fn<&ends_everywhere>));
  ASSERT_TRUE(comes_to_wait());
  at_.numbers.set(1, 2, phase::up);
  at_.part_with(1, "its process died");
  const std::string why = message_of<node_failure>([&] { static_cast<void>(result.get()); });
  EXPECT_NE(why.find("node 1 failed: its device did"), std::string::npos) << why;
  EXPECT_FALSE(waits());
}

TEST_F(retried_call, does_not_wait_for_ever_for_a_process_that_does_not_end) {
  at_.numbers.set(1, 1, phase::up);
  const std::string why = message_of<node_failure>([] {
    static_cast<void>(offload::sync(offload::retry(offload::within(1, 2s), 3), idempotent(fn<&ends_on_node_1>)));
  });
  EXPECT_NE(why.find("its device did"), std::string::npos) << why;
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(waits());
}

TEST_F(retried_call, does_not_wait_where_no_process_can_take_the_place) {
  EXPECT_THROW(static_cast<void>(offload::sync(offload::retry(1, 3), idempotent(fn<&ends_on_node_1>))), node_failure);
  at_.numbers.set(1, 1, phase::up);
  EXPECT_THROW(static_cast<void>(offload::sync(offload::retry(1, 0), idempotent(fn<&ends_on_node_1>))), node_failure);
  EXPECT_THROW(static_cast<void>(offload::sync(offload::retry(1, 3), idempotent(fn<&is_lost_elsewhere>))),
               node_failure);
  EXPECT_THROW(static_cast<void>(offload::sync(offload::retry(1, 3), idempotent(fn<&fails>))), node_failure)
      << "such a failure says nothing of its process";
  EXPECT_FALSE(waits());
}

TEST_F(retried_call, that_is_stopped_is_not_repeated) {
  at_.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 3), idempotent(fn<&ends_on_node_1>));
  ASSERT_TRUE(comes_to_wait());
  EXPECT_TRUE(result.request_stop());
  at_.numbers.set(1, 2, phase::up);
  at_.part_with(1, "its process died");
  EXPECT_THROW(static_cast<void>(result.get()), node_failure);
  EXPECT_EQ(runs, 1);
}

TEST_F(retried_call, that_is_stopped_while_the_next_process_is_awaited_is_not_repeated) {
  at_.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 3), idempotent(fn<&ends_on_node_1>));
  ASSERT_TRUE(comes_to_wait());
  at_.numbers.set(1, 1, phase::restarting);
  at_.part_with(1, "its process died");
  EXPECT_FALSE(result.test());
  EXPECT_TRUE(result.request_stop());
  at_.numbers.set(1, 2, phase::up);
  EXPECT_THROW(static_cast<void>(result.get()), node_failure);
  EXPECT_EQ(runs, 1);
}

TEST(retried_call_of_a_runtime, settles_when_that_ends) {
  auto job = std::make_unique<runtime>(loopback(2));
  detail::engine& at = detail::current();
  at.numbers.set(1, 1, phase::up);
  auto result = offload::async(offload::retry(1, 3), idempotent(fn<&ends_on_node_1>));
  ASSERT_TRUE(eventually([&] {
    at.poll_once();
    return at.losses.next_ns() != base::never_ns;
  }));
  job.reset();
  EXPECT_ANY_THROW(static_cast<void>(result.get()));
}

}  // namespace retried_call_test
