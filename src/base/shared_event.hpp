// An event descriptor shared by processes that do not trust each other.
#pragma once

#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// Wakes whoever waits for the event (shared_event). Never blocks: it adds zero to the counter, for which there is
/// always room, whatever others have made of the counter and of the descriptor's flags.
void ring_event(int event) noexcept;

/// The side that waits. Every process that has an event descriptor can fill its counter, empty it and make it blocking,
/// for all of them. Nothing here depends on either: a ring is an edge of an epoll descriptor that is this process's
/// alone. One thread at a time.
class shared_event {
 public:
  /// `event` stays the caller's and outlives this object. Throws ham::config_error.
  explicit shared_event(int event);

  /// Readable when the event was rung after the last drain().
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  void drain() noexcept;
  /// False where the kernel makes no event of a ring, which Linux does: who waits has to look now and then.
  [[nodiscard]] bool wakes() const noexcept { return wakes_; }

 private:
  [[nodiscard]] bool take() noexcept;

  unique_fd epoll_;
  bool wakes_ = true;
};

}  // namespace ham::base
