// Supervised numbers, as one node sees them: which process its calls go to, and whose its handles are.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "runtime/engine_info.hpp"

namespace engine_numbers_test {

using namespace ham;
using namespace ham::test;
using phase = detail::replacements::phase;
using std::chrono::milliseconds;

int echo(int value) { return value; }

class engine_numbers : public testing::Test {
 protected:
  void lose(node_t node) {
    at_.events.on_died(node, "its process died");
    world_.step();
  }
  /// Where a call to `number` is sent.
  node_t node_of_call(const offload::destination& to) {
    auto sent = offload::async(to, fn<&echo>, 1);
    const node_t node = [&] {
      node_t found = -1;
      at_.peers.for_each_held([&](const detail::peer& one) {
        if (one.calls_sent.load() != 0) found = one.node;
        const_cast<detail::peer&>(one).calls_sent.store(0);
      });
      return found;
    }();
    sent.detach();
    return node;
  }

  quiet quiet_;
  world world_;
  detail::engine& at_ = world_.node();
  const detail::engine_scope scope_{&at_};
  const node_t number_ = world_.friendly().number;
  const node_t process_ = world_.friendly().number;
};

TEST_F(engine_numbers, calls_go_to_the_process_of_the_number) {
  EXPECT_EQ(node_of_call(number_), number_);
  at_.numbers.set(number_, number_, phase::up);
  EXPECT_EQ(node_of_call(number_), number_);
  lose(number_);
  at_.numbers.set(number_, process_, phase::up);
  EXPECT_EQ(node_of_call(number_), process_);
  EXPECT_EQ(node_of_call(process_), process_);
  EXPECT_EQ(at_.process_of(number_), process_);
}

TEST_F(engine_numbers, calls_wait_while_another_process_is_started) {
  lose(number_);
  at_.numbers.set(number_, number_, phase::restarting);
  EXPECT_FALSE(detail::is_alive(at_, number_));
  try {
    offload::sync(offload::within(number_, milliseconds(20)), fn<&echo>, 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const deadline_exceeded& late) {
    EXPECT_EQ(late.outcome(), call_outcome::not_run);
  }
  std::thread host([this] {
    std::this_thread::sleep_for(milliseconds(20));
    at_.locked([this] {
      at_.numbers.set(number_, process_, phase::up);
      at_.waits.wake_finished();
    });
  });
  EXPECT_EQ(node_of_call(number_), process_);
  host.join();
  EXPECT_TRUE(detail::is_alive(at_, number_));
}

TEST_F(engine_numbers, one_that_is_given_up_says_why) {
  lose(number_);
  at_.numbers.set(number_, number_, phase::given_up, "it was tried often enough");
  try {
    offload::sync(number_, fn<&echo>, 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_STREQ(failure.what(), "it was tried often enough");
    EXPECT_EQ(failure.outcome(), call_outcome::not_run);
  }
}

/// Other nodes than the host are told no reason, and that process is still there when they hear of it.
TEST_F(engine_numbers, calls_do_not_reach_a_process_that_was_not_ready_when_its_number_was_given_up) {
  lose(number_);
  at_.numbers.set(number_, process_, phase::restarting);
  at_.numbers.set(number_, process_, phase::given_up);
  try {
    offload::sync(number_, fn<&echo>, 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), number_);
    EXPECT_EQ(failure.outcome(), call_outcome::not_run);
  }
  at_.numbers.set(number_, process_, phase::up);
  at_.numbers.set(number_, process_, phase::given_up);
  EXPECT_EQ(node_of_call(number_), process_) << "its loss says why, when that is heard";
}

TEST_F(engine_numbers, who_prepares_a_process_does_not_wait_for_another_one) {
  lose(number_);
  at_.numbers.set(number_, number_, phase::restarting);
  at_.numbers.set(number_, process_, phase::restarting);
  const detail::replacements::rebuilding scope(at_.numbers, number_, process_);
  EXPECT_EQ(node_of_call(number_), process_);
  lose(process_);
  EXPECT_THROW(offload::sync(offload::within(number_, milliseconds(200)), fn<&echo>, 1), node_failure)
      << "it has waited for news";
  EXPECT_THROW(offload::sync(offload::retry(number_, 3), idempotent(fn<&echo>), 1), node_failure);
}

TEST_F(engine_numbers, a_repeated_call_of_who_prepares_a_process_ends_with_it) {
  at_.numbers.set(number_, number_, phase::restarting);
  const detail::replacements::rebuilding scope(at_.numbers, number_, number_);
  auto sent = offload::async(offload::retry(number_, 3), idempotent(fn<&echo>), 1);
  lose(number_);
  ASSERT_TRUE(sent.wait_for(std::chrono::seconds(60))) << "it waits for this thread";
  EXPECT_THROW(sent.get(), node_failure);
}

/// A process that dies before it has greeted, and the next one, told by another thread while this one waits for it:
/// from when its node sleeps.
class next_process_dies {
 public:
  next_process_dies(detail::engine& at, node_t number, node_t greeting, node_t next)
      : thread_([&at, number, greeting, next, before = at.waits.sleeps()] {
          for (int i = 0; i < 20'000 && at.waits.sleeps() == before; ++i) std::this_thread::sleep_for(milliseconds(1));
          EXPECT_NE(at.waits.sleeps(), before) << "nobody waits for the process";
          at.events.on_died(greeting, "it has died, too");
          while (at.peers.hold(greeting)->state.load() != detail::peer_state::lost)
            std::this_thread::sleep_for(milliseconds(1));
          at.locked([&] {
            at.numbers.set(number, next, phase::up);
            at.waits.wake_finished();
          });
        }) {}
  ~next_process_dies() { thread_.join(); }
  next_process_dies(const next_process_dies&) = delete;
  next_process_dies& operator=(const next_process_dies&) = delete;

 private:
  std::thread thread_;
};

TEST_F(engine_numbers, a_repeated_call_goes_on_when_its_process_dies_before_it_is_sent) {
  const node_t greeting = world_.connect().number;
  at_.numbers.set(number_, number_, phase::up);
  lose(number_);
  at_.numbers.set(number_, greeting, phase::up);
  offload::future<int> sent;
  {
    const next_process_dies host(at_, number_, greeting, process_);
    sent = offload::async(offload::retry(number_, 1), idempotent(fn<&echo>), 1);
  }
  EXPECT_EQ(at_.peers[process_].calls_sent.load(), 1U);
  EXPECT_FALSE(sent.test());
  sent.detach();
}

TEST_F(engine_numbers, a_repeated_call_goes_on_when_the_next_process_dies_before_it_is_sent) {
  const node_t greeting = world_.connect().number;
  at_.numbers.set(number_, number_, phase::up);
  auto sent = offload::async(offload::retry(number_, 2), idempotent(fn<&echo>), 1);
  at_.numbers.set(number_, greeting, phase::up);
  {
    const next_process_dies host(at_, number_, greeting, process_);
    lose(number_);
  }
  world_.step();
  EXPECT_EQ(at_.peers[process_].calls_sent.load(), 1U);
  EXPECT_FALSE(sent.test());
  sent.detach();
}

TEST_F(engine_numbers, a_call_is_not_repeated_more_often_than_it_may_be) {
  const node_t greeting = world_.connect().number;
  at_.numbers.set(number_, number_, phase::up);
  auto sent = offload::async(offload::retry(number_, 1), idempotent(fn<&echo>), 1);
  at_.numbers.set(number_, greeting, phase::up);
  {
    const next_process_dies host(at_, number_, greeting, process_);
    lose(number_);
  }
  world_.step();
  EXPECT_EQ(at_.peers[process_].calls_sent.load(), 0U);
  EXPECT_THROW(sent.get(), node_failure);
}

TEST_F(engine_numbers, handles_outlive_supervision) {
  at_.numbers.set(number_, number_, phase::up);
  const node_t exact = at_.exactly(number_);
  at_.numbers.forget(number_);
  EXPECT_EQ(node_of_call(exact), number_);
}

TEST_F(engine_numbers, handles_are_of_one_process) {
  EXPECT_NO_THROW(at_.expect_no_other_process(number_));
  lose(number_);
  at_.numbers.set(number_, number_, phase::up);
  at_.numbers.set(number_, process_, phase::up);
  EXPECT_THROW(at_.expect_no_other_process(number_), node_failure);
  EXPECT_NO_THROW(at_.expect_no_other_process(process_));
  EXPECT_THROW(static_cast<void>(at_.peer_of(number_)), node_failure) << "memory is that of the process";
  EXPECT_EQ(at_.peer_of(process_)->node, process_);
  const offload::destination in_context(number_, 1);
  EXPECT_THROW(offload::sync(in_context, fn<&echo>, 1), node_failure);
  EXPECT_THROW(offload::sync(at_.exactly(number_), fn<&echo>, 1), node_failure);
  EXPECT_EQ(node_of_call(at_.exactly(process_)), process_);
}

TEST_F(engine_numbers, exact_numbers_are_plain_ones_where_nothing_is_supervised) {
  EXPECT_EQ(at_.exactly(number_), number_);
  at_.numbers.set(number_, number_, phase::up);
  EXPECT_NE(at_.exactly(number_), number_);
  EXPECT_EQ(at_.exactly(-1), -1);
}

}  // namespace engine_numbers_test
