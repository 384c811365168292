// Calls of pools and of retry(): sent as often as needed, but not with memory of a process that has gone.
#include "runtime/repeatable_call.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/clock.hpp"
#include "core/node_loss.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"
#include "runtime/pool_state.hpp"

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

/// As a process answers whose device has failed.
int ends_on_node_1() {
  ++runs;
  if (offload::this_node() != 1) return offload::this_node();
  node_failure::details what;
  what.node = 1;
  throw detail::ending_failure("node 1 failed: its device did", what);
}

class a_repeatable_task : public a_repeatable_call {
 protected:
  /// Its only node, or the first of both, is about to be lost.
  [[nodiscard]] offload::future<int> begin(std::vector<node_t> nodes) {
    pool_ = offload::detail::make_pool_state(std::move(nodes), 1);
    return offload::detail::future_access::make<int>(
        start_repeatable(pool_, offload::detail::when_full::wait, made(fn<&ends_on_node_1>)));
  }
  [[nodiscard]] bool waits_for_the_loss() {
    return eventually([this] {
      at_.poll_once();
      return at_.losses.next_ns() != base::never_ns;
    });
  }
  std::shared_ptr<offload::detail::pool_state> pool_;
};

TEST_F(a_repeatable_task, may_be_the_last_owner_of_its_pool_when_no_node_is_left) {
  auto result = begin({1});
  pool_.reset();
  ASSERT_TRUE(waits_for_the_loss());
  at_.part_with(1, "its process died");
  EXPECT_THROW(static_cast<void>(result.get()), node_failure);
}

TEST_F(a_repeatable_task, goes_to_another_node) {
  auto result = begin({1, 2});
  ASSERT_TRUE(waits_for_the_loss());
  at_.part_with(1, "its process died");
  EXPECT_EQ(result.get(), 2);
  EXPECT_EQ(runs, 2);
}

TEST_F(a_repeatable_task, that_is_stopped_goes_nowhere) {
  auto result = begin({1, 2});
  ASSERT_TRUE(waits_for_the_loss());
  EXPECT_TRUE(result.request_stop());
  at_.part_with(1, "its process died");
  EXPECT_THROW(static_cast<void>(result.get()), node_failure);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(pool_->pending(), 0U);
}

}  // namespace repeatable_call_test
