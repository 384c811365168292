// Receiving, state and end of a connection; sending is in endpoint_send.cpp.
#include "transport/tcp/endpoint.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {
namespace {

/// A peer that was killed while we had so much of it unread may have had more to say.
constexpr std::size_t suspicious_bytes = std::size_t{32} << 10;
constexpr std::uint16_t max_ahead = 256;

bool comes_later(int error) noexcept { return would_block(error) || error == EINTR; }

}  // namespace

tcp_endpoint::tcp_endpoint(node_t peer, connection with, std::chrono::milliseconds timeout, endpoint_owner& owner)
    : endpoint(peer),
      connected_(std::move(with)),
      epoch_(connected_.epoch),
      timeout_(timeout),
      owner_(owner),
      same_machine_(remote_address(socket()).same_host(local_address(socket()))),
      queue_(epoch_) {
  tune(socket(), timeout_);
  limit_silence(socket(), timeout_);
}

tcp_endpoint::~tcp_endpoint() = default;

// ---- receiving

bool tcp_endpoint::poll(frame& out) noexcept {
  news what = news::none;
  std::string why;
  const bool found = next_frame(out, true, what, why);
  if (what != news::none) [[unlikely]]
    notify(what, why);
  return found;
}

bool tcp_endpoint::poll_buffered(frame& out) noexcept {
  news what = news::none;
  std::string why;
  const bool found = next_frame(out, false, what, why);
  if (what != news::none) [[unlikely]]
    notify(what, why);
  return found;
}

bool tcp_endpoint::next_frame(frame& out, bool may_receive, news& told, std::string& why) {
  std::lock_guard guard(receiving_);
  if (state_.load(std::memory_order_relaxed) != endpoint_state::open) return false;
  for (;;) {
    const std::span<const std::byte> waiting = in_.waiting();
    wire_head head;
    const char* wrong = nullptr;
    switch (read_frame(waiting, epoch_, head, wrong)) {
      case head_status::frame: {
        if (!understand(head, why)) break;
        if (!carries_payload(head.kind)) {
          in_.skip(head_bytes);
          continue;
        }
        const std::size_t size = head_bytes + head.size;
        if (static_cast<std::int32_t>(static_cast<std::uint32_t>(taken_) + 1 - allowed_) > 0) allow_more(size);
        taken_.store(taken_.load(std::memory_order_relaxed) + 1);
        out.head = {head.key, head.call, head.kind};
        out.payload = waiting.subspan(head_bytes, head.size);
        in_.hold(size);
        wire_head behind;
        more_here_.store(read_frame(in_.waiting(), epoch_, behind, wrong) == head_status::frame,
                         std::memory_order_relaxed);
        owner_.schedule_ack();
        return true;
      }
      case head_status::broken: why = wrong; break;
      case head_status::incomplete:
        if (!may_receive) return false;
        if (ended_) return false;
        if (gathering()) push();
        streak_.store(0, std::memory_order_relaxed);
        if (fill(false)) continue;
        if (ended_) {
          told = news::ended;
          why = ending();
        }
        return false;
    }
    told = news::malformed;
    return false;
  }
}

void tcp_endpoint::release() noexcept {
  std::lock_guard guard(receiving_);
  in_.release();
}

bool tcp_endpoint::has_more() noexcept {
  std::lock_guard guard(receiving_);
  if (state_.load(std::memory_order_relaxed) != endpoint_state::open) return false;
  wire_head head;
  const char* wrong = nullptr;
  if (read_frame(in_.waiting(), epoch_, head, wrong) != head_status::incomplete) return true;
  return !ended_ && connected_.bytes->has_input();
}

bool tcp_endpoint::understand(const wire_head& head, std::string& why) noexcept {
  const std::uint64_t before = peer_taken_.load(std::memory_order_relaxed);
  const std::uint64_t taken = before + (head.taken - static_cast<std::uint32_t>(before));
  if (taken > committed_.load()) {
    // Read again without consuming, an older head is no error.
    if (static_cast<std::int32_t>(head.taken - static_cast<std::uint32_t>(before)) < 0) return true;
    why = "it took frames that were never sent";
    return false;
  }
  peer_taken_.store(taken, std::memory_order_relaxed);
  peer_limit_ = std::max(peer_limit_, taken + head.ahead);
  if (head.kind == farewell_kind) farewell_ = true;
  if (head.kind == want_lane_kind) owner_.lane_wanted(*this);
  return true;
}

/// Says, before they are taken, how many of the frames that are here will be: after our death the peer must not believe
/// that a call has not run that has. Where the wire is full, it cannot be said.
void tcp_endpoint::allow_more(std::size_t frame_bytes) noexcept {
  std::uint16_t ahead = 1;
  wire_head head;
  const char* wrong = nullptr;
  std::span<const std::byte> behind = in_.waiting().subspan(frame_bytes);
  while (ahead < max_ahead && read_frame(behind, epoch_, head, wrong) == head_status::frame) {
    if (carries_payload(head.kind)) ++ahead;
    behind = behind.subspan(head_bytes + head.size);
  }
  std::lock_guard guard(sending_);
  notice_due_ = true;
  notice_ahead_ = ahead;
  send_what_waits();
}

void tcp_endpoint::notify(news what, const std::string& why) noexcept {
  if (reported_.exchange(true)) return;
  if (what == news::ended) {
    owner_.read_eof(*this);
    {
      std::lock_guard guard(sending_);
      end_records();
      sending_failed();
      if (socket() >= 0) ::shutdown(socket(), SHUT_WR);
    }
    owner_.lost(*this, why);
    return;
  }
  const std::string reason = "it sent bytes that break the wire format (" + why + ")";
  close(reason);
  owner_.broken(*this, reason);
}

