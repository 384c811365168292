// What the scenarios say of the kernel under the nodes of a model.
#pragma once

#include <cstdint>

#include "explorer/engine.hpp"

namespace model::kernel {

/// Threads whose process can use membarrier; by its bit max_threads, what the scenario makes.
inline std::uint32_t has_membarrier = ~0U;
/// Whether a later membarrier may be refused: a filter of system calls was installed.
inline bool may_refuse = false;

inline void reset(std::uint32_t able = ~0U, bool refuses = false) {
  has_membarrier = able;
  may_refuse = refuses;
}

/// An event descriptor.
class event {
 public:
  void signal(place where = place::current()) {
    state_.step(
        "signal an event", {}, [this] { return ++count_; }, where);
  }
  void drain(place where = place::current()) {
    state_.step(
        "drain an event", {}, [this] { return count_ = 0; }, where);
  }
  /// `times_out`: sleeps for a limited time.
  void wait(bool times_out, place where = place::current()) {
    if (times_out) count_pause();
    state_.step(
        "sleep until an event", [this, times_out] { return times_out || count_ != 0; }, [this] { return count_; },
        where);
  }

 private:
  object state_;
  std::uint64_t count_ = 0;
};
/// The event of a descriptor.
inline event* events[4]{};

}  // namespace model::kernel
