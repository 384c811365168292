// What is sent when, and the control frames between the others.
#include "transport/tcp/frame_sender.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/clock.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::size_t max_gathered = std::size_t{16} << 10;
constexpr std::int64_t max_wait_ns = 50'000;
constexpr unsigned sent_at_once = 2;  // frames of a burst before the rest is gathered

}  // namespace

frame_sender::frame_sender(byte_stream& to, std::uint32_t epoch, std::chrono::milliseconds timeout,
                           connection_state& shared, endpoint_owner& owner)
    : to_(to), epoch_(epoch), shared_(shared), owner_(owner), queue_(epoch), silence_(to_.socket(), timeout) {}

std::byte* frame_sender::reserve(std::size_t size) noexcept {
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

void frame_sender::commit(const frame_head& head) noexcept {
  std::lock_guard guard(sending_);
  if (dead_) [[unlikely]]
    return;
  shared_.committed.store(shared_.committed.load(std::memory_order_relaxed) + 1);
  queue_.commit({0, head.kind, 1, head.key, head.call, static_cast<std::uint32_t>(shared_.taken.load())});
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

void frame_sender::push() noexcept {
  if (!sending_.try_lock()) return;
  const std::lock_guard guard(sending_, std::adopt_lock);
  if (!dead_ && !blocked_) send_what_waits();
}

bool frame_sender::push_aged(std::int64_t now_ns) noexcept {
  if (!gathering()) return false;
  if (now_ns - gathering_since_.load(std::memory_order_relaxed) >= max_wait_ns) push();
  return true;
}

void frame_sender::acknowledge() noexcept {
  if (!ack_due() || !sending_.try_lock()) return;
  const std::lock_guard guard(sending_, std::adopt_lock);
  const auto now = static_cast<std::uint32_t>(shared_.taken.load());
  if (taken_before_ == now && !dead_ && !left_ && !blocked_) {
    notice_due_ = true;
    notice_ahead_ = 0;
    send_what_waits();
  }
  taken_before_ = now;
}

bool frame_sender::writable() noexcept {
  std::lock_guard guard(sending_);
  if (dead_) return false;
  blocked_ = false;
  send_what_waits();
  return !blocked_ && std::exchange(refused_, false);
}

void frame_sender::announce(std::uint16_t ahead) noexcept {
  std::lock_guard guard(sending_);
  notice_due_ = true;
  notice_ahead_ = ahead;
  send_what_waits();
}

void frame_sender::ask_for_lane() noexcept {
  std::lock_guard guard(sending_);
  if (dead_) return;
  lane_due_ = true;
  if (!blocked_) send_what_waits();
}

silence_watch::outcome frame_sender::check_silence() noexcept {
  std::lock_guard guard(sending_);
  if (dead_ || to_.socket() < 0) return {false, base::never_ns};
  return silence_.check(to_.socket(), queue_.empty());
}

void frame_sender::leave() noexcept {
  std::lock_guard guard(sending_);
  farewell_due_ = true;
  left_ = true;
  if (!dead_ && !blocked_) send_what_waits();
}

void frame_sender::close() noexcept {
  std::lock_guard guard(sending_);
  // What was promised before still goes: a farewell with the reason, for example.
  if (!dead_) send_what_waits();
  end_sending();
}

void frame_sender::abandon() noexcept {
  std::lock_guard guard(sending_);
  end_sending();
}

void frame_sender::close_stream() noexcept {
  std::lock_guard guard(sending_);
  dead_ = true;
  to_.close();
  control_ = {};
  control_sent_ = 0;
  queue_.rest();
}

// ---- with sending_ held

void frame_sender::send_what_waits() noexcept {
  const std::uint64_t before = queue_.handed();
  try {
    while (!dead_ && send_some()) {
    }
  } catch (const std::bad_alloc&) {
    cut_off(ENOMEM);
  }
  if (queue_.handed() != before) shared_.handed.store(queue_.handed());
  shared_.acknowledged.store(queue_.acknowledged(), std::memory_order_relaxed);
  shared_.allowed.store(queue_.allowed(), std::memory_order_relaxed);
  last_send_ns_ = base::now_ns();
  gathering_.store(false, std::memory_order_relaxed);
  const bool all_gone = queue_.empty() && control_.empty() && to_.unsent() == 0;
  if (left_ && all_gone && !dead_) {
    dead_ = true;
    ::shutdown(to_.socket(), SHUT_WR);
  }
}

/// False: nothing more goes now.
bool frame_sender::send_some() {
  if (to_.unsent() != 0) return went_on(to_.flush().what);
  if (queue_.between_frames()) prepare_control();
  if (!control_.empty()) return send_control();
  if (queue_.empty()) return false;
  const byte_stream::outcome sent = to_.send(queue_.next());
  if (sent.what != byte_stream::status::moved) return went_on(sent.what);
  queue_.sent(sent.bytes);
  count_under_way(sent.bytes);
  return true;
}

bool frame_sender::send_control() {
  const byte_stream::outcome sent = to_.send(std::span(control_).subspan(control_sent_));
  if (sent.what != byte_stream::status::moved) return went_on(sent.what);
  count_under_way(sent.bytes);
  control_sent_ += sent.bytes;
  if (control_sent_ != control_.size()) return true;
  control_.clear();
  control_sent_ = 0;
  if (std::exchange(farewell_under_way_, false)) to_.end();
  return true;
}

bool frame_sender::went_on(byte_stream::status how) noexcept {
  if (how == byte_stream::status::moved) return true;
  if (how == byte_stream::status::later)
    blocked_ = true;
  else if (how == byte_stream::status::failed)
    cut_off(EPROTO);
  else
    sending_failed();
  return false;
}

/// Frames of the transport's own, between two others.
void frame_sender::prepare_control() {
  const bool farewell = farewell_due_ && queue_.empty();
  if (!control_.empty() || (!notice_due_ && !lane_due_ && !farewell)) return;
  const auto add = [&](std::uint8_t kind, std::uint16_t ahead) {
    control_.resize(control_.size() + head_bytes);
    const auto taken = static_cast<std::uint32_t>(shared_.taken.load());
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
void frame_sender::end_records() noexcept {
  if (dead_ || to_.socket() < 0 || to_.unsent() != 0) return;
  to_.end();
  static_cast<void>(to_.flush());
}

void frame_sender::end_sending() noexcept {
  end_records();
  sending_failed();
  gathering_.store(false);
  if (to_.socket() >= 0) ::shutdown(to_.socket(), SHUT_WR);
}

/// The socket does not know that nothing more goes: whoever reads it is to see its end.
void frame_sender::cut_off(int error) noexcept {
  sending_failed();
  shared_.cut_off_by.store(error);
  if (to_.socket() >= 0) ::shutdown(to_.socket(), SHUT_RDWR);
}

/// The end of the connection is reported by whoever reads it.
void frame_sender::sending_failed() noexcept {
  dead_ = true;
  queue_.clear();
  control_.clear();
  control_sent_ = 0;
}

/// The peer's machine may be gone, or may only read nothing for a while.
void frame_sender::count_under_way(std::size_t bytes) noexcept {
  if (!silence_.limited()) return;
  const bool all_taken =
      shared_.peer_taken.load(std::memory_order_relaxed) == shared_.handed.load(std::memory_order_relaxed);
  if (silence_.sent(to_.socket(), bytes, all_taken)) owner_.watch_soon();
}

}  // namespace ham::transport::tcp