// ---- the socket

bool tcp_endpoint::fill(bool may_grow) {
  const std::span<std::byte> room = may_grow ? in_.more_room() : in_.room();
  if (room.empty() || ended_ || socket() < 0) return false;
  const byte_stream::outcome got = connected_.bytes->receive(room);
  switch (got.what) {
    case byte_stream::status::moved: [[likely]] in_.arrived(got.bytes); return true;
    case byte_stream::status::partial: return may_grow;
    case byte_stream::status::later: return false;
    case byte_stream::status::lost:
    case byte_stream::status::failed: end_of_stream(got.error); break;
  }
  return false;
}

void tcp_endpoint::end_of_stream(int error) noexcept {
  ended_ = true;
  end_error_ = error;
}

std::string tcp_endpoint::ending() const {
  if (farewell_) return "it has left";
  if (end_error_ == 0 || end_error_ == ECONNRESET) {
    return "its process has ended (its connection was closed without a farewell)";
  }
  if (end_error_ == ETIMEDOUT || end_error_ == EHOSTUNREACH || end_error_ == ENETUNREACH) {
    return "its machine does not answer (" + error_text(end_error_) + "); check the network and whether it runs";
  }
  if (end_error_ == EBADMSG) {
    return "its bytes were changed on the way, or the key is another (" + connected_.bytes->failure() + ")";
  }
  return "the connection broke (" + error_text(end_error_) + ")";
}

/// Reads without giving frames out, so that what the peer has said of ours is known.
void tcp_endpoint::read_ahead(std::size_t most) noexcept {
  try {
    const std::size_t before = in_.waiting().size();
    while (!ended_ && in_.waiting().size() - before < most && fill(true)) {
    }
    last_words_ += in_.waiting().size() - before;
    std::span<const std::byte> behind = in_.waiting();
    wire_head head;
    const char* wrong = nullptr;
    std::string why;
    while (read_frame(behind, epoch_, head, wrong) == head_status::frame && understand(head, why)) {
      behind = behind.subspan(head_bytes + head.size);
    }
  } catch (const std::bad_alloc&) {
    end_of_stream(ENOMEM);
  }
}

void tcp_endpoint::hung_up() noexcept {
  std::string why;
  {
    std::lock_guard guard(receiving_);
    if (state_.load() != endpoint_state::open) return;
    last_words_ = 0;
    read_ahead(SIZE_MAX);
    if (!ended_) return;
    why = ending();
  }
  notify(news::ended, why);
}

void tcp_endpoint::cut_off() noexcept {
  std::string why;
  {
    std::lock_guard guard(receiving_);
    if (state_.load() != endpoint_state::open || ended_) return;
    end_of_stream(ETIMEDOUT);
    why = ending();
  }
  notify(news::ended, why);
}

// ---- what the peer took

std::uint64_t tcp_endpoint::consumed() const noexcept {
  auto& self = const_cast<tcp_endpoint&>(*this);
  std::lock_guard guard(receiving_);
  if (state_.load() == endpoint_state::open && !ended_) self.read_ahead(1);
  const std::uint64_t handed = handed_.load();
  if (!ended_) return state_.load() == endpoint_state::open ? peer_taken_.load() : handed;
  const bool killed = end_error_ == ECONNRESET || end_error_ == EPIPE;
  const bool all_heard = end_error_ == 0 || (killed && same_machine_ && last_words_ < suspicious_bytes);
  return all_heard ? std::min(handed, peer_limit_) : handed;
}

// ---- state

std::string tcp_endpoint::reason() const {
  std::lock_guard guard(reason_mutex_);
  return reason_;
}

void tcp_endpoint::close(const std::string& reason) noexcept {
  {
    std::lock_guard guard(reason_mutex_);
    if (state_.load() != endpoint_state::open) return;
    try {
      reason_ = reason;
    } catch (const std::bad_alloc&) {  // closed all the same
    }
    state_.store(endpoint_state::broken, std::memory_order_release);
  }
  owner_.read_eof(*this);
  {
    std::lock_guard guard(sending_);
    // What was promised before still goes: a farewell with the reason, for example.
    if (!dead_) send_what_waits();
    end_records();
    dead_ = true;
    queue_.clear();
    gathering_.store(false);
    if (socket() >= 0) ::shutdown(socket(), SHUT_WR);
  }
  owner_.closed(*this);
}

void tcp_endpoint::list_in(int epoll) noexcept {
  std::lock_guard guard(sending_);
  if (dry_ || socket() < 0) return;
  epoll_event interest{EPOLLIN, {.ptr = this}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket(), &interest);
}

void tcp_endpoint::take_out(int epoll, bool for_good) noexcept {
  std::lock_guard guard(sending_);
  if (socket() >= 0) ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket(), nullptr);
  dry_ = dry_ || for_good;
}

bool tcp_endpoint::drain() noexcept {
  std::lock_guard guard(receiving_);
  if (socket() < 0 || ended_) return true;
  std::byte nowhere[4096];
  for (int i = 0; i < 1000; ++i) {
    const ssize_t got = ::recv(socket(), nowhere, sizeof nowhere, 0);
    if (got == 0 || (got < 0 && !comes_later(errno))) return true;
    if (got < 0) return false;
  }
  return false;
}

void tcp_endpoint::close_stream() noexcept {
  std::scoped_lock guard(receiving_, sending_);
  dead_ = true;
  connected_.bytes->close();
  control_ = {};
  control_sent_ = 0;
  queue_.rest();
  in_.rest();
}

}  // namespace ham::transport::tcp
