// Frames that arrive, what their heads tell of this side's frames, and the ends of a connection.
#include "transport/tcp/frame_receiver.hpp"

#include "transport/tcp/endpoints.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class frame_receivers : public lone_endpoint {
 protected:
  [[nodiscard]] std::optional<std::uint32_t> next() const {
    frame found;
    if (!eventually([&] { return end_->poll(found); })) return std::nullopt;
    end_->release();
    return found.head.key;
  }
};

TEST_F(frame_receivers, give_frames_in_order) {
  EXPECT_FALSE(end_->receiver().has_more());
  for (std::uint32_t i = 0; i < 20; ++i) write({0, 1, 0, i, 0, 0});
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(next(), i);
  EXPECT_FALSE(end_->receiver().has_more());
  EXPECT_EQ(owner_.acks, 20);
}

TEST_F(frame_receivers, know_what_is_here_without_the_socket) {
  write({0, 1, 0, 1, 0, 0});
  write({0, 1, 0, 2, 0, 0});
  std::byte both[2 * head_bytes];
  ASSERT_TRUE(eventually(
      [&] { return ::recv(end_->socket(), both, sizeof both, MSG_PEEK) == static_cast<ssize_t>(sizeof both); }));
  frame found;
  EXPECT_FALSE(end_->poll_buffered(found)) << "not read yet";
  EXPECT_EQ(next(), 1U);
  EXPECT_TRUE(end_->receiver().has_more());
  ASSERT_TRUE(end_->poll_buffered(found));
  EXPECT_EQ(found.head.key, 2U);
  end_->release();
  EXPECT_FALSE(end_->poll_buffered(found));
}

TEST_F(frame_receivers, learn_what_the_peer_took) {
  for (std::uint32_t i = 0; i < 3; ++i) commit(i);
  end_->sender().push();
  EXPECT_EQ(end_->consumed(), 0U);
  write({0, notice_kind, 0, 0, 0, 2});
  EXPECT_TRUE(eventually([&] { return end_->consumed() == 2; }));
}

TEST_F(frame_receivers, do_not_believe_that_the_peer_took_what_was_never_sent) {
  commit(1);
  write({0, notice_kind, 0, 0, 0, 2});
  EXPECT_TRUE(eventually([&] {
    frame none;
    return !end_->poll(none) && owner_.breaks != 0;
  }));
  EXPECT_EQ(end_->state(), endpoint_state::broken);
  EXPECT_NE(end_->reason().find("never sent"), std::string::npos) << end_->reason();
}

TEST_F(frame_receivers, do_not_take_frames_of_another_connection) {
  write({0, 1, 0, 1, 0, 0}, test_epoch + 1);
  EXPECT_TRUE(eventually([&] {
    frame none;
    return !end_->poll(none) && owner_.breaks != 0;
  }));
}

TEST_F(frame_receivers, hand_on_that_the_peer_wants_a_lane) {
  write({0, want_lane_kind, 0, 0, 0, 0});
  write({0, 1, 0, 1, 0, 0});
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(owner_.lanes, 1);
}

TEST_F(frame_receivers, tell_a_farewell_from_a_death) {
  std::string why;
  EXPECT_FALSE(end_->receiver().read_to_end(why)) << "it has not ended";
  write({0, farewell_kind, 0, 0, 0, 0});
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_TRUE(eventually([&] { return end_->receiver().read_to_end(why); }));
  EXPECT_EQ(why, "it has left");

  auto [here, there] = connected_to(listening_.get());
  const auto other = endpoint_over(std::move(here), 2, owner_);
  there.reset();
  EXPECT_TRUE(eventually([&] { return other->receiver().read_to_end(why); }));
  EXPECT_NE(why.find("without a farewell"), std::string::npos) << why;
}

TEST_F(frame_receivers, are_cut_off_once) {
  std::string why;
  EXPECT_TRUE(end_->receiver().cut_off(why));
  EXPECT_NE(why.find("does not answer"), std::string::npos) << why;
  EXPECT_FALSE(end_->receiver().cut_off(why));
}

TEST_F(frame_receivers, drain_until_the_peer_has_ended) {
  end_->leave();
  write({0, 1, 0, 1, 0, 0});
  EXPECT_FALSE(end_->receiver().drain());
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_TRUE(eventually([&] { return end_->receiver().drain(); }));
  end_->close_stream();
  EXPECT_TRUE(end_->receiver().drain());
}

TEST_F(frame_receivers, look_at_some_frames_that_only_tell_something_at_once) {
  constexpr int told = 200;
  for (int i = 0; i < told; ++i) write({0, notice_kind, 0, 0, 0, 0});
  write({0, 1, 0, 9, 0, 0});
  bytes all((told + 1) * head_bytes);
  ASSERT_TRUE(eventually(
      [&] { return ::recv(end_->socket(), all.data(), all.size(), MSG_PEEK) == static_cast<ssize_t>(all.size()); }));
  frame found;
  EXPECT_FALSE(end_->poll(found));
  EXPECT_TRUE(end_->receiver().stopped_early());
  EXPECT_TRUE(end_->receiver().has_more()) << "nobody goes to sleep now";
  EXPECT_EQ(next(), 9U);
  EXPECT_FALSE(end_->receiver().stopped_early());
}

/// A node that is lost is asked for its last answers until it gives none.
TEST_F(frame_receivers, look_at_all_frames_of_who_has_ended) {
  for (int i = 0; i < 200; ++i) write({0, notice_kind, 0, 0, 0, 0});
  write({0, 1, 0, 9, 0, 0});
  ::shutdown(peer_.get(), SHUT_WR);
  std::string why;
  ASSERT_TRUE(eventually([&] { return end_->receiver().read_to_end(why); }));
  frame found;
  ASSERT_TRUE(end_->poll(found));
  EXPECT_EQ(found.head.key, 9U);
  end_->release();
}

}  // namespace
}  // namespace ham::transport::tcp::test
