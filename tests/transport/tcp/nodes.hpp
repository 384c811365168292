// Nodes of a tcp job inside one process, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>

#include "base/settings.hpp"
#include "bulk.hpp"
#include "conformance/subject.hpp"
#include "transport/tcp/listener.hpp"
#include "transport/tcp/network.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp::test {

using namespace std::chrono_literals;
using conformance::bytes;
using conformance::recorder;

inline bool tls_built() { return why_no_tls().empty(); }

/// Whose records the tests are about: HAM_TCP_RECORDS. CTest runs them with both.
inline tls_records tested_records() {
  return base::number_of(base::setting::tcp_records) == 1 ? tls_records::openssl : tls_records::ham;
}

inline secret_key key_of(int number) {
  secret_key key{};
  key.fill(static_cast<std::byte>(number));
  return key;
}

inline job_id job_of(int key) { return id_of(key_of(key), tls_built()); }

/// Both ends of a connection on loopback, the one that connected first.
inline std::pair<base::unique_fd, base::unique_fd> connected_to(int listening) {
  std::string why;
  base::unique_fd here = begin_connect(local_address(listening), 4s, why);
  EXPECT_TRUE(here) << why;
  pollfd waiting[] = {{here.get(), POLLOUT, 0}, {listening, POLLIN, 0}};
  for (pollfd& one : waiting) EXPECT_EQ(::poll(&one, 1, 10'000), 1);
  EXPECT_EQ(connect_error(here.get()), 0);
  base::unique_fd there(::accept(listening, nullptr, nullptr));
  EXPECT_TRUE(there);
  return {std::move(here), std::move(there)};
}

inline bytes pattern(std::size_t size) { return ham::test::growing_bytes(size, 7, size); }

template <class Done>
bool eventually(Done done, std::chrono::milliseconds timeout = 20s) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

/// What a node of a job has.
struct seat {
  base::heap memory{base::heap::make_file()};
  recorder news;
  std::unique_ptr<network> at;

  [[nodiscard]] endpoint* to(node_t peer) const { return news.connected(peer); }
  [[nodiscard]] endpoint* await(node_t peer) const {
    EXPECT_TRUE(eventually([&] { return to(peer) != nullptr || !news.lost(peer).empty(); }));
    EXPECT_TRUE(news.lost(peer).empty()) << news.lost(peer).front();
    return to(peer);
  }
  [[nodiscard]] std::string await_loss(node_t peer, std::chrono::milliseconds timeout = 20s) const {
    EXPECT_TRUE(eventually([&] { return !news.lost(peer).empty(); }, timeout)) << "nobody said that it is lost";
    return news.lost(peer).empty() ? std::string() : news.lost(peer).front();
  }
  void send(node_t peer, std::uint32_t key, const bytes& payload = {}) const {
    std::byte* room = nullptr;
    ASSERT_TRUE(eventually([&] { return (room = to(peer)->reserve(payload.size())) != nullptr; }));
    if (!payload.empty()) std::memcpy(room, payload.data(), payload.size());
    to(peer)->commit({key, 0, 1});
  }
  /// Key of the next frame, or nothing after a while.
  [[nodiscard]] std::optional<std::uint32_t> receive(std::chrono::milliseconds timeout = 20s) const {
    std::optional<std::uint32_t> result;
    eventually(
        [&] {
          frame arrived;
          endpoint* const from = at->poll(arrived, 1);
          if (from == nullptr) return false;
          result = arrived.head.key;
          from->release();
          return true;
        },
        timeout);
    return result;
  }
};

struct job_options {
  bool secure = tls_built();
  std::chrono::milliseconds timeout{20'000};
  std::string host_bind = "127.0.0.1";
  std::string listen = "127.0.0.1:0";
};

inline listen_options listening(const job_options& how) {
  listen_options result;
  result.address = how.listen;
  if (how.secure) result.key = key_of(7);
  result.timeout = how.timeout;
  result.records = tested_records();
  return result;
}

inline network_options host_options(const job_options& how) {
  network_options result;
  result.bind = how.host_bind;
  result.secure = how.secure;
  result.job_key = key_of(42);
  result.timeout = how.timeout;
  result.records = tested_records();
  return result;
}

/// Node 0 and targets that it has invited.
class job {
 public:
  explicit job(std::size_t targets, const job_options& how = {}) : seats_(targets + 1) {
    for (auto& one : seats_) one = std::make_unique<seat>();
    host().at = std::make_unique<tcp_network>(host_options(how), job_of(42), &host().memory, host().news);
    for (std::size_t i = 1; i <= targets; ++i) {
      tcp_listener waiting(listening(how));
      host().at->invite(static_cast<node_t>(i), waiting.address(), listening(how).key);
      const auto came = waiting.wait();
      EXPECT_EQ(came->node(), static_cast<node_t>(i));
      node(i).at = came->join(&node(i).memory, node(i).news);
      EXPECT_NE(host().await(static_cast<node_t>(i)), nullptr);
    }
  }
  [[nodiscard]] seat& host() { return *seats_[0]; }
  [[nodiscard]] seat& node(std::size_t i) { return *seats_[i]; }

 private:
  std::vector<std::unique_ptr<seat>> seats_;
};

}  // namespace ham::transport::tcp::test
