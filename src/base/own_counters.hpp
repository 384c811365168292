// The counters of a node of this process, in memory that other processes of the user find and read.
//
// Counting takes a load and a store in memory of the thread, or of the lock, that counts. Where there is no memory to
// be shared, nothing but what the node itself asks for is counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/counter_area.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// What the file of a node's counters is called, by which tools find it.
inline constexpr const char* counter_file_name = "ham-counters";

class own_counters;

/// The row of a peer, given back when it goes. Without an area it is memory of its own.
class counter_row_of_peer {
 public:
  counter_row_of_peer();
  counter_row_of_peer(own_counters& of, counter_row& row) noexcept : of_(&of), row_(&row) {}
  counter_row_of_peer(counter_row_of_peer&& other) noexcept;
  counter_row_of_peer& operator=(counter_row_of_peer&&) = delete;
  ~counter_row_of_peer();
  [[nodiscard]] counter_row* operator->() const noexcept { return row_; }
  [[nodiscard]] counter_row& operator*() const noexcept { return *row_; }

 private:
  own_counters* of_ = nullptr;  ///< nullptr: `row_` is its own
  counter_row* row_;
};

/// All members may be called from any thread, unless said otherwise. Outlives the rows that it has given.
class own_counters {
 public:
  /// Never fails: without memory it counts nothing, and says so in on().
  explicit own_counters(std::int32_t node) noexcept;
  own_counters(const own_counters&) = delete;
  own_counters& operator=(const own_counters&) = delete;
  ~own_counters();

  [[nodiscard]] bool on() const noexcept { return area_ != nullptr; }
  /// Of this process, the larger the later; never 0.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  /// The file with the area; negative: there is none. Of this object.
  [[nodiscard]] int file() const noexcept { return file_.get(); }

  /// A row for a peer that nobody has. Throws std::bad_alloc.
  [[nodiscard]] counter_row_of_peer claim_row(std::int32_t node);

  // ---- how the node waits: the receiving lock is held
  void note_asleep(bool asleep) noexcept {
    if (on()) area_->head.asleep.store(asleep ? 1 : 0, std::memory_order_relaxed);
  }
  void count_sleep() noexcept {
    if (on()) count_more(area_->head.sleeps, 1);
  }
  /// Without the lock: a thread has polled in vain.
  void note_polled(std::int64_t now_ns) noexcept {
    constexpr std::int64_t often_enough_ns = 1'000'000;  // spares the line, which other threads read
    if (on() && now_ns - area_->head.polled_ns.load(std::memory_order_relaxed) > often_enough_ns)
      area_->head.polled_ns.store(now_ns, std::memory_order_relaxed);
  }

  // ---- calls that wait
  void count_set_aside(std::int32_t more) noexcept {
    if (on()) area_->head.set_aside.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }
  void count_in_contexts(std::int32_t more) noexcept {
    if (on()) area_->head.in_contexts.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }
  void count_in_pool(std::int32_t more) noexcept {
    if (on()) area_->head.in_pool.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }

  // ---- its device: one thread
  void note_device(counter_head::device_state now) noexcept {
    if (on()) area_->head.device.store(static_cast<std::uint32_t>(now), std::memory_order_relaxed);
  }
  void count_device_call() noexcept {
    if (on()) count_more(area_->head.device_calls, 1);
  }
  void count_device_launch() noexcept {
    if (on()) count_more(area_->head.device_launches, 1);
  }

  /// In a child after fork: what is counted there reaches nobody. Calls nothing that a fork forbids.
  void detach_after_fork() noexcept;

 private:
  friend class counted_execution;
  friend class counter_row_of_peer;

  void give_back(counter_row& row) noexcept;
  [[gnu::noinline, gnu::cold]] counter_thread* claim_thread() noexcept;
  [[nodiscard]] bool is_shared(const counter_thread* block) const noexcept { return block == &area_->threads.back(); }

  const std::uint64_t serial_;
  counter_area* area_ = nullptr;
  unique_fd file_;
  std::mutex mutex_;             ///< guards what follows
  std::uint32_t used_rows_ = 0;  ///< not what the area says, where others may write
  std::vector<std::uint32_t> free_rows_;
  std::array<std::uint32_t, counter_area::max_threads> threads_{};  ///< by whom blocks are used; 0: by nobody yet
};

class counted_execution;

/// Which executions of a thread are timed: reading the clock costs more than all other counting. One that begins a
/// while after the one before is always timed. Of those in quick succession one out of 16 is, at random, so that no
/// pattern of calls hides from it, and counts for those since the last such one as well. Whether a call is timed does
/// not depend on what it takes: sums and shares are right on average.
class timed_sample {
 public:
  static constexpr std::uint64_t quick_ticks = own_tick_source == tick_source::arm_counter ? 256 : 8192;  // some us
  static constexpr std::uint32_t max_skipped = 31;                                                        ///< in a row

