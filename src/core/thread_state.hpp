// What the runtime keeps per thread, and which engine a process has: all that is global in it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "base/ticks.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

class call_stop;
class ready_queue;

struct thread_state {
  static constexpr unsigned max_depth = 512;
  static constexpr unsigned no_depth = ~0U;

  engine* current = nullptr;          ///< the engine that the thread works for
  unsigned depth = 0;                 ///< of calls and continuations that it executes, one inside of the other
  bool leaves_continuations = false;  ///< to other threads that make progress
  bool only_receives = false;         ///< for others: it executes no call, except within a continuation that it runs
  /// From which queue it takes continuations, at what depth. What settles there within a continuation
  /// is left to that loop, so that chains of any length take no stack.
  struct drain {
    const ready_queue* of = nullptr;
    unsigned depth = 0;
  } draining;
  bool serves_others = false;  ///< its loop does what they wait for: it must not wait for what they may hold up
  bool on_executor = false;    ///< it runs the work of an executor, and may be of no node
  void* context = nullptr;     ///< whose calls it executes, if it is the thread of one
  call_stop* stop = nullptr;   ///< of the call that it executes at `stop_depth`, if that can be stopped
  unsigned stop_depth = 0;
  const std::stop_token* next_token = nullptr;  ///< of the call that it begins next at `token_depth`
  unsigned token_depth = 0;
  unsigned owned_depth = no_depth;  ///< at which the next call is not settled by its deadline: see owned_answers
  unsigned polls_left = 0;          ///< for replies alone, before it tries again to poll all endpoints
  unsigned refusals = 0;            ///< of the receiving lock, while it cannot poll for a reply alone
  bool polled_alone = false;        ///< for a reply, since it has polled all endpoints
  std::uint64_t refused_at = 0;     ///< ticks: when it was refused the receiving lock last, and polled alone
  std::uint64_t polled_at = 0;  ///< ticks: when it last polled for nothing, if it has done nothing since; 0: unknown

  /// Who counts ticks by reading the clock reads it when a call begins.
  void note_polled() noexcept {
    if constexpr (base::own_tick_source != base::tick_source::clock) polled_at = base::read_ticks();
  }
  /// Of the innermost call; nullptr: it cannot be stopped.
  [[nodiscard]] call_stop* innermost_stop() const noexcept { return depth == stop_depth ? stop : nullptr; }
  /// Of the call that begins now, and of no other; nullptr: it has none, or what is executed meanwhile has begun it.
  [[nodiscard]] const std::stop_token* take_token() noexcept {
    return depth == token_depth ? std::exchange(next_token, nullptr) : nullptr;
  }
};

extern constinit thread_local thread_state this_thread;

/// While it lives, the calling thread waits, and notes when it polled for nothing.
class polling_time {
 public:
  polling_time() noexcept { this_thread.polled_at = 0; }
  polling_time(const polling_time&) = delete;
  polling_time& operator=(const polling_time&) = delete;
  ~polling_time() { this_thread.polled_at = 0; }
};

/// While it lives, the calling thread executes neither calls nor continuations, which might wait for what it is about
/// to do. Whoever ends one wakes those that wait, if continuations are due.
class receiving_thread {
 public:
  receiving_thread() noexcept
      : only_receives_(std::exchange(this_thread.only_receives, true)),
        leaves_continuations_(std::exchange(this_thread.leaves_continuations, true)) {}
  receiving_thread(const receiving_thread&) = delete;
  receiving_thread& operator=(const receiving_thread&) = delete;
  ~receiving_thread() { end(); }

  void end() noexcept {
    if (std::exchange(ended_, true)) return;
    this_thread.only_receives = only_receives_;
    this_thread.leaves_continuations = leaves_continuations_;
  }

 private:
  const bool only_receives_;
  const bool leaves_continuations_;
  bool ended_ = false;
};

/// While it lives, the calling thread executes a call that can be stopped; nullptr: one that cannot.
class stop_scope {
 public:
  explicit stop_scope(call_stop* of) noexcept
      : before_(std::exchange(this_thread.stop, of)),
        depth_before_(std::exchange(this_thread.stop_depth, this_thread.depth)) {}
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;
  ~stop_scope() {
    this_thread.stop = before_;
    this_thread.stop_depth = depth_before_;
  }

 private:
  call_stop* const before_;
  const unsigned depth_before_;
};

/// The engine that the calling thread works for, or nullptr.
[[nodiscard]] engine* current_or_null() noexcept;
/// Sets the engine of the calling thread; gives the one before.
engine* set_thread_engine(engine* at) noexcept;
/// Sets the engine of threads that work for none in particular.
void set_process_engine(engine* at) noexcept;
[[nodiscard]] engine* process_engine() noexcept;

}  // namespace ham::detail
