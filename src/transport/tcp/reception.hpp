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

namespace ham::transport::tcp {

class reception {
 public:
  /// Connections that have not shown what they are.
  static constexpr std::size_t most_half_open = 64;

  /// `tls` nullptr: plaintext.
  reception(base::unique_fd listening, std::shared_ptr<const tls_context> tls, std::chrono::milliseconds timeout);

  /// Readable when turn() has something to do. Differs after a fork: a child has none of its parent's half-open ones.
  [[nodiscard]] int fd();
  [[nodiscard]] int listening() const noexcept { return listening_.get(); }
  /// When turn() must be called at the latest.
  [[nodiscard]] std::int64_t next_ns() const noexcept;
  /// Goes on with all that can, gives the greeted ones to `greeted`, drops the late ones.
  void turn(const std::function<void(connection, const hello&)>& greeted);
  /// Hangs up on all that are half-open.
  void dismiss() { guests_.clear(); }

 private:
  struct guest {
    handshake on_the_way;
    std::int64_t deadline_ns;
    short registered = 0;
  };
  using place = std::list<guest>::iterator;

  void accept_some();
  void make_room();
  /// True if the guest is no longer half-open.
  bool serve(place who, const std::function<void(connection, const hello&)>& greeted);
  void listen_for(guest& who, short events);

  base::unique_fd listening_;
  std::shared_ptr<const tls_context> tls_;
  std::chrono::milliseconds timeout_;
  base::unique_fd epoll_;
  pid_t owner_ = -1;
  std::list<guest> guests_;  // oldest first
  std::int64_t retry_ns_;    // accept() failed for want of descriptors: not before
};

}  // namespace ham::transport::tcp
