// What TCP_INFO tells of a peer that may only be slow.
#include "transport/tcp/silence_watch.hpp"

#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// With so much unread, the peer's window may close: silence is no sign of a cut link then.
constexpr std::size_t small_under_way = std::size_t{16} << 10;
/// So many probes of the kernel stay unanswered before a quiet link is taken for cut: one may get lost.
constexpr unsigned max_unanswered = 2;
constexpr std::int64_t until_unanswered_ms = 2500;

}  // namespace

silence_watch::silence_watch(int socket, std::chrono::milliseconds timeout) : timeout_(timeout) {
  limit_silence(socket, timeout_);
}

bool silence_watch::sent(int socket, std::size_t bytes, bool all_taken) noexcept {
  if (all_taken) under_way_ = 0;
  under_way_ += bytes;
  if (under_way_ <= small_under_way) return false;
  limited_ = false;
  limit_silence(socket, std::chrono::milliseconds(0));
  return true;
}

silence_watch::outcome silence_watch::check(int socket, bool idle) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {false, base::never_ns};
  const std::int64_t timeout_ms = timeout_.count();
  const std::int64_t enough_ms = timeout_ms * 19 / 20;
  const std::int64_t silent_ms = info.tcpi_last_ack_recv;
  const bool unacknowledged = info.tcpi_unacked != 0 || info.tcpi_notsent_bytes != 0;
  std::int64_t pause_ms = timeout_ms / 6;
  bool unanswered = info.tcpi_unacked != 0 ? info.tcpi_retransmits != 0 : info.tcpi_probes >= max_unanswered;
  if (limited_ || (!unacknowledged && idle)) {
    if (!std::exchange(limited_, true)) {
      under_way_ = 0;
      limit_silence(socket, timeout_);
    }
    // Here the kernel probes too, but only once a second: it rounds up.
    if (timeout_ms < until_unanswered_ms) return {false, base::never_ns};
    pause_ms = timeout_ms / 3;
    unanswered = unanswered && !unacknowledged;
  }
  if (silent_ms < enough_ms) return {false, std::min(pause_ms, enough_ms - silent_ms) * 1'000'000};
  return {unanswered, unanswered ? base::never_ns : pause_ms * 1'000'000};
}

}  // namespace ham::transport::tcp
