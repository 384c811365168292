#include "runtime/metrics_client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "runtime/metrics_answer.hpp"

namespace ham::inline v1::detail {
namespace {

/// Of recv and send: nothing could be moved, but may be later.
bool is_later(ssize_t moved) noexcept { return moved < 0 && (errno == EINTR || errno == EAGAIN); }

}  // namespace

metrics_client::metrics_client(base::unique_fd connection, const std::function<std::string()>& text)
    : connection_(std::move(connection)), text_(&text), until_ns_(base::now_ns() + time_limit_ns) {}

short metrics_client::awaits() const noexcept { return now_ == phase::sending ? POLLOUT : POLLIN; }

bool metrics_client::go_on(std::int64_t now_ns) {
  const bool late = now_ns >= until_ns_;
  if (now_ == phase::receiving) return receive(late);
  if (late) return false;
  return now_ == phase::sending ? send() : drain();
}

/// Up to the end of the headers; else what has come when the time is over, or the client says no more, is answered.
bool metrics_client::receive(bool late) {
  std::array<char, 1024> piece{};
  const ssize_t count = ::recv(connection_.get(), piece.data(), piece.size(), 0);
  if (!late && is_later(count)) return true;
  if (count > 0) bytes_.append(piece.data(), static_cast<std::size_t>(count));
  if (count > 0 && !late && bytes_.size() < max_request_bytes && !is_complete_request(bytes_)) return true;
  if (bytes_.empty()) return false;
  bytes_ = http_answer(bytes_, *text_);  // takes its time, which is not the reader's
  until_ns_ = base::now_ns() + time_limit_ns;
  now_ = phase::sending;
  return send();
}

bool metrics_client::send() {
  const ssize_t count = ::send(connection_.get(), bytes_.data() + done_, bytes_.size() - done_, MSG_NOSIGNAL);
  if (is_later(count)) return true;
  if (count <= 0) return false;
  done_ += static_cast<std::size_t>(count);
  if (done_ < bytes_.size()) return true;
  ::shutdown(connection_.get(), SHUT_WR);
  done_ = 0;
  now_ = phase::draining;
  return true;
}

/// What was not read would take the answer away from whoever has sent it.
bool metrics_client::drain() {
  std::array<char, 1024> rest{};
  const ssize_t count = ::recv(connection_.get(), rest.data(), rest.size(), 0);
  if (is_later(count)) return true;
  if (count <= 0) return false;
  done_ += static_cast<std::size_t>(count);
  return done_ < max_request_bytes;
}

}  // namespace ham::detail