  /// For how many executions the one that begins counts; 0: it is not timed.
  [[nodiscard]] std::uint32_t next(std::uint64_t begun) noexcept {
    const bool quick = begun - std::exchange(last_, begun) < quick_ticks;
    if (!quick) return 1;
    if (--left_ != 0) [[likely]]
      return 0;
    return take(begun);
  }
  /// How many quick executions follow that are not timed.
  [[nodiscard]] std::uint32_t skippable() const noexcept { return left_ - 1; }
  /// So many have followed. Others on the same thread may have taken their places: then the next one that is timed
  /// counts for more.
  void skip(std::uint32_t count) noexcept {
    const std::uint32_t expected = std::min(count, left_ - 1);
    left_ -= expected;
    interval_ += count - expected;
  }
  /// The execution for which next() gave `weight` last is none: the one after it takes its place.
  void take_back(std::uint32_t weight) noexcept {
    if (weight > 1) {
      interval_ = weight;
      left_ = 1;
    } else if (weight == 0) {
      ++left_;
    }
  }

 private:
  std::uint32_t take(std::uint64_t begun) noexcept {
    constexpr std::uint64_t mixing = 0x9e3779b97f4a7c15;  // whatever steps the clock makes, the upper bits vary
    left_ = 1 + static_cast<std::uint32_t>(begun * mixing >> 59);
    return std::exchange(interval_, left_);
  }

  std::uint64_t last_ = 0;
  std::uint32_t left_ = 1;
  std::uint32_t interval_ = 1;
};

/// Of a thread: the block of the node that it has executed a call for last, and the innermost call that it executes.
struct counter_cache {
  std::uint64_t serial = 0;
  counter_thread* block = nullptr;
  counted_execution* innermost = nullptr;
  timed_sample sample;
};
extern constinit thread_local counter_cache this_counter_cache;

/// While it lives, the calling thread executes a call for a node.
class counted_execution {
 public:
  /// `begun`: read_ticks() of its begin, or, if it is not `exact`, shortly before; `in`: nullptr: it is not counted.
  counted_execution(own_counters* in, std::uint64_t begun, bool exact = true) noexcept {
    if (in == nullptr || !in->on()) [[unlikely]]
      return;
    counter_cache& mine = this_counter_cache;
    if (mine.serial != in->serial()) [[unlikely]] {
      mine.block = in->claim_thread();
      mine.serial = in->serial();
    }
    block_ = mine.block;
    shared_ = in->is_shared(block_);
    outer_ = std::exchange(mine.innermost, this);
    add(block_->begun, 1);
    take_sample(mine, begun);
    if (!exact && weight_ != 0) [[unlikely]]
      begun_ = read_ticks();
  }
  counted_execution(const counted_execution&) = delete;
  counted_execution& operator=(const counted_execution&) = delete;
  ~counted_execution() {
    if (block_ == nullptr) [[unlikely]]
      return;
    this_counter_cache.innermost = outer_;
    count_skipped();
    count_end([] { return read_ticks(); });
  }
  /// The call has ended, was quick, and another one is executed in its place. False: next() has to count that, with the
  /// time of now. Else it is counted soon, and nobody needs to know the time.
  [[nodiscard]] bool skip() noexcept {
    if (skipped_ == skippable_) [[unlikely]]
      return false;
    ++skipped_;
    return true;
  }
  /// The call has ended, and the thread executes another one for the same node. `begun`: read_ticks() of now.
  void next(std::uint64_t begun) noexcept {
    if (block_ == nullptr) [[unlikely]]
      return;
    count_skipped();
    count_end([begun] { return begun; });
    left_ = false;
    add(block_->begun, 1);
    take_sample(this_counter_cache, begun);
  }
  /// The innermost call of this thread was given to another one, which counts it.
  static void leave_to_other() noexcept {
    counter_cache& mine = this_counter_cache;
    if (mine.innermost == nullptr || std::exchange(mine.innermost->left_, true)) return;
    mine.sample.take_back(mine.innermost->weight_);
    mine.innermost->skippable_ = mine.innermost->skipped_;
  }

 private:
  template <class Clock>
  void count_end(Clock now) const noexcept {
    if (left_) [[unlikely]] {
      add(block_->begun, UINT64_MAX);  // one less
      return;
    }
    add(block_->ended, 1);
    if (weight_ != 0) [[unlikely]]
      end_timed(now());
  }
  void take_sample(counter_cache& mine, std::uint64_t begun) noexcept {
    weight_ = mine.sample.next(begun);
    begun_ = begun;
    skippable_ = weight_ != 0 ? 0 : mine.sample.skippable();
  }
  void count_skipped() noexcept {
    if (skipped_ == 0) return;
    add(block_->begun, skipped_);
    add(block_->ended, skipped_);
    this_counter_cache.sample.skip(skipped_);
    skipped_ = 0;
  }
  [[gnu::noinline]] void end_timed(std::uint64_t now) const noexcept {
    const std::uint64_t took = now > begun_ ? now - begun_ : 0;  // cores need not agree to the tick
    add(block_->ticks, took * weight_);
    add(block_->took[time_buckets::of(took)], weight_);
  }
  void add(counter_word& to, std::uint64_t more) const noexcept {
    if (shared_) [[unlikely]]
      to.fetch_add(more, std::memory_order_relaxed);
    else
      count_more(to, more);
  }

  counter_thread* block_ = nullptr;
  counted_execution* outer_ = nullptr;
  std::uint64_t begun_ = 0;
  std::uint32_t weight_ = 0;
  std::uint32_t skipped_ = 0;             ///< calls in its place that are not counted yet
  std::uint32_t skippable_ = UINT32_MAX;  ///< how many of those may be; without a block nobody counts
  bool shared_ = false;
  bool left_ = false;
};

}  // namespace ham::base
