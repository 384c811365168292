// Nodes with a call that is not answered, of which the processes are only played.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>

#include "core/narrow_endpoint.hpp"
#include "job/played.hpp"
#include "job/supervisor.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;
using namespace std::chrono_literals;

class hanging_nodes : public testing::Test, protected process_starter {
 protected:
  hanging_nodes() {
    host_->locked([&] { host_->peers.claim(1)->state.store(peer_state::ready); });
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    supervisor_.stop();  // its threads call this object
    static_cast<void>(testing::internal::GetCapturedStderr());
    if (call_ == nullptr) return;
    host_->locked(
        [&] { host_->calls.fail_unsent(*call_, std::make_exception_ptr(call_error("over"))); });  // if it has not
    slot_error(*call_).~exception_ptr();
    host_->calls.release(*call_);
  }
  /// A call to node 1.
  void call() {
    call_ = &host_->calls.claim();
    call_->node = 1;
    call_->position = 64;
    call_->state = slot_state::pending;
    call_->reply_due = true;
  }
  /// Node 1 gets a connection; the calls that leave on it are answered at once, or never.
  void connect(bool answers) {
    end_.allowed = 1'000'000;
    end_.on_commit = [this, answers] {
      const frame_header head = frame_header::decode(end_.heads.back());
      if (!head.is_call()) return;
      ++checks_;
      if (!answers) return;
      EXPECT_EQ(host_->calls.take_reply(head.id(), 1), nullptr) << "somebody waits for it";
    };
    host_->locked([&] {
      host_->peers[1].max_payload = end_.max_payload();
      host_->peers[1].to = &end_;
    });
  }
  [[nodiscard]] std::size_t pending_calls() {
    std::size_t pending = 0;
    host_->locked([&] {
      host_->calls.for_each_slot(
          [&](const call_slot& slot) { pending += slot.state.load() != slot_state::free ? 1 : 0; });
    });
    return pending;
  }
  /// Whether the node was ended, which has no process that could be killed: its connection is.
  [[nodiscard]] bool is_ended() {
    bool lost = false;
    host_->locked([&] { lost = host_->peers[1].state.load() == peer_state::lost; });
    return lost;
  }
  [[nodiscard]] bool is_ended_soon() {
    for (int i = 0; i < 20'000; ++i) {
      if (is_ended()) return true;
      host_->poll_once();
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  /// It is not ended for a call that has no answer while it gives a sign each 10 ms. This thread may have to wait for a
  /// core: then the signs come too late.
  void expect_alive_with(const std::function<void(int)>& sign) {
    supervisor_.supervise(1, {.hang_after = 2s});
    call();
    auto before = std::chrono::steady_clock::now();
    std::chrono::nanoseconds max_pause{};
    for (int i = 0; i < 300; ++i) {
      sign(i);
      std::this_thread::sleep_for(10ms);
      const auto now = std::chrono::steady_clock::now();
      max_pause = std::max<std::chrono::nanoseconds>(max_pause, now - before);
      before = now;
    }
    host_->poll_once();
    EXPECT_TRUE(!is_ended() || max_pause > 1s);
  }

  node_t start_again(node_t) override { throw config_error("not here"); }
  void end(node_t) noexcept override {}
  void end_lost(node_t) noexcept override {}
  void announce_numbers() noexcept override {}

  test::narrow_endpoint end_;
  std::atomic<int> checks_{0};
  lone_node host_{0, 2};
  const engine_scope scope_{&*host_};
  call_slot* call_ = nullptr;
  supervisor supervisor_{*host_, *this};
};

TEST_F(hanging_nodes, are_ended_when_a_call_has_no_answer) {
  supervisor_.supervise(1, {.hang_after = 50ms});
  call();
  EXPECT_TRUE(is_ended_soon());
  EXPECT_EQ(call_->state, slot_state::failed);
}

TEST_F(hanging_nodes, are_not_ended_without_a_call) {
  supervisor_.supervise(1, {.hang_after = 20ms});
  std::this_thread::sleep_for(200ms);
  host_->poll_once();
  EXPECT_FALSE(is_ended());
}

TEST_F(hanging_nodes, are_not_ended_where_nobody_has_set_a_time) {
  supervisor_.supervise(1, {});
  call();
  std::this_thread::sleep_for(200ms);
  host_->poll_once();
  EXPECT_FALSE(is_ended());
}

TEST_F(hanging_nodes, heartbeats_give_time) {
  expect_alive_with([this](int) { supervisor_.on_heartbeat(1); });
}

TEST_F(hanging_nodes, pieces_of_a_long_message_give_time) {
  expect_alive_with([this](int which) {
    transport::fragment_head head{1000, static_cast<std::uint64_t>(which), 0, 0};
    std::array<std::byte, sizeof head + 1> piece{};
    std::memcpy(piece.data(), &head, sizeof head);
    host_->locked([&] { EXPECT_FALSE(host_->peers[1].fragments.add({{}, piece})) << which; });
  });
}

TEST_F(hanging_nodes, are_ended_when_the_call_of_the_supervisor_has_no_answer) {
  connect(false);
  std::string reason;
  host_->reports.use([&](const offload::event& what) {
    if (what.kind == offload::event_kind::hang) reason = what.reason;
  });
  supervisor_.supervise(1, {.hang_after = 50ms});
  EXPECT_TRUE(is_ended_soon());
  EXPECT_EQ(checks_, 1) << "one at a time";
  EXPECT_EQ(pending_calls(), 0U);
  EXPECT_EQ(host_->peers[1].calls_sent.load(), 0U) << "it is none of the program's";
  EXPECT_NE(reason.find("its main queue has begun no call for 0.05 s"), std::string::npos) << reason;
}

TEST_F(hanging_nodes, are_not_those_that_answer_the_supervisor) {
  connect(true);
  supervisor_.supervise(1, {.hang_after = 50ms});
  for (int i = 0; i < 20'000 && checks_ < 5; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_GE(checks_, 5);
  EXPECT_FALSE(is_ended());
  EXPECT_EQ(pending_calls(), 0U);
}

TEST_F(hanging_nodes, are_not_asked_while_a_call_of_the_host_is_pending) {
  connect(true);
  call();
  supervisor_.supervise(1, {.hang_after = 50ms});
  EXPECT_TRUE(is_ended_soon());
  EXPECT_EQ(checks_, 0);
}

TEST_F(hanging_nodes, are_not_asked_where_nobody_has_set_a_time) {
  connect(true);
  supervisor_.supervise(1, {});
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(checks_, 0);
}

TEST(seconds_of, are_short) {
  EXPECT_EQ(seconds_of(500ms), "0.5");
  EXPECT_EQ(seconds_of(std::chrono::minutes(1)), "60");
}

}  // namespace
}  // namespace ham::detail
