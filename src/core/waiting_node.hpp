// What threads that wait ask of the node that they belong to.
#pragma once

#include <cstdint>

namespace ham::inline v1::detail {

struct call_slot;

/// Called only by threads that have nothing to do: none of this is on the path of a call that is answered at once.
class waiting_node {
 public:
  virtual ~waiting_node() = default;

  // ---- any thread
  /// From time to time during a wait in vain that began at `silent_since` (0: is to be set): does what is due by the
  /// clock. Gives the time up to which the thread may sleep.
  virtual std::int64_t check_clock(std::int64_t now_ns, const call_slot* awaited, std::int64_t& silent_since) = 0;
  /// Whether the node that is to answer slept when the call was sent, so that the answer takes a wake-up longer.
  [[nodiscard]] virtual bool wakes_up(const call_slot& awaited) noexcept = 0;
  /// More threads want to run than there are cores: who spins takes the core of the one that it waits for.
  [[nodiscard]] virtual bool oversubscribed() const noexcept = 0;
  /// Whether calls are set aside that only the thread which executes their peer's calls may begin.
  [[nodiscard]] virtual bool has_deferred() const noexcept = 0;

  // ---- with the receiving lock
  /// Whether something that is set aside may begin on this thread.
  [[nodiscard]] virtual bool has_runnable() const = 0;
  /// Begins that, up to the end of what is awaited. Whether there was something.
  virtual bool run_deferred(const call_slot* awaited) = 0;
  /// Whether there is anything to sleep on.
  [[nodiscard]] virtual bool connected() const noexcept = 0;
  /// Announces to all transports that this node goes to sleep. False: one of them has something, or the node has.
  [[nodiscard]] virtual bool arm() = 0;
  virtual void disarm() noexcept = 0;
  /// After arm(): when the node must look by itself, because nobody would wake it.
  [[nodiscard]] virtual std::int64_t next_wakeup_ns() const noexcept = 0;
  /// The core of this machine that the node has to itself; negative: none.
  [[nodiscard]] virtual int home_core() const noexcept = 0;
  /// Gives the receiving lock back and does what has become due meanwhile.
  virtual void finish_progress() = 0;
};

}  // namespace ham::detail
