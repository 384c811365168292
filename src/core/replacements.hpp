// Which process calls to a node's number go to, where the host starts another one in place of one that has died.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "core/node_waits.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// The number of a process in a call that is for it alone, also if its number should get another one: what handles
/// name. Such numbers are above all that nodes have, so that the sender of calls finds no node and asks.
inline constexpr node_t exact_bit = node_t{1} << 30;
[[nodiscard]] constexpr node_t without_exact_bit(node_t node) noexcept { return node < 0 ? node : node & ~exact_bit; }

/// Every process has a number of its own, which is never another's: connections, handles and what is told of losses
/// keep to that. A supervised number is a name for calls beside it: of the first process, then of those that took its
/// place. All members may be called from any thread.
class replacements {
 public:
  enum class phase : std::uint8_t {
    up,
    restarting,  ///< the process has died; calls wait for another one
    given_up,    ///< there will be no other one
  };
  struct state {
    bool supervised = false;
    node_t process = -1;
    phase now = phase::up;
    std::string reason;     ///< of given_up, on the host
    bool prepared = false;  ///< by this thread: nobody starts another one before it has ended that
    bool was_up = true;     ///< the process, as far as this node has heard: else it was never prepared
  };
  using listed = std::tuple<node_t, node_t, std::uint8_t>;  ///< number, process, phase

  /// `due`: takes what has waited for a restart; nullptr: nothing can.
  explicit replacements(ready_queue* due = nullptr) noexcept : waiting_(due) {}

  /// Whether there are supervised numbers.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_acquire); }
  /// Grows with every change.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  /// Of a number; one that is not supervised is that of its own process. For the thread of rebuilding(), of its number:
  /// the process that is being prepared, as if it were up.
  [[nodiscard]] state of(node_t number) const;
  /// The supervised number that the process has now, or has had lately; else its own.
  [[nodiscard]] node_t number_of(node_t process) const;
  /// The same, also of a process that is just being started in place of one that has died.
  [[nodiscard]] node_t number_at_start(node_t process) const;
  [[nodiscard]] std::vector<listed> all() const;

  /// True: another process of the number is being started, also if this thread prepares it; `what` is due when that is
  /// decided, or at that time. Throws std::bad_alloc.
  [[nodiscard]] bool run_when_decided(node_t number, continuation* what, std::int64_t until_ns = base::never_ns);
  /// What has waited until now is due.
  void expire(std::int64_t now_ns) noexcept;
  /// When the first one has waited for long enough.
  [[nodiscard]] std::int64_t next_ns() const noexcept { return waiting_.next_ns(); }

  /// Throws std::bad_alloc.
  void set(node_t number, node_t process, phase now, std::string reason = {});
  void forget(node_t number) noexcept;
  /// The job ends: nothing waits for a restart any more, and a number stands for the process that it has now.
  void end() noexcept;
  /// What the host says.
  void take_over(const std::vector<listed>& all);

  /// While it lives, calls of this thread to `number` go to `process`, for which all others still wait.
  class rebuilding {
   public:
    rebuilding(const replacements& of, node_t number, node_t process) noexcept;
    ~rebuilding();
    rebuilding(const rebuilding&) = delete;
    rebuilding& operator=(const rebuilding&) = delete;

   private:
    friend class replacements;
    const replacements* of_;
    node_t number_;
    node_t process_;
    const rebuilding* before_;
  };

  /// While it lives, `process` is being started in place of that of `number`; negative: it has its own. One at a time.
  class starting {
   public:
    starting(replacements& of, node_t process, node_t number) noexcept;
    ~starting();
    starting(const starting&) = delete;
    starting& operator=(const starting&) = delete;

   private:
    replacements& of_;
  };

  /// In a child after fork: nobody holds the lock, and nothing is replaced.
  void detach_after_fork() noexcept;

 private:
  static constexpr std::size_t max_remembered = 16;  // processes of one number that have gone

  struct record {
    node_t process = -1;
    phase now = phase::up;
    std::string reason;
    std::vector<node_t> before;  ///< the latest last
    bool was_up = false;         ///< see state
  };
  [[nodiscard]] node_t number_locked(node_t process) const;
  void set_locked(node_t number, node_t process, phase now, std::string reason);
  void changed() noexcept;

  mutable std::mutex mutex_;
  std::map<node_t, record> records_;
  node_waits waiting_;           ///< for another process of a number
  node_t started_process_ = -1;  ///< see starting
  node_t started_number_ = -1;
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace ham::detail
