// What ends the wait of a call for its node.
#include "core/wait_limit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "core/call_stops.hpp"
#include "core/peer_table.hpp"
#include "core/thread_state.hpp"

namespace {

using namespace ham;
using detail::call_stop;
using detail::wait_limit;

class stopped_node final : public detail::stopped_node {
 public:
  void receive_stops(bool) noexcept override {}
  void stop_nested(const detail::nested_call&) noexcept override {}
  void stop_nested_locked(const detail::nested_call&) noexcept override {}
  void drop_settled(std::vector<detail::nested_call>&) noexcept override {}
  void count_stoppable(int) noexcept override {}
};

TEST(wait_limit, without_a_deadline_there_is_no_end) {
  EXPECT_EQ(wait_limit{}.late_ns(), base::never_ns);
  EXPECT_EQ(wait_limit{5}.late_ns(), 5);
  EXPECT_FALSE(wait_limit{5}.can_stop());
  EXPECT_FALSE(wait_limit{5}.stopped());
}

TEST(wait_limit, the_token_of_the_call_ends_it) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  const wait_limit limit{0, &token};
  EXPECT_TRUE(limit.can_stop());
  EXPECT_FALSE(limit.stopped());
  source.request_stop();
  EXPECT_TRUE(limit.stopped());
}

TEST(wait_limit, the_stop_of_its_caller_ends_it_if_it_is_to) {
  stopped_node node;
  detail::peer_table peers(3);
  std::atomic<std::uint64_t> word{0};
  constexpr std::uint64_t mark = 0x200000007;
  const auto caller =
      std::make_shared<call_stop>(node, call_stop::origin{nullptr, peers.claim(1), 7}, base::never_ns, &word, mark);
  detail::thread_state& here = detail::this_thread;
  call_stop* const before = std::exchange(here.stop, caller.get());
  const auto depth_before = std::exchange(here.stop_depth, here.depth);
  const wait_limit with{0, nullptr, true};
  EXPECT_TRUE(with.can_stop());
  EXPECT_FALSE(with.stopped());
  word = mark;
  EXPECT_TRUE(with.stopped());
  EXPECT_FALSE(wait_limit{}.stopped());
  ++here.depth;
  EXPECT_FALSE(with.stopped()) << "what is executed meanwhile was not stopped";
  --here.depth;
  here.stop = before;
  here.stop_depth = depth_before;
}

}  // namespace
