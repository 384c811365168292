#include "core/transport_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "core/narrow_endpoint.hpp"
#include "ham/error.hpp"

namespace transport_set_test {

using namespace ham;
using ham::detail::transport_set;
using ham::test::narrow_endpoint;

/// What was asked of a transport, and what it is to answer.
struct record {
  int polls = 0, max_polls = 0, armed = 0, disarmed = 0, forgotten = 0, ended = 0, connected_to = -1;
  bool has_frame = false, may_sleep = true, is_oversubscribed = false;
  int core = -1;
  std::int64_t sleep_ns = base::never_ns, pid = -1;
  std::vector<std::byte> recorded;
  narrow_endpoint from;
};

class scripted_transport final : public transport::transport {
 public:
  explicit scripted_transport(record& of) : of_(of) {}
  const char* name() const noexcept override { return "scripted"; }
  void connect(node_t node) override { of_.connected_to = node; }
  ham::transport::endpoint* poll(ham::transport::frame&, unsigned polls) override {
    ++of_.polls;
    of_.max_polls = std::max(of_.max_polls, static_cast<int>(polls));
    return of_.has_frame ? &of_.from : nullptr;
  }
  bool arm() override {
    of_.armed += of_.may_sleep;
    return of_.may_sleep;
  }
  void disarm() noexcept override { ++of_.disarmed; }
  int wake_fd() const noexcept override { return -1; }
  std::int64_t max_sleep_ns() const noexcept override { return of_.sleep_ns; }
  void forget(ham::transport::endpoint&) noexcept override { ++of_.forgotten; }
  void wake() noexcept override {}
  bool oversubscribed() const noexcept override { return of_.is_oversubscribed; }
  int home_core() const noexcept override { return of_.core; }
  std::int64_t peer_pid(node_t) const noexcept override { return of_.pid; }
  std::vector<std::byte> recorded_by(node_t) const override { return of_.recorded; }
  void shutdown() noexcept override { ++of_.ended; }

 private:
  record& of_;
};

class transport_set_of_three : public ::testing::Test {
 protected:
  transport_set_of_three() {
    for (record& one : each) set.add(std::make_unique<scripted_transport>(one));
  }
  void poll_in_vain(int times) {
    ham::transport::frame frame;
    for (int i = 0; i < times; ++i) EXPECT_EQ(set.poll(frame, 4), nullptr);
  }
  record each[3];
  transport_set set;
};

TEST(transport_set, an_empty_one_has_nothing_and_may_sleep) {
  transport_set set;
  ham::transport::frame frame;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.poll(frame, 1), nullptr);
  EXPECT_TRUE(set.arm());
  EXPECT_EQ(set.max_sleep_ns(), base::never_ns);
  EXPECT_EQ(set.home_core(), -1);
  EXPECT_EQ(set.peer_pid(1), -1);
}

TEST(transport_set, one_too_many_is_refused_with_the_limit) {
  record of;
  transport_set set;
  for (std::size_t i = 0; i < transport_set::max_transports; ++i) set.add(std::make_unique<scripted_transport>(of));
  try {
    set.add(std::make_unique<scripted_transport>(of));
    FAIL() << "was added";
  } catch (const config_error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(transport_set::max_transports)), std::string::npos);
  }
}

TEST_F(transport_set_of_three, the_first_is_polled_at_every_turn_with_all_polls) {
  poll_in_vain(1000);
  EXPECT_EQ(each[0].polls, 1000);
  EXPECT_EQ(each[0].max_polls, 4);
}

TEST_F(transport_set_of_three, the_others_are_polled_seldom_while_nothing_comes) {
  poll_in_vain(1600);
  EXPECT_GE(each[1].polls, 50);
  EXPECT_LE(each[1].polls, 200);
  EXPECT_EQ(each[1].polls, each[2].polls);
  EXPECT_EQ(each[1].max_polls, 1);
}

TEST_F(transport_set_of_three, one_of_the_others_that_had_something_is_polled_often_for_a_while) {
  poll_in_vain(1000);
  each[2].has_frame = true;
  ham::transport::frame frame;
  for (int i = 0; i < 100; ++i) static_cast<void>(set.poll(frame, 4));
  each[2].has_frame = false;
  const int before = each[2].polls;
  poll_in_vain(100);
  EXPECT_EQ(each[2].polls - before, 100);
  poll_in_vain(2000);  // and then it has cooled
  const int cooled = each[2].polls;
  poll_in_vain(160);
  EXPECT_LE(each[2].polls - cooled, 20);
}

TEST_F(transport_set_of_three, after_a_sleep_all_are_polled_often) {
  poll_in_vain(1000);
  const int before = each[1].polls;
  set.disarm();
  poll_in_vain(100);
  EXPECT_EQ(each[1].polls - before, 100);
}

TEST_F(transport_set_of_three, a_frame_of_the_first_comes_first) {
  each[0].has_frame = each[1].has_frame = true;
  ham::transport::frame frame;
  EXPECT_EQ(set.poll(frame, 1), &each[0].from);
}

TEST_F(transport_set_of_three, all_are_armed_or_none) {
  EXPECT_TRUE(set.arm());
  set.disarm();
  each[2].may_sleep = false;
  EXPECT_FALSE(set.arm());
  for (const record& one : each) EXPECT_EQ(one.armed, one.disarmed);
}

TEST_F(transport_set_of_three, the_shortest_sleep_counts) {
  each[1].sleep_ns = 500;
  each[2].sleep_ns = 300;
  EXPECT_EQ(set.max_sleep_ns(), 300);
}

TEST_F(transport_set_of_three, the_first_that_knows_answers) {
  each[1].core = 3;
  each[2].core = 5;
  each[2].pid = 77;
  EXPECT_EQ(set.home_core(), 3);
  EXPECT_EQ(set.peer_pid(1), 77);
  EXPECT_FALSE(set.oversubscribed());
  each[2].is_oversubscribed = true;
  EXPECT_TRUE(set.oversubscribed());
}

TEST_F(transport_set_of_three, connects_by_the_first_and_tells_all_of_ends) {
  set.connect(7);
  EXPECT_EQ(each[0].connected_to, 7);
  EXPECT_EQ(each[1].connected_to, -1);
  set.forget(each[1].from);
  set.shutdown();
  for (const record& one : each) {
    EXPECT_EQ(one.forgotten, 1);
    EXPECT_EQ(one.ended, 1);
  }
}

TEST_F(transport_set_of_three, what_a_node_has_recorded_is_read_by_the_transport_that_can) {
  EXPECT_TRUE(set.recorded_by(1).empty());
  each[1].recorded = std::vector<std::byte>(3, std::byte{1});
  each[2].recorded = std::vector<std::byte>(4, std::byte{2});
  EXPECT_EQ(set.recorded_by(1), each[1].recorded);
}

}  // namespace transport_set_test
