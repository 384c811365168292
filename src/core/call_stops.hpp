// The calls that run here and can be stopped by their callers (docs/decisions/0015-stopping-calls.md).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ham/offload/detail/slot.hpp"
#include "ham/offload/detail/stop_state.hpp"

namespace ham::inline v1::detail {

class engine;
struct peer;

/// A call that a function has made. Its number comes again after 4096 uses of its slot, while the function may still
/// run; the rest tells it from the calls of others.
struct nested_call {
  std::uint32_t id;
  std::uint64_t position;  ///< of its message; of a replay: of which one
  std::int64_t deadline_ns;

  [[nodiscard]] static nested_call of(const call_slot& slot) noexcept {
    return {slot.id.load(std::memory_order_relaxed), slot.position, slot.deadline_ns};
  }
  bool operator==(const nested_call&) const = default;
};

/// What a call that can be stopped asks of its node. Any thread, which holds no lock.
class stopped_node {
 public:
  virtual ~stopped_node() = default;
  /// Receives some of what has arrived, if no other thread does, or all, once no other does, and begins nothing of it.
  virtual void receive_stops(bool all) noexcept = 0;
  /// A call of this node's was made by one that is stopped.
  virtual void stop_nested(const nested_call& call) noexcept = 0;
  /// The same for who holds the receiving lock.
  virtual void stop_nested_locked(const nested_call& call) noexcept = 0;
  /// So many more calls that can be stopped run; or less.
  virtual void count_stoppable(int more) noexcept = 0;
  /// Drops those of these calls that have settled.
  virtual void drop_settled(std::vector<nested_call>& calls) noexcept = 0;
};

/// One call that runs, or is kept to be run by a policy.
class call_stop final : public stop_state, public std::enable_shared_from_this<call_stop> {
 public:
  struct origin {
    engine* at;
    const peer* from;
    std::uint32_t call;
  };
  /// `word`: of this node, which the caller sets to `mark`, not 0, to stop the call; nullptr: there is none.
  call_stop(stopped_node& node, const origin& of, std::int64_t deadline_ns, std::atomic<std::uint64_t>* word,
            std::uint64_t mark) noexcept
      : stop_state(deadline_ns), node_(&node), of_(of), mark_(mark) {
    word_.store(word, std::memory_order_relaxed);
  }

  [[nodiscard]] const origin& of() const noexcept { return of_; }
  /// The deadline of a call or a replay that it makes, which has no more time than itself. `own_ns`: what that was
  /// given; 0: none. base::never_ns: there is none.
  [[nodiscard]] std::int64_t deadline_within(std::int64_t own_ns) const noexcept {
    return own_ns == 0 ? deadline_ns() : std::min(own_ns, deadline_ns());
  }
  /// Whether it was stopped while it waited: it begins only if not. The stop may have arrived behind other messages. No
  /// lock is held.
  [[nodiscard]] bool requested_before_begin() noexcept;
  /// Sets the flag, and stops the calls that it has made. No lock is held.
  void request() noexcept;
  /// Sets the flag. The calls that are to be stopped.
  [[nodiscard]] std::vector<nested_call> take_nested() noexcept;
  /// It has made a call, which has left. True: which is to be stopped at once. Without memory it goes on alone.
  [[nodiscard]] bool add_nested(const nested_call& call) noexcept;
  void begin() noexcept { node_->count_stoppable(1); }
  /// The call has ended: nothing of its node is looked at any more.
  void end() noexcept;
  /// In a child after fork: no thread holds its lock, and nothing is looked at.
  void detach_after_fork() noexcept;

 private:
  friend class stop_state;
  friend class call_stops;
  bool poll_node() noexcept;
  [[nodiscard]] std::uint32_t polls_to_skip(std::int64_t now_ns) noexcept;

  static constexpr std::size_t min_nested = 64;
  static constexpr std::uint32_t max_unasked = 63;  ///< polls in a row: the function may poll less often from now on

  std::mutex mutex_;  ///< guards the next three
  stopped_node* node_;
  std::vector<nested_call> nested_;
  std::size_t max_nested_ = min_nested;  ///< that many, and those that have settled are dropped
  const origin of_;
  const std::uint64_t mark_;
  std::atomic<std::int64_t> next_poll_ns_{0};
  std::atomic<std::int64_t> looked_ns_{0};
  call_stop* next_listed_ = nullptr;  ///< in the same bucket; guarded by the lock of the list
};

/// A hash table whose chains go through the calls: many may wait for a device, and listing one allocates nothing but,
/// now and then, more buckets. Any thread.
class call_stops {
 public:
  /// A call begins. What is given back keeps it listed; it ends when the last copy of it goes. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<call_stop> begin(std::shared_ptr<call_stop> one);
  /// The call of that number of that peer, if it runs.
  [[nodiscard]] std::shared_ptr<call_stop> find(const peer& from, std::uint32_t call) const;
  [[nodiscard]] std::size_t running() const;
  /// In a child after fork: no thread holds a lock.
  void detach_after_fork() noexcept;

 private:
  void end(call_stop& one) noexcept;

  [[nodiscard]] std::size_t bucket_of(const call_stop::origin& of) const noexcept;
  void push(call_stop& one) noexcept;
  void grow();

  mutable std::mutex mutex_;
  std::vector<call_stop*> buckets_;  ///< none, or a power of two; whose calls live until end() has taken them out
  std::size_t count_ = 0;
};

}  // namespace ham::detail
