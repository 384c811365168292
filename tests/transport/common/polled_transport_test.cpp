// Looking at endpoints whose medium wakes nobody: how often, and that nothing which has come is left lying.
#include "transport/common/polled_transport.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "conformance/subject.hpp"

namespace ham::inline v1::transport {
namespace {

/// Frames come when the test says so.
class scripted_endpoint final : public polled_endpoint {
 public:
  using polled_endpoint::polled_endpoint;
  [[nodiscard]] std::size_t max_payload() const noexcept override { return 4096; }
  [[nodiscard]] std::byte* reserve(std::size_t) noexcept override { return nullptr; }
  void cancel() noexcept override {}
  void commit(const frame_head&) noexcept override { set_active(); }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return 0; }
  [[nodiscard]] bool poll(frame& out) noexcept override {
    ++polls;
    if (frames == 0) return false;
    --frames;
    out.head.kind = 1;
    return true;
  }
  void release() noexcept override {}
  [[nodiscard]] bool empty() const noexcept override { return frames == 0; }
  [[nodiscard]] bool malformed() const noexcept override { return false; }
  [[nodiscard]] bool failed() const noexcept override { return has_failed; }
  [[nodiscard]] std::string failure() const override { return "the script says so"; }

  bool has_failed = false;
  int frames = 0;
  int polls = 0;
};

class dear_polls final : public polled_transport {
 public:
  using polled_transport::adopt;
  using polled_transport::polled_transport;
  [[nodiscard]] const char* name() const noexcept override { return "scripted"; }
  void connect(node_t) override {}
  void shutdown() noexcept override {}

 private:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return false; }
};

class polled : public testing::Test {
 protected:
  polled() {
    auto one = std::make_unique<scripted_endpoint>(1);
    peer = one.get();
    transport.adopt(std::move(one));
    frame any;
    EXPECT_EQ(transport.poll(any, 1), nullptr);
  }
  [[nodiscard]] bool found() {
    frame any;
    return transport.poll(any, 1) == peer;
  }
  /// Sleeps without success until the longest time has been reached, and polls once after it.
  void back_off() {
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(transport.arm());
      transport.disarm();
      ASSERT_FALSE(found());
    }
  }

  conformance::recorder news;
  dear_polls transport{news, {std::chrono::nanoseconds(1000), std::chrono::nanoseconds(2000)}};
  scripted_endpoint* peer = nullptr;
};

TEST_F(polled, after_a_long_sleep_without_frames_polls_once_and_sleeps_again) {
  back_off();
  const int before = peer->polls;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(found());
  EXPECT_EQ(peer->polls, before);
  ASSERT_TRUE(transport.arm());
  transport.disarm();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(found());
  EXPECT_EQ(peer->polls, before + 1);
}

TEST_F(polled, polls_for_the_answer_after_sending) {
  back_off();
  const int before = peer->polls;
  peer->commit({});
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(found());
  EXPECT_EQ(peer->polls, before + 10);
}

TEST_F(polled, what_comes_between_the_last_look_and_the_next_sleep_is_found) {
  back_off();
  peer->frames = 1;
  EXPECT_FALSE(transport.arm()) << "something is there";
  EXPECT_TRUE(found());
}

TEST_F(polled, a_medium_that_fails_is_told_with_its_reason) {
  back_off();
  peer->has_failed = true;
  EXPECT_FALSE(transport.arm()) << "the next poll tells";
  EXPECT_FALSE(found());
  EXPECT_EQ(news.lost(1), std::vector<std::string>{"the script says so"});
}

TEST_F(polled, what_comes_during_a_sleep_is_found) {
  back_off();
  ASSERT_TRUE(transport.arm());
  peer->frames = 1;
  transport.disarm();
  EXPECT_TRUE(found());
}

}  // namespace
}  // namespace ham::transport
