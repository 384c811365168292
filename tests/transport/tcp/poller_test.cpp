// Polling many connections: frames of all of them are found, in order, and of none that was forgotten.
#include "transport/tcp/poller.hpp"

#include <algorithm>
#include <map>

#include "transport/tcp/endpoints.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class poller_owner final : public idle_owner {
 public:
  void read_eof(tcp_endpoint& which) noexcept override {
    if (at != nullptr) at->mute(which);
  }

  poller* at = nullptr;
};

class pollers : public testing::Test {
 protected:
  pollers() { owner_.at = &poller_; }
  ~pollers() override { owner_.at = nullptr; }

  void connect(int count) {
    for (int i = 0; i < count; ++i) {
      auto [here, there] = connected_to(listening_.get());
      here_.push_back(endpoint_over(std::move(here), i, owner_));
      there_.push_back(endpoint_over(std::move(there), i, others_));
      poller_.add(*here_.back());
    }
  }
  void send(std::size_t from, std::uint32_t key) {
    ASSERT_NE(there_[from]->reserve(0), nullptr);
    there_[from]->commit({key, 0, 1});
    there_[from]->sender().push();
  }
  /// Peer and key of the next frame.
  [[nodiscard]] std::optional<std::pair<node_t, std::uint32_t>> next(std::chrono::milliseconds timeout = 20s) {
    std::optional<std::pair<node_t, std::uint32_t>> result;
    eventually(
        [&] {
          frame found;
          endpoint* const from = poller_.poll(found);
          if (from == nullptr) return false;
          result.emplace(from->peer(), found.head.key);
          from->release();
          return true;
        },
        timeout);
    return result;
  }

  poller_owner owner_;
  idle_owner others_;
  poller poller_;
  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::vector<std::shared_ptr<tcp_endpoint>> here_;
  std::vector<std::shared_ptr<tcp_endpoint>> there_;
};

TEST_F(pollers, find_nothing_without_endpoints) {
  frame none;
  EXPECT_EQ(poller_.poll(none), nullptr);
  EXPECT_TRUE(poller_.arm());
  poller_.disarm();
}

TEST_F(pollers, find_every_frame_of_the_only_one) {
  connect(1);
  for (std::uint32_t i = 0; i < 300; ++i) {  // more than a streak
    send(0, i);
    ASSERT_EQ(next(), std::make_pair(node_t{0}, i));
  }
}

TEST_F(pollers, find_frames_of_all_in_order) {
  connect(5);
  for (std::uint32_t i = 0; i < 200; ++i) send(i % 5, i);
  std::map<node_t, std::vector<std::uint32_t>> found;
  for (int i = 0; i < 200; ++i) {
    const auto one = next();
    ASSERT_TRUE(one);
    found[one->first].push_back(one->second);
  }
  for (const auto& [peer, keys] : found) {
    EXPECT_EQ(keys.size(), 40U);
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << "of " << peer;
  }
}

TEST_F(pollers, wake_who_sleeps_on_them) {
  connect(2);
  frame none;
  while (poller_.poll(none) != nullptr) {
  }
  ASSERT_TRUE(poller_.arm());
  send(1, 7);
  pollfd waiting{poller_.wake_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 20'000), 1);
  poller_.disarm();
  EXPECT_EQ(next(), std::make_pair(node_t{1}, std::uint32_t{7}));
}

TEST_F(pollers, do_not_let_sleep_what_has_frames) {
  connect(1);
  send(0, 1);
  send(0, 2);
  const int socket = here_[0]->socket();
  ASSERT_TRUE(eventually([&] {
    std::byte both[2 * head_bytes];
    return ::recv(socket, both, sizeof both, MSG_PEEK) == static_cast<ssize_t>(sizeof both);
  }));
  ASSERT_TRUE(next());
  EXPECT_FALSE(poller_.arm());
  EXPECT_EQ(next(), std::make_pair(node_t{0}, std::uint32_t{2}));
}

TEST_F(pollers, find_nothing_of_a_forgotten_one) {
  connect(2);
  send(0, 1);
  ASSERT_EQ(next(), std::make_pair(node_t{0}, std::uint32_t{1}));
  std::weak_ptr<tcp_endpoint> forgotten = here_[0];
  poller_.forget(here_[0]);
  here_[0].reset();
  EXPECT_FALSE(forgotten.expired()) << "until the next poll";
  send(0, 2);
  send(1, 3);
  EXPECT_EQ(next(), std::make_pair(node_t{1}, std::uint32_t{3}));
  EXPECT_TRUE(forgotten.expired());
  EXPECT_EQ(next(20ms), std::nullopt);
}

TEST_F(pollers, report_a_loss_once) {
  connect(2);
  there_[0]->close_stream();
  ASSERT_TRUE(eventually([&] {
    frame none;
    EXPECT_EQ(poller_.poll(none), nullptr);
    return owner_.losses != 0;
  }));
  EXPECT_EQ(next(20ms), std::nullopt);
  EXPECT_EQ(owner_.losses, 1);
}

TEST_F(pollers, come_back_to_who_only_tells_something) {
  connect(3);
  frame none;
  while (poller_.poll(none) != nullptr) none = {};
  for (int i = 0; i < 200; ++i) there_[1]->sender().announce(1);
  send(1, 7);
  const std::size_t size = 201 * head_bytes;
  bytes all(size);
  ASSERT_TRUE(
      eventually([&] { return ::recv(here_[1]->socket(), all.data(), size, MSG_PEEK) == static_cast<ssize_t>(size); }));
  EXPECT_EQ(next(), std::make_pair(node_t{1}, 7U));
}

}  // namespace
}  // namespace ham::transport::tcp::test
