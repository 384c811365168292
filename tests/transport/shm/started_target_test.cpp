// What a host makes of the words of its targets, played here: who joins, declines, wants a peer, hangs up.
#include "transport/shm/started_target.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_file.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport::shm {
namespace {

using said = started_target::said;

class started_targets : public testing::Test {
 protected:
  void welcome(started_target& to) const {
    control_text text;
    text.nodes = 4;
    text.epoch = 77;
    to.welcome(text, file_.get(), file_.get(), file_.get(), file_.get());
  }
  void say(std::string_view words) const {
    ASSERT_TRUE(base::send_control(its_end_.get(), std::as_bytes(std::span(words)), {}));
  }
  void say(control_kind kind, node_t peer = 0, std::uint32_t version = control_text::protocol) const {
    control_text text;
    text.version = version;
    text.kind = kind;
    text.peer = peer;
    ASSERT_TRUE(base::send_control(its_end_.get(), std::as_bytes(std::span(&text, 1)), {}));
  }
  /// The text that arrives at an end, and how many descriptors with it.
  static std::pair<control_text, std::size_t> heard_at(const base::unique_fd& end) {
    bool closed = false;
    const auto message = base::receive_control(end.get(), false, closed);
    control_text text;
    if (!message || message->bytes.size() != sizeof text) {
      ADD_FAILURE() << "no text of the protocol has come";
      return {};
    }
    std::memcpy(&text, message->bytes.data(), sizeof text);
    return {text, message->fds.size()};
  }

  const base::unique_fd file_ = base::make_memory_file("ham-test", 4096);
  started_target one_{3, "app word"};
  base::unique_fd its_end_ = one_.take_its_end();
};

TEST_F(started_targets, are_welcomed_with_all_that_they_need) {
  welcome(one_);
  const auto [text, files] = heard_at(its_end_);
  EXPECT_EQ(text.kind, control_kind::welcome);
  EXPECT_EQ(text.node, 3);
  EXPECT_EQ(text.nodes, 4U);
  EXPECT_EQ(text.side, 1U);
  EXPECT_EQ(text.epoch, 77U);
  EXPECT_EQ(files, 6U);
  EXPECT_NE(one_.memory(), nullptr);
}

TEST_F(started_targets, join_once_they_say_so) {
  EXPECT_EQ(one_.read().what, said::nothing) << "nothing has come";
  EXPECT_FALSE(one_.has_joined());
  say(control_kind::joined);
  EXPECT_EQ(one_.read().what, said::joined);
  EXPECT_TRUE(one_.has_joined());
  EXPECT_EQ(one_.why_lost("died"), "its process died");
}

TEST_F(started_targets, say_why_they_do_not_join) {
  EXPECT_EQ(one_.why_lost("exited with status 1"), why_not_joined("app word", "exited with status 1", ""));
  say(std::string(declined) + "the moon is full");
  EXPECT_EQ(one_.read().what, said::nothing);
  EXPECT_EQ(one_.why_lost("exited with status 1"), "it did not join: the moon is full");
}

TEST_F(started_targets, want_peers) {
  say(control_kind::connect, 7);
  const started_target::words words = one_.read();
  EXPECT_EQ(words.what, said::wants_peer);
  EXPECT_EQ(words.peer, 7);
  one_.refuse(7);
  const auto [text, files] = heard_at(its_end_);
  EXPECT_EQ(text.kind, control_kind::refused);
  EXPECT_EQ(text.peer, 7);
  EXPECT_EQ(files, 0U);
}

TEST_F(started_targets, are_introduced_with_the_memory_and_the_event_of_the_other) {
  started_target other(5, "app");
  const base::unique_fd others_end = other.take_its_end();
  control_text text;
  text.epoch = 9;
  EXPECT_TRUE(one_.introduce(other, text, file_.get()));
  const auto [told, files] = heard_at(its_end_);
  EXPECT_EQ(told.kind, control_kind::connected);
  EXPECT_EQ(told.peer, 5);
  EXPECT_EQ(told.epoch, 9U);
  EXPECT_EQ(files, 3U);
}

TEST_F(started_targets, that_talk_nonsense_are_not_heard) {
  for (const std::string_view words : {"x", "", "ham: declined", "thirty-two characters of nonsense"}) {
    if (!words.empty()) say(words);
    EXPECT_EQ(one_.read().what, said::nothing) << words;
  }
  say(control_kind::joined, 0, control_text::protocol + 1);
  EXPECT_EQ(one_.read().what, said::nothing) << "of another version";
  say(control_kind::welcome);
  EXPECT_EQ(one_.read().what, said::nothing) << "for a host to say";
  EXPECT_FALSE(one_.has_joined());
}

TEST_F(started_targets, are_known_by_the_pid_that_the_kernel_tells) {
  EXPECT_EQ(one_.pid(), 0) << "it has not joined";
  say(control_kind::joined);
  static_cast<void>(one_.read());
  EXPECT_EQ(one_.pid(), ::getpid());
  started_target other(5, "app");
  const base::unique_fd others_end = other.take_its_end();
  EXPECT_TRUE(other.introduce(one_, {}, file_.get()));
  EXPECT_EQ(heard_at(others_end).first.pid, ::getpid());
}

TEST_F(started_targets, that_send_descriptors_are_expelled_with_what_they_sent) {
  const std::string_view words = "take this";
  const std::array fds{file_.get()};
  ASSERT_TRUE(base::send_control(its_end_.get(), std::as_bytes(std::span(words)), fds));
  EXPECT_EQ(one_.read().what, said::breaks_rules);
  one_.expel();
  EXPECT_FALSE(one_.listens());
  EXPECT_TRUE(one_.has_hung_up());
}

TEST_F(started_targets, do_not_write_to_terminals_as_last_words) {
  say(std::string(declined) + "\x1b[2J" + std::string(3000, 'x'));
  EXPECT_EQ(one_.read().what, said::nothing);
  const std::string why = one_.why_lost("exited with status 1");
  EXPECT_EQ(why.find('\x1b'), std::string::npos);
  EXPECT_LT(why.size(), 1100U);
}

TEST_F(started_targets, hear_of_peers_that_have_ended) {
  one_.send_ended(7);
  const auto [text, files] = heard_at(its_end_);
  EXPECT_EQ(text.kind, control_kind::ended);
  EXPECT_EQ(text.peer, 7);
}

TEST_F(started_targets, hang_up_once) {
  its_end_.reset();
  EXPECT_EQ(one_.read().what, said::hung_up);
  EXPECT_TRUE(one_.has_hung_up());
  EXPECT_EQ(one_.read().what, said::nothing);
}

TEST_F(started_targets, that_have_ended_hold_nothing) {
  welcome(one_);
  EXPECT_TRUE(one_.listens());
  one_.release();
  EXPECT_TRUE(one_.has_ended());
  EXPECT_FALSE(one_.listens());
  std::byte byte{};
  EXPECT_EQ(one_.memory()->put(0, 0, &byte, 1), access_result::lost);
}

}  // namespace
}  // namespace ham::transport::shm
