// Reports of transports: each is handled once, in order, also when there was no memory for it.
#include "core/peer_events.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "core/idle_node.hpp"

namespace peer_events_test {

using namespace ham;
using detail::peer_end;
using detail::peer_event;

class peer_events : public testing::Test {
 protected:
  struct seen {
    node_t lost;
    peer_end how;
    std::string reason;
    bool operator==(const seen&) const = default;
  };
  using all_of = std::vector<seen>;

  /// As the thread that polls does.
  bool handle() {
    handled_.clear();
    return events_.handle_all(
        [this](peer_event& one) {
          if (one.connected == nullptr)
            handled_.push_back({one.lost, one.how, one.reason});
          else
            connected_.push_back(one.connected);
        },
        [this] { ++ends_; });
  }

  test::idle_node idle_;
  detail::peer_table peers_{4};
  detail::peer_events events_{peers_, idle_.waits};
  all_of handled_;
  std::vector<transport::endpoint*> connected_;
  int ends_ = 0;
};

TEST_F(peer_events, are_handled_once_and_in_order) {
  EXPECT_FALSE(events_.pending());
  EXPECT_FALSE(handle());
  events_.on_connected(detail::no_endpoint::instance());
  events_.report_end(2, peer_end::process_died, "it was killed");
  events_.report_end(1, peer_end::connection_lost, "it left");
  EXPECT_TRUE(events_.pending());
  EXPECT_TRUE(handle());
  EXPECT_EQ(connected_.size(), 1U);
  EXPECT_EQ(handled_,
            all_of({{2, peer_end::process_died, "it was killed"}, {1, peer_end::connection_lost, "it left"}}));
  EXPECT_FALSE(events_.pending());
  EXPECT_FALSE(handle());
  EXPECT_EQ(ends_, 0);
}

TEST_F(peer_events, what_was_marked_for_want_of_memory_comes_last) {
  peers_.claim(1);
  peers_.claim(3)->unreported = peer_end::process_died;
  events_.report_end(2, peer_end::connection_lost, "it left");
  events_.report_without_memory();
  EXPECT_TRUE(handle());
  EXPECT_EQ(handled_,
            all_of({{2, peer_end::connection_lost, "it left"}, {3, peer_end::process_died, "no memory left"}}));
  EXPECT_EQ(ends_, 1);
  EXPECT_FALSE(handle());
}

TEST_F(peer_events, one_that_is_reported_while_others_are_handled_is_not_lost) {
  events_.report_end(1, peer_end::connection_lost, {});
  events_.handle_all([this](peer_event&) { events_.report_end(2, peer_end::connection_lost, {}); }, [] {});
  EXPECT_TRUE(events_.pending());
  EXPECT_TRUE(handle());
  EXPECT_EQ(handled_.at(0).lost, 2);
}

TEST_F(peer_events, tell_what_was_caught) {
  events_.report_lost(3, std::runtime_error("no descriptors are left"));
  EXPECT_TRUE(handle());
  EXPECT_EQ(handled_, (all_of{{3, peer_end::connection_lost, "no descriptors are left"}}));
}

TEST_F(peer_events, wake_a_node_that_sleeps) {
  std::thread reporter([this] {
    while (idle_.armed == 0) std::this_thread::yield();
    while (idle_.disarmed == 0) {  // one that has not begun to sleep yet polls once more
      events_.report_end(1, peer_end::connection_lost, {});
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(idle_.wait([this] { return events_.pending(); }));
  idle_.disarmed = 1;
  reporter.join();
}

TEST_F(peer_events, are_not_a_childs) {
  events_.report_end(1, peer_end::connection_lost, {});
  events_.detach_after_fork();
  EXPECT_FALSE(events_.pending());
}

}  // namespace peer_events_test
