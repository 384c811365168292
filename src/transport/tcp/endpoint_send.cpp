// Sending: at once when the line is idle, together in a burst, later when the wire is full.
#include <linux/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/clock.hpp"
#include "transport/tcp/endpoint.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {
namespace {

constexpr std::size_t max_gathered = std::size_t{16} << 10;
constexpr std::int64_t max_wait_ns = 50'000;
constexpr unsigned sent_at_once = 2;  // frames of a burst before the rest is gathered
/// With so much unread, the peer's window may close: silence is no sign of a cut link then.
constexpr std::size_t small_under_way = std::size_t{16} << 10;
/// So many probes of the kernel stay unanswered before a quiet link is taken for cut: one may get lost.
constexpr unsigned max_unanswered = 2;
constexpr std::int64_t until_unanswered_ms = 2500;

}  // namespace

std::byte* tcp_endpoint::reserve(std::size_t size) noexcept {
  std::lock_guard guard(sending_);
  if (dead_) [[unlikely]] {
    queue_.clear();
    return queue_.reserve(size);
  }
  std::byte* const room = queue_.reserve(size);
  if (room != nullptr) [[likely]]
    return room;
  if (!blocked_) send_what_waits();
  std::byte* const second = queue_.reserve(size);
  refused_ = second == nullptr;
  return second;
}

void tcp_endpoint::commit(const frame_head& head) noexcept {
  std::lock_guard guard(sending_);
  ++sent_;
  if (dead_) [[unlikely]]
    return;
  committed_.store(sent_);
  queue_.commit({0, head.kind, 1, head.key, head.call, static_cast<std::uint32_t>(taken_.load())});
  if (blocked_) return;
  const bool more_to_come =
      more_here_.load(std::memory_order_relaxed) || streak_.fetch_add(1, std::memory_order_relaxed) >= sent_at_once;
  if (!more_to_come || queue_.size() >= max_gathered) {
    send_what_waits();
    return;
  }
  const std::int64_t now = base::now_ns();
  if (now - last_send_ns_ >= max_wait_ns) {
    send_what_waits();
  } else if (!gathering_.load(std::memory_order_relaxed)) {
    gathering_since_.store(now, std::memory_order_relaxed);
    gathering_.store(true);
    owner_.schedule_flush();
  }
}

void tcp_endpoint::push() noexcept {
  if (!sending_.try_lock()) return;
  const std::lock_guard guard(sending_, std::adopt_lock);
  if (!dead_ && !blocked_) send_what_waits();
}

bool tcp_endpoint::push_aged(std::int64_t now_ns) noexcept {
  if (!gathering()) return false;
  if (now_ns - gathering_since_.load(std::memory_order_relaxed) >= max_wait_ns) push();
  return true;
}

void tcp_endpoint::acknowledge() noexcept {
  if (!ack_due() || !sending_.try_lock()) return;
  const std::lock_guard guard(sending_, std::adopt_lock);
  const auto now = static_cast<std::uint32_t>(taken_.load());
  if (taken_before_ == now && !dead_ && !blocked_) {
    notice_due_ = true;
    notice_ahead_ = 0;
    send_what_waits();
  }
  taken_before_ = now;
}

bool tcp_endpoint::writable() noexcept {
  std::lock_guard guard(sending_);
  if (dead_) return false;
  blocked_ = false;
  send_what_waits();
  return !blocked_ && std::exchange(refused_, false);
}

void tcp_endpoint::ask_for_lane() noexcept {
  std::lock_guard guard(sending_);
  if (dead_) return;
  lane_due_ = true;
  if (!blocked_) send_what_waits();
}

void tcp_endpoint::leave() noexcept {
  {
    std::lock_guard guard(reason_mutex_);
    if (state_.load() != endpoint_state::open) return;
    reason_ = "this node has left";
    state_.store(endpoint_state::closed, std::memory_order_release);
  }
  owner_.read_eof(*this);
  {
    std::lock_guard guard(sending_);
    farewell_due_ = true;
    left_ = true;
    if (!dead_ && !blocked_) send_what_waits();
  }
  owner_.closed(*this);
}

// ---- with sending_ held

void tcp_endpoint::send_what_waits() noexcept {
  const std::uint64_t before = queue_.handed();
  try {
    while (!dead_ && send_some()) {
    }
  } catch (const std::bad_alloc&) {
    sending_failed();
  }
  if (queue_.handed() != before) handed_.store(queue_.handed());
  acknowledged_.store(queue_.acknowledged(), std::memory_order_relaxed);
  allowed_.store(queue_.allowed(), std::memory_order_relaxed);
  last_send_ns_ = base::now_ns();
  gathering_.store(false, std::memory_order_relaxed);
  const bool all_gone = queue_.empty() && control_.empty() && connected_.bytes->unsent() == 0;
  if (left_ && all_gone && !dead_) {
    dead_ = true;
    ::shutdown(socket(), SHUT_WR);
  }
}

