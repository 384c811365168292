// Takes incoming connections through their handshakes: at most a bounded number at once, each for a bounded time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "transport/tcp/handshake.hpp"

namespace ham::inline v1::transport::tcp {

class acceptor {
 public:
  /// Connections that have not shown what they are.
  static constexpr std::size_t max_half_open = 64;

  /// `tls` nullptr: plaintext.
  acceptor(base::unique_fd listening, std::shared_ptr<const tls_context> tls, std::chrono::milliseconds timeout);

  /// Readable when turn() has something to do. Differs after a fork: a child has none of its parent's half-open ones.
  [[nodiscard]] int fd();
  [[nodiscard]] int listening() const noexcept { return listening_.get(); }
  /// When turn() must be called at the latest.
  [[nodiscard]] std::int64_t next_ns() const noexcept;
  /// Goes on with all that can, gives the greeted ones to `greeted`, drops the late ones, and those for which there is
  /// no memory or of which `greeted` throws.
  void turn(const std::function<void(connection, const hello&)>& greeted);
  /// Hangs up on all that are half-open.
  void hang_up() { half_open_.clear(); }

 private:
  struct half_open {
    handshake shaking;
    std::int64_t deadline_ns;
    short registered = 0;
  };
  using place = std::list<half_open>::iterator;

  void accept_some();
  void drop_one();
  /// True if it is no longer half-open.
  bool serve(place who, const std::function<void(connection, const hello&)>& greeted);
  void watch_for(half_open& who, short events);

  base::unique_fd listening_;
  std::shared_ptr<const tls_context> tls_;
  std::chrono::milliseconds timeout_;
  base::unique_fd epoll_;
  pid_t owner_ = -1;
  std::list<half_open> half_open_;  // oldest first
  std::int64_t retry_ns_;           // accept() failed for want of descriptors: not before
};

}  // namespace ham::transport::tcp
