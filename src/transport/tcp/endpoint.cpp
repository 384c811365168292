// How a connection ends, and who is told.
#include "transport/tcp/endpoint.hpp"

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {

tcp_endpoint::tcp_endpoint(node_t peer, connection with, std::chrono::milliseconds timeout, endpoint_owner& owner,
                           std::shared_ptr<remote_memory> memory)
    : endpoint(peer),
      connected_(std::move(with)),
      owner_(owner),
      sender_(*connected_.bytes, connected_.epoch, timeout, shared_, owner),
      receiver_(*connected_.bytes, connected_.epoch, shared_, sender_, owner, *this),
      entry_(socket(), this),
      memory_(std::move(memory)) {
  tune(socket(), timeout);
}

tcp_endpoint::~tcp_endpoint() = default;

bool tcp_endpoint::poll(frame& out) noexcept { return next_frame(out, true); }

bool tcp_endpoint::poll_buffered(frame& out) noexcept { return next_frame(out, false); }

bool tcp_endpoint::next_frame(frame& out, bool may_receive) noexcept {
  news what = news::none;
  std::string why;
  const bool found = receiver_.next(out, may_receive, what, why);
  if (what != news::none) [[unlikely]]
    notify(what, why);
  return found;
}

void tcp_endpoint::notify(news what, const std::string& why) noexcept {
  if (reported_.exchange(true)) return;
  if (what == news::ended) {
    owner_.read_eof(*this);
    sender_.abandon();
    owner_.lost(*this, why);
    return;
  }
  const std::string reason = "it sent bytes that break the wire format (" + why + ")";
  close(reason);
  owner_.broken(*this, reason);
}

void tcp_endpoint::hung_up() noexcept {
  std::string why;
  if (receiver_.read_to_end(why)) notify(news::ended, why);
}

std::int64_t tcp_endpoint::watch_silence() noexcept {
  const silence_watch::outcome found = sender_.check_silence();
  std::string why;
  if (found.cut && receiver_.cut_off(why)) notify(news::ended, why);
  return found.after_ns;
}

// ---- state

std::string tcp_endpoint::reason() const {
  std::lock_guard guard(reason_mutex_);
  return reason_;
}

/// False: it had ended before.
bool tcp_endpoint::end_with(endpoint_state end, const std::string& reason) noexcept {
  {
    std::lock_guard guard(reason_mutex_);
    if (shared_.state.load() != endpoint_state::open) return false;
    try {
      reason_ = reason;
    } catch (const std::bad_alloc&) {  // closed all the same
    }
    shared_.state.store(end, std::memory_order_release);
  }
  owner_.read_eof(*this);
  return true;
}

void tcp_endpoint::close(const std::string& reason) noexcept {
  if (!end_with(endpoint_state::broken, reason)) return;
  sender_.close();
  owner_.closed(*this);
}

void tcp_endpoint::leave() noexcept {
  if (!end_with(endpoint_state::closed, "this node has left")) return;
  sender_.leave();
  owner_.closed(*this);
}

void tcp_endpoint::close_stream() noexcept {
  entry_.close();
  receiver_.close_stream();
}

}  // namespace ham::transport::tcp