/// False: nothing more goes now.
bool tcp_endpoint::send_some() {
  byte_stream& to = *connected_.bytes;
  if (to.unsent() != 0) return went_on(to.flush().what);
  if (queue_.between_frames()) prepare_control();
  if (!control_.empty()) return send_control();
  if (queue_.empty()) return false;
  const byte_stream::outcome sent = to.send(queue_.next());
  if (sent.what != byte_stream::status::moved) return went_on(sent.what);
  queue_.sent(sent.bytes);
  count_under_way(sent.bytes);
  return true;
}

bool tcp_endpoint::send_control() {
  byte_stream& to = *connected_.bytes;
  const byte_stream::outcome sent = to.send(std::span(control_).subspan(control_sent_));
  if (sent.what != byte_stream::status::moved) return went_on(sent.what);
  count_under_way(sent.bytes);
  control_sent_ += sent.bytes;
  if (control_sent_ != control_.size()) return true;
  control_.clear();
  control_sent_ = 0;
  if (std::exchange(farewell_under_way_, false)) to.end();
  return true;
}

bool tcp_endpoint::went_on(byte_stream::status how) noexcept {
  if (how == byte_stream::status::moved) return true;
  if (how == byte_stream::status::later)
    blocked_ = true;
  else
    sending_failed();
  return false;
}

/// Frames of the transport's own, between two others.
void tcp_endpoint::prepare_control() {
  const bool farewell = farewell_due_ && queue_.empty();
  if (!control_.empty() || (!notice_due_ && !lane_due_ && !farewell)) return;
  const auto add = [&](std::uint8_t kind, std::uint16_t ahead) {
    control_.resize(control_.size() + head_bytes);
    const auto taken = static_cast<std::uint32_t>(taken_.load());
    store_head(control_.data() + control_.size() - head_bytes, {0, kind, ahead, 0, 0, taken}, epoch_);
    queue_.told(taken, ahead);
  };
  if (std::exchange(notice_due_, false)) add(notice_kind, notice_ahead_);
  if (std::exchange(lane_due_, false)) add(want_lane_kind, 0);
  if (farewell) {
    farewell_due_ = false;
    farewell_under_way_ = true;
    add(farewell_kind, 0);
  }
}

/// Where it can follow: the end of what was sent, or an alert that tells why. Not worth waiting for.
void tcp_endpoint::end_records() noexcept {
  if (dead_ || socket() < 0 || connected_.bytes->unsent() != 0) return;
  connected_.bytes->end();
  static_cast<void>(connected_.bytes->flush());
}

/// The end of the connection is reported by whoever reads it.
void tcp_endpoint::sending_failed() noexcept {
  dead_ = true;
  queue_.clear();
  control_.clear();
  control_sent_ = 0;
}

// ---- is the peer's machine there?

/// The kernel's limit on silence would take a peer that reads nothing for a while for a cut link. So it only serves
/// while little is under way; else watch_silence() checks that acknowledgements arrive.
void tcp_endpoint::count_under_way(std::size_t bytes) noexcept {
  if (!limited_) return;
  if (peer_taken_.load(std::memory_order_relaxed) == handed_.load(std::memory_order_relaxed)) under_way_ = 0;
  under_way_ += bytes;
  if (under_way_ <= small_under_way) return;
  limited_ = false;
  limit_silence(socket(), std::chrono::milliseconds(0));
  owner_.watch_soon();
}

std::int64_t tcp_endpoint::watch_silence() noexcept {
  std::unique_lock guard(sending_);
  if (dead_ || socket() < 0) return base::never_ns;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return base::never_ns;
  const std::int64_t timeout_ms = timeout_.count();
  const std::int64_t enough_ms = timeout_ms * 19 / 20;
  const std::int64_t silent_ms = info.tcpi_last_ack_recv;
  const bool unacknowledged = info.tcpi_unacked != 0 || info.tcpi_notsent_bytes != 0;
  std::int64_t pause_ms = timeout_ms / 6;
  bool unanswered = info.tcpi_unacked != 0 ? info.tcpi_retransmits != 0 : info.tcpi_probes >= max_unanswered;
  if (limited_ || (!unacknowledged && queue_.empty())) {
    if (!std::exchange(limited_, true)) {
      under_way_ = 0;
      limit_silence(socket(), timeout_);
    }
    // Here the kernel probes too, but only once a second: it rounds up.
    if (timeout_ms < until_unanswered_ms) return base::never_ns;
    pause_ms = timeout_ms / 3;
    unanswered = unanswered && !unacknowledged;
  }
  if (silent_ms < enough_ms) return std::min(pause_ms, enough_ms - silent_ms) * 1'000'000;
  if (!unanswered) return pause_ms * 1'000'000;
  guard.unlock();
  cut_off();
  return base::never_ns;
}

}  // namespace ham::transport::tcp
