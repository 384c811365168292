// A network between two processes that can be made as bad as a test likes: forwards TCP connections to one address and
// delays, stalls, cuts, resets or changes what passes.
#pragma once

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"

namespace ham::inline v1::test {

/// What becomes of the bytes of one direction of a connection. Positions count from its first byte.
struct fault {
  static constexpr std::size_t never = SIZE_MAX;
  enum class end : std::uint8_t { orderly, reset };

  std::size_t cut_at = never;          ///< both directions end before this byte
  end how = end::orderly;              ///< and how
  std::size_t flip_at = never;         ///< one bit of this byte
  std::size_t stall_at = never;        ///< nothing from this byte on arrives; the connection stays
  std::size_t piece = never;           ///< at most so many bytes at a time, each in a segment of its own
  std::chrono::microseconds delay{0};  ///< before each piece
};

/// Over IPv4 on 127.0.0.1. The connections live in a thread of their own.
class fault_proxy {
 public:
  /// Forwards to "127.0.0.1:PORT".
  explicit fault_proxy(const std::string& to)
      : to_port_(static_cast<std::uint16_t>(std::stoi(to.substr(to.rfind(':') + 1)))),
        listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = loopback(0);
    socklen_t size = sizeof at;
    if (::bind(listening_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(listening_.get(), 64) != 0 ||
        ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) {
      throw std::runtime_error("no proxy");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~fault_proxy() {
    over_ = true;
    thread_.join();
  }
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::string nodes() const { return "tcp://" + address_; }

  /// For connections that are accepted from now on.
  void plan(const fault& to_target, const fault& to_host) {
    std::lock_guard guard(mutex_);
    plans_[0] = to_target;
    plans_[1] = to_host;
  }
  void heal() { plan({}, {}); }
  /// While it is on, nothing arrives on any connection, and nothing is lost.
  void stall(bool on) { stalled_ = on; }
  /// Ends every connection there is.
  void end_all(fault::end how) {
    ending_ = how == fault::end::reset ? 2 : 1;
    while (ending_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// The next byte towards the target on the first connection gets another bit.
  void flip_next() { flip_next_ = true; }

  /// What the host has said on the first connection since the proxy was made or asked to forget.
  [[nodiscard]] std::vector<std::byte> recorded() {
    std::lock_guard guard(mutex_);
    return record_;
  }
  void forget() {
    std::lock_guard guard(mutex_);
    record_.clear();
    recording_ = true;
  }

 private:
  struct direction {
    fault what;
    std::size_t seen = 0;
    std::vector<std::byte> waiting;
    bool ended = false;   // the sender has nothing more to say
    bool closed = false;  // and the receiver knows
  };
  struct link {
    base::unique_fd ends[2];  // the host, the target
    direction ways[2];        // from the host, from the target
    bool records = false;
  };

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
  }

  void run() {
    while (!over_) {
      std::vector<pollfd> all{{listening_.get(), POLLIN, 0}};
      for (const link& one : links_) {
        for (int side = 0; side < 2; ++side) {
          const bool reads = !stalled_ && !one.ways[side].ended && one.ways[side].waiting.size() < (1U << 20);
          all.push_back({one.ends[side].get(), static_cast<short>(reads ? POLLIN : 0), 0});
        }
      }
      const bool pending = std::ranges::any_of(
          links_, [](const link& one) { return !one.ways[0].waiting.empty() || !one.ways[1].waiting.empty(); });
      ::poll(all.data(), all.size(), pending ? 0 : 2);
      if ((all.front().revents & POLLIN) != 0) accept();
      if (const int how = ending_; how != 0) {
        for (link& one : links_) hang_up(one, how == 2 ? fault::end::reset : fault::end::orderly);
        links_.clear();
        ending_ = 0;
      }
      if (!stalled_) std::erase_if(links_, [this](link& one) { return !forward(one); });
    }
  }

  void accept() {
    link fresh;
    fresh.ends[0] = base::unique_fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    fresh.ends[1] = base::unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = loopback(to_port_);
    if (!fresh.ends[0] || ::connect(fresh.ends[1].get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      return;
    const int on = 1;
    for (const base::unique_fd& end : fresh.ends) {
      ::setsockopt(end.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    std::lock_guard guard(mutex_);
    for (int side = 0; side < 2; ++side) fresh.ways[side].what = plans_[side];
    fresh.records = std::exchange(recording_, false);
    links_.push_back(std::move(fresh));
  }

  /// False: the connection has ended.
  bool forward(link& one) {
    for (int side = 0; side < 2; ++side) {
      if (!take(one, side)) {
        hang_up(one, one.ways[side].what.how);
        return false;
      }
      if (!give(one.ways[side], one.ends[1 - side].get())) return false;
    }
    return !(one.ways[0].closed && one.ways[1].closed);
  }

  /// False: the place of the cut is reached.
  bool take(link& one, int side) {
    direction& way = one.ways[side];
    if (way.ended || way.waiting.size() >= (1U << 20)) return true;
    std::byte buffer[1 << 16];
    const ssize_t got = ::recv(one.ends[side].get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      way.ended = true;
      return true;
    }
    for (ssize_t i = 0; i < got; ++i, ++way.seen) {
      if (way.seen == way.what.cut_at) return false;
      if (way.seen >= way.what.stall_at) continue;
      if (way.seen == way.what.flip_at) buffer[i] ^= static_cast<std::byte>(1U << (way.seen % 8));
      if (side == 0 && flip_next_.exchange(false)) buffer[i] ^= std::byte{16};
      way.waiting.push_back(buffer[i]);
      if (one.records && side == 0) {
        std::lock_guard guard(mutex_);
        record_.push_back(buffer[i]);
      }
    }
    return true;
  }

  /// False: there is nobody.
  static bool give(direction& way, int to) {
    while (!way.waiting.empty()) {
      if (way.what.delay.count() != 0) std::this_thread::sleep_for(way.what.delay);
      const ssize_t sent =
          ::send(to, way.waiting.data(), std::min(way.what.piece, way.waiting.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      way.waiting.erase(way.waiting.begin(), way.waiting.begin() + sent);
    }
    if (way.ended && !way.closed) {
      ::shutdown(to, SHUT_WR);
      way.closed = true;
    }
    return true;
  }

  static void hang_up(link& one, fault::end how) {
    for (int side = 0; side < 2; ++side) static_cast<void>(give(one.ways[side], one.ends[1 - side].get()));
    const linger none{1, 0};
    for (base::unique_fd& end : one.ends) {
      if (how == fault::end::reset) ::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
      end.reset();
    }
  }

  std::uint16_t to_port_;
  base::unique_fd listening_;
  std::string address_;
  std::list<link> links_;  // of the thread
  std::atomic<bool> over_{false}, stalled_{false}, flip_next_{false};
  std::atomic<int> ending_{0};
  std::mutex mutex_;  // the rest
  fault plans_[2];
  std::vector<std::byte> record_;
  bool recording_ = true;
  std::thread thread_;
};

}  // namespace ham::test
