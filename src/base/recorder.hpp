// The flight recorder: each thread writes what it calls and executes into memory that outlives its process.
//
// It is always on: an event takes a look at the clock and a store of 32 bytes into memory of the thread's own. No lock,
// no atomic read-modify-write, no system call but for a thread's first event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/recorder_area.hpp"

namespace ham::inline v1::base {

/// The events of one thread.
class thread_recorder {
 public:
  /// `at`: read_ticks() of it; 0: now, which is not read where nothing is recorded.
  void record(recorded_kind kind, std::int32_t peer, std::uint32_t function, std::uint32_t call,
              std::uint64_t at = 0) noexcept {
    if (!ready()) [[unlikely]]
      return;
    add(recorded_event::make(kind, at != 0 ? at : read_ticks(), peer, function, call));
  }
  /// The call that the thread has begun last, if it has that number, is given to another thread.
  void mark_queued(std::uint32_t call) noexcept;
  /// The call that the thread executes is one of this function from here on.
  void name_execution(std::uint32_t function) noexcept;

 private:
  friend class recorded_execution;
  friend void detach_recorder_after_fork() noexcept;

  [[nodiscard]] bool ready() noexcept {
    if (ring_ != nullptr) [[likely]]
      return true;
    return !off_ && attach();
  }
  [[gnu::noinline, gnu::cold]] bool attach() noexcept;
  void add(const recorded_event& one) noexcept {
    store_event(ring_->past[next_], one);
    next_ = (next_ + 1) % recorder_ring::max_past;
  }
  [[nodiscard]] static std::uint32_t place_of(std::uint32_t depth) noexcept {
    return std::min(depth, recorder_ring::max_open - 1);
  }

  recorder_ring* ring_ = nullptr;
  std::uint32_t next_ = 0;
  std::uint32_t depth_ = 0;
  bool off_ = false;
};

extern constinit thread_local thread_recorder this_recorder;

/// While it lives, the calling thread executes a call of `peer`.
class recorded_execution {
 public:
  /// `begun`: read_ticks() of its begin.
  recorded_execution(std::int32_t peer, std::uint32_t function, std::uint32_t call,
                     std::uint64_t begun = read_ticks()) noexcept {
    thread_recorder& mine = this_recorder;
    if (!mine.ready()) [[unlikely]]
      return;
    ring_ = mine.ring_;
    open_ = &ring_->open[thread_recorder::place_of(mine.depth_++)];
    store_event(*open_, recorded_event::make(recorded_kind::executing, begun, peer, function, call));
  }
  recorded_execution(const recorded_execution&) = delete;
  recorded_execution& operator=(const recorded_execution&) = delete;
  ~recorded_execution() {
    thread_recorder& mine = this_recorder;
    if (ring_ == nullptr || ring_ != mine.ring_) [[unlikely]]
      return;  // the function has forked, and this is the child
    --mine.depth_;
    if (keep(mine)) [[likely]]
      store_event(*open_, {});
  }
  /// The call has ended, and the thread executes another one of `peer`, which has its place from now on.
  void next(std::int32_t peer, std::uint32_t function, std::uint32_t call, std::uint64_t begun) noexcept {
    thread_recorder& mine = this_recorder;
    if (ring_ == nullptr || ring_ != mine.ring_) [[unlikely]]
      return;
    static_cast<void>(keep(mine));
    store_event(*open_, recorded_event::make(recorded_kind::executing, begun, peer, function, call));
  }

 private:
  /// False: one that was called from it had its place.
  [[nodiscard]] bool keep(thread_recorder& mine) const noexcept {
    const recorded_event open = load_event(*open_);
    if (open.is_of(recorded_kind::executing)) [[likely]]
      mine.add(open.executed());
    else if (open.kind() != recorded_kind::none)
      mine.add(open);
    else
      return false;
    return true;
  }

  recorder_ring* ring_ = nullptr;
  recorded_event* open_ = nullptr;  // its place there
};

/// The name of the function of a key, by which readers know it. False: there are no more.
using recorder_names = bool (*)(std::uint32_t key, std::string_view& name) noexcept;

/// Whether threads of this process record from now on; the first word counts. `node`: whose events they are. Any
/// thread.
void enable_recorder(std::int32_t node, recorder_names names) noexcept;
void disable_recorder() noexcept;

/// Has this process record into an area of a file that others hold. False: it does so elsewhere already, or not at all.
/// Any thread.
bool use_recorder_area(int fd, std::uint64_t offset) noexcept;

/// The key of a function that is no handler, by its name, of which the first 200 bytes count; 0xffffffff: nothing is
/// recorded, or there is no room for further names. Any thread.
[[nodiscard]] std::uint32_t named_function(std::string_view name) noexcept;

/// In a child after fork: the memory is the parent's.
void detach_recorder_after_fork() noexcept;

}  // namespace ham::base
