// Accesses to the memory of other nodes that go on while their caller computes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "ham/offload/detail/engine_api.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// One such access.
class transfer {
 public:
  virtual ~transfer() = default;
  /// Moves `bytes` bytes from byte `at` on. Blocking; several threads move different parts at the same time.
  virtual transport::access_result move(std::size_t at, std::size_t bytes) noexcept = 0;
  /// Called once, when nothing of it is being moved any more; the first result that was not `done`, if there is one.
  virtual void finish(transport::access_result how) noexcept = 0;
  /// Called instead, if its deadline passed before all of it was moved. `begun`: some of it was.
  virtual void expire(bool begun) noexcept = 0;
  /// The error of that, for who settles it itself.
  [[nodiscard]] virtual std::exception_ptr late(bool begun) const noexcept = 0;
};

/// Paper 1, Table II: asynchronous put and get over transports whose accesses block. One thread of the node begins them
/// in their order; whoever waits for one takes part, so that they overtake each other. The thread is started by the
/// first, and sleeps while there is none. All members may be called from any thread.
class transfer_queue {
 public:
  /// `owner`: what the thread works for.
  explicit transfer_queue(engine* owner) noexcept;
  ~transfer_queue() { stop(); }
  transfer_queue(const transfer_queue&) = delete;
  transfer_queue& operator=(const transfer_queue&) = delete;

  /// Whether an access of this size is worth handing over: what the handing over costs the caller is little beside what
  /// the access would. Both are measured while the node runs.
  [[nodiscard]] bool pays(std::size_t bytes) const noexcept {
    return bytes >= min_bytes_.load(std::memory_order_relaxed);
  }
  /// Takes over an access of `bytes` in parts of `piece_bytes`, whose end settles `slot`; no part is begun from
  /// `deadline_ns` on (0: no limit). False, and `what` stays the caller's: there is no thread or memory for it, or the
  /// node ends.
  [[nodiscard]] bool begin(const call_slot& slot, std::unique_ptr<transfer>& what, std::size_t bytes,
                           std::size_t piece_bytes, std::int64_t deadline_ns = 0) noexcept;
  /// Whether any access is not over.
  [[nodiscard]] bool busy() const noexcept { return busy_.load(std::memory_order_relaxed) != 0; }
  /// For who waits for `slot` until `until_ns` (base::now_ns()): moves parts of its access as long as there are any
  /// that nobody has taken; an access of one part only if the wait has no end.
  void help(const call_slot& slot, std::int64_t until_ns) noexcept;
  /// An access that was taken back.
  struct expired {
    std::unique_ptr<transfer> what;
    bool begun;  ///< some of it was moved
  };
  /// The deadline of `slot` has passed: nothing of its access is begun any more. It is the caller's to settle then,
  /// unless a part of it is being moved: who moves that ends it. `what` is nullptr in that case, and if there is no
  /// such access.
  [[nodiscard]] expired take_expired(const call_slot& slot) noexcept;
  /// Nothing is taken over any more; waits until what has been is over, not longer than until `until_ns`.
  void finish(std::int64_t until_ns) noexcept;
  /// The same without a limit, and ends the thread. Accesses that stand still have been ended before.
  void stop() noexcept;
  /// In a child after fork: the thread is not here, and what it worked on is the parent's.
  void detach_after_fork() noexcept;

 private:
  struct job {
    const call_slot* slot;
    std::unique_ptr<transfer> what;
    std::size_t bytes, piece_bytes;
    std::int64_t deadline_ns;   // 0: none
    std::size_t taken = 0;      // the parts before this byte
    bool late = false;          // the parts behind `moved` are not begun any more
    std::size_t moved = 0;      // of a late one: what was taken before
    std::size_t under_way = 0;  // parts
    transport::access_result result = transport::access_result::done;
  };
  using shared_job = std::shared_ptr<job>;  // of the list and of those that move parts of it
  using guard = std::unique_lock<std::mutex>;

  void run() noexcept;
  void move_one(guard& locked, const shared_job& of) noexcept;
  static void give_up(job& it) noexcept;
  void end(guard& locked, const shared_job& of) noexcept;
  void remove(const shared_job& of) noexcept;
  [[nodiscard]] shared_job untaken() const noexcept;
  void learn_cost(std::int64_t ns) noexcept;
  void learn_speed(std::size_t bytes, std::int64_t ns) noexcept;
  void weigh() noexcept;

  engine* const owner_;
  std::mutex mutex_;
  std::list<shared_job> jobs_;  // not over
  bool stop_ = false;
  bool resting_ = false;  // the thread waits for news
  std::condition_variable news_;
  std::thread thread_;
  std::atomic<std::size_t> busy_{0};
  // What handing over costs, and how fast accesses are: averages in which a new value counts an eighth.
  std::int64_t cost_ns_ = 5'000;
  std::int64_t bytes_per_us_ = 8'000;
  std::atomic<std::size_t> min_bytes_;
};

}  // namespace ham::detail
