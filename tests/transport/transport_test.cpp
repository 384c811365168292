// What the contract of transports does by itself, for those that say nothing else.
#include "transport/transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "transport/common/idle_endpoint.hpp"

namespace ham::inline v1::transport {
namespace {

class bare_endpoint : public endpoint {
 public:
  using endpoint::endpoint;
  [[nodiscard]] endpoint_state state() const noexcept override { return endpoint_state::open; }
  [[nodiscard]] std::string reason() const override { return {}; }
  void close(const std::string&) noexcept override {}

  void say_woken() { woken_.store(true); }
  void build_next_at(const void* room, std::size_t last = 0) { expect_next(room, last); }
};
using bare = test::idle_endpoint_of<bare_endpoint>;

TEST(transport_contract, an_endpoint_begins_with_nothing_sent_and_has_no_extras) {
  bare one(5);
  EXPECT_EQ(one.peer(), 5);
  EXPECT_EQ(one.sent(), 0U);
  EXPECT_EQ(one.long_messages(), nullptr);
  EXPECT_EQ(one.memory(), nullptr);
  EXPECT_EQ(one.user, nullptr);
  EXPECT_STREQ(one.medium, "");
}

TEST(transport_contract, a_hint_is_harmless_wherever_the_next_message_will_be) {
  bare one(5);
  one.expect_send();
  const std::string text = "constant";
  one.build_next_at(text.data());
  one.expect_send();
  one.build_next_at(reinterpret_cast<const void*>(~std::uintptr_t{0}), SIZE_MAX);
  one.expect_send();
  one.expect_send(SIZE_MAX);
  EXPECT_EQ(text, "constant");
}

TEST(transport_contract, that_a_peer_was_woken_is_told_to_one_who_asks) {
  bare one(5);
  EXPECT_FALSE(one.take_woken());
  for (int round = 0; round < 200; ++round) {
    one.say_woken();
    std::atomic<int> told{0};
    std::thread other([&] { told += one.take_woken() ? 1 : 0; });
    told += one.take_woken() ? 1 : 0;
    other.join();
    ASSERT_EQ(told.load(), 1);
  }
}

/// Does what must be done and nothing else.
class bare_transport final : public transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "bare"; }
  void connect(node_t) override {}
  [[nodiscard]] endpoint* poll(frame&, unsigned) override { return nullptr; }
  [[nodiscard]] bool arm() override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return -1; }
  void wake() noexcept override {}
  void shutdown() noexcept override {}
};

TEST(transport_contract, what_a_transport_does_not_know_is_said_as_unknown) {
  bare_transport at;
  EXPECT_EQ(at.max_sleep_ns(), base::never_ns) << "its descriptor misses nothing";
  EXPECT_FALSE(at.oversubscribed());
  EXPECT_EQ(at.device_type(), nullptr);
  EXPECT_LT(at.home_core(), 0);
  EXPECT_LT(at.peer_pid(1), 0);
  EXPECT_TRUE(at.recorded_by(1).empty());
}

TEST(transport_contract, a_death_is_a_loss_for_who_does_not_care) {
  class listening final : public observer {
   public:
    void on_connected(endpoint&) override {}
    void on_broken(node_t, const std::string&) override {}
    void on_lost(node_t peer, const std::string& reason) override { lost += std::to_string(peer) + reason; }
    std::string lost;
  } news;
  news.on_died(3, " exited");
  EXPECT_EQ(news.lost, "3 exited");
}

TEST(transport_contract, memory_of_a_peer_is_used_on_another_thread_unless_it_says_otherwise) {
  class bare_memory final : public remote_memory {
   public:
    access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override { return {}; }
    access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override { return {}; }
  } there;
  EXPECT_EQ(there.background(), remote_memory::background_access::undivided);
  EXPECT_TRUE(there.open_to_me());
  there.abandon();
}

}  // namespace
}  // namespace ham::transport
