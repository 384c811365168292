// Which targets are connected with each other, and who is told when one has gone. The targets are played here.
#include "transport/shm/target_group.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "base/control_socket.hpp"

namespace ham::inline v1::transport::shm {
namespace {

class target_groups : public testing::Test {
 protected:
  target_groups() {
    const base::unique_fd file = base::make_memory_file("ham-test", 4096);
    for (const node_t node : {1, 2, 3}) {
      auto fresh = std::make_unique<started_target>(node, "app");
      ends_[node] = fresh->take_its_end();
      fresh->welcome({}, file.get(), file.get(), file.get(), file.get());
      group_.add(std::move(fresh));
      static_cast<void>(told(node));
    }
  }
  started_target& at(node_t node) { return *group_.find(node); }
  /// The next message to a target.
  std::optional<control_text> told(node_t node) {
    bool closed = false;
    const auto message = base::receive_control(ends_[node].get(), false, closed);
    if (!message) return std::nullopt;
    control_text text;
    EXPECT_EQ(message->bytes.size(), sizeof text);
    std::memcpy(&text, message->bytes.data(), sizeof text);
    return text;
  }
  void expect_told(node_t node, control_kind kind, node_t peer) {
    const auto text = told(node);
    ASSERT_TRUE(text) << node;
    EXPECT_EQ(text->kind, kind);
    EXPECT_EQ(text->peer, peer);
  }
  void expect_silence() {
    for (const node_t node : {1, 2, 3}) EXPECT_FALSE(told(node)) << node;
  }

  target_group group_;
  std::map<node_t, base::unique_fd> ends_;
};

TEST_F(target_groups, find_a_target_by_its_number) {
  EXPECT_EQ(at(2).node, 2);
  EXPECT_EQ(group_.find(4), nullptr);
}

TEST_F(target_groups, connect_two_once) {
  group_.introduce(at(2), 1);
  const auto first = told(2);
  const auto second = told(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kind, control_kind::connected);
  EXPECT_EQ(first->peer, 1);
  EXPECT_EQ(second->peer, 2);
  EXPECT_NE(first->side, second->side);
  EXPECT_EQ(first->epoch, second->epoch);
  group_.introduce(at(2), 1);
  group_.introduce(at(1), 2);
  group_.introduce(at(3), 3);
  expect_silence();
}

TEST_F(target_groups, give_each_pair_an_epoch_of_its_own) {
  base::unique_fd file;
  std::uint32_t one = 0;
  std::uint32_t two = 0;
  static_cast<void>(group_.make_pair(file, one));
  static_cast<void>(group_.make_pair(file, two));
  EXPECT_NE(one, two);
}

TEST_F(target_groups, refuse_who_is_not_there) {
  group_.introduce(at(1), 9);
  expect_told(1, control_kind::refused, 9);
  group_.release(at(2), true);
  group_.introduce(at(1), 2);
  expect_told(1, control_kind::refused, 2);
  expect_silence();
}

TEST_F(target_groups, tell_the_peers_of_one_that_has_gone) {
  group_.introduce(at(1), 2);
  group_.introduce(at(1), 3);
  static_cast<void>(told(1));
  static_cast<void>(told(1));
  static_cast<void>(told(2));
  static_cast<void>(told(3));
  group_.release(at(2), false);
  expect_told(1, control_kind::refused, 2);
  expect_silence();
  group_.release(at(1), true);
  expect_told(3, control_kind::ended, 1);
  expect_silence();
}

TEST_F(target_groups, connect_two_later_if_one_could_not_be_told) {
  for (int i = 0; i < 10'000; ++i) at(2).refuse(9);  // it does not read: nothing more goes to it
  group_.introduce(at(1), 2);
  expect_told(1, control_kind::connected, 2);
  expect_told(1, control_kind::refused, 2);
  while (told(2)) {
  }
  group_.introduce(at(2), 1);
  expect_told(2, control_kind::connected, 1);
  expect_told(1, control_kind::connected, 2);
  expect_silence();
}

TEST_F(target_groups, drop_those_that_have_ended_and_are_not_used) {
  at(1).forgotten = true;
  group_.release(at(2), true);
  EXPECT_TRUE(group_.drop_ended().empty());
  at(2).forgotten = true;
  EXPECT_EQ(group_.drop_ended(), std::vector<node_t>{2});
  EXPECT_EQ(group_.find(2), nullptr);
  EXPECT_TRUE(group_.drop_ended().empty());
}

}  // namespace
}  // namespace ham::transport::shm
