// Runs the threads of a simulated job one at a time. A thread is handed on at seams: atomic operations, locks, waits,
// wake-ups, the clock and input or output. Which thread runs next, and what time it is, follow from a seed.
//
// The code under test is the library's own, unchanged: atomics.cpp and interposed.cpp are called where it uses atomic
// variables and the C library. Nothing here uses either. All threads run on one thread of the kernel (stacks.hpp).
#pragma once

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/stacks.hpp"

namespace ham::inline v1::sim {

__extension__ using wide_number = unsigned __int128;

/// Reproducible random numbers (SplitMix64).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Below `end`, which is not 0.
  std::uint64_t below(std::uint64_t end) noexcept {
    return static_cast<std::uint64_t>(static_cast<wide_number>(next()) * end >> 64U);
  }
  bool once_in(std::uint64_t times) noexcept { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

/// Where a thread may be handed on.
enum class seam : std::uint8_t { atomic, lock, unlock, wait, wake, clock, yield, thread, io, step };

inline constexpr std::int64_t never = INT64_MAX;
inline constexpr int no_node = -1;
/// Processes of a job are numbered from a multiple of this on, which is that of the host.
inline constexpr int processes_of_job = 100;
/// What the kernel calls the first simulated process: more than it calls any other.
inline constexpr std::int64_t first_pid = 1'000'000'000;

/// Stores that other threads do not see yet, as in a processor's store buffer: they become visible in order.
class store_buffer {
 public:
  static constexpr unsigned room = 8;
  struct entry {
    void* at;
    std::uint64_t value;
    unsigned size;
  };
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool full() const noexcept { return count_ == room; }
  void push(const entry& one) noexcept {
    entries_[(first_ + count_++) % room] = one;
    ++entries_at_[bucket_of(one.at)];
    if (!within_word(one.at, one.size)) [[unlikely]]
      ++entries_at_[next_to(bucket_of(one.at))];
  }
  void write_first() noexcept;
  void write_all() noexcept {
    if (count_ != 0) write_rest();
  }
  /// The latest store to exactly this place, or nullptr; then `overlaps` says whether any other overlaps.
  [[nodiscard]] const entry* find(const void* place, unsigned size, bool& overlaps) const noexcept;
  /// Whether any may overlap; false: none does.
  [[nodiscard]] bool may_touch(const void* place, std::size_t size) const noexcept {
    if (count_ == 0) return false;
    const std::size_t words = (reinterpret_cast<std::uintptr_t>(place) % 8 + size + 7) / 8;
    if (words > max_words) return true;
    for (std::size_t i = 0, at = bucket_of(place); i < words; ++i, at = next_to(at)) {
      if (entries_at_[at] != 0) return true;
    }
    return false;
  }
  /// The same for what lies within a word.
  [[nodiscard]] bool may_touch_word(const void* place) const noexcept { return entries_at_[bucket_of(place)] != 0; }
  /// Whether any overlaps.
  [[nodiscard]] bool touches(const void* place, std::size_t size) const noexcept;

 private:
  static constexpr std::size_t buckets = 256;
  static constexpr std::size_t max_words = 3;  ///< more are compared with the entries themselves

  [[nodiscard]] const entry& at(unsigned number) const noexcept { return entries_[(first_ + number) % room]; }
  /// That of a word of memory.
  [[nodiscard]] static std::size_t bucket_of(const void* place) noexcept {
    return reinterpret_cast<std::uintptr_t>(place) / 8 % buckets;
  }
  [[nodiscard]] static std::size_t next_to(std::size_t bucket) noexcept { return (bucket + 1) % buckets; }
  [[nodiscard]] static bool within_word(const void* place, unsigned size) noexcept {
    return reinterpret_cast<std::uintptr_t>(place) % 8 + size <= 8;
  }
  void write_rest() noexcept;

  std::array<std::uint8_t, buckets> entries_at_{};  ///< entries that touch words of each bucket
  std::array<entry, room> entries_{};
  unsigned first_ = 0;
  unsigned count_ = 0;
};

struct thread_record {
  enum class state : std::uint8_t { runnable, blocked, done, killed };

  int number = 0;
  int node = 0;
  int starts_for = 0;  ///< the node of threads that it starts
  state now = state::runnable;
  const char* waits_for = "";
  const void* channel = nullptr;
  std::int64_t until_ns = never;
  bool timed_out = false;
  std::uint64_t priority = 0;
  std::size_t place = 0;      ///< in the list of those that can run, or of those that wait
  context at;                 ///< where it goes on
  bool shows_itself = false;  ///< it is handed on to only to print where it is
  const char* stack_begin = nullptr;
  const char* stack_end = nullptr;
  const idle_thread* from = nullptr;  ///< which it was
  pthread_t handle{};
  void* (*work)(void*) = nullptr;
  void* argument = nullptr;
  std::vector<const void*> held;  ///< protected mutexes
  store_buffer stores;
};

struct schedule {
  std::uint64_t seed = 0;
  std::uint64_t mean_run = 50;      ///< seams between two hand-overs
  std::int64_t mean_tick_ns = 500;  ///< by which a look at the clock advances it
  bool by_priority = false;         ///< the thread of the highest priority runs; priorities change now and then
  bool buffers_stores = true;
};

/// Ends the process: what failed, and where all threads are.
using failure_handler = std::function<void(const std::string& what)>;

class scheduler {
 public:
  scheduler(const schedule& how, failure_handler on_failure);
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// The calling thread is number 0, of no node; from here on the simulation has control.
  void begin();
  /// It has not any more. All other threads must have ended, or were killed.
  void end();

  // ---- seams; of the running thread
  void pass(seam kind) noexcept {
    if (--run_left_ <= 0) [[unlikely]]
      hand_on(kind);
  }
  /// The same before a load, in two parts: if the first is true, the second must follow. Who does nothing but load
  /// waits for others: they run.
  [[nodiscard]] bool ends_run_at_load() noexcept { return --loads_left_ <= 0 || --run_left_ <= 0; }
  void hand_on_at_load() noexcept {
    if (loads_left_ <= 0)
      yield(seam::atomic);
    else
      hand_on(seam::atomic);
  }
  /// The same before the running thread changes something.
  [[nodiscard]] bool ends_run_at_change() noexcept {
    loads_left_ = max_loads;
    return --run_left_ <= 0;
  }
  void hand_on_at_change() noexcept { hand_on(seam::atomic); }
  void yield(seam kind) noexcept;
  /// Until somebody wakes the channel, or the time has come: false.
  bool block(const void* channel, std::int64_t until_ns, const char* what) noexcept;
  void wake_all(const void* channel) noexcept {
    if (waiting_on_[place_of(channel)] != 0) wake_all_of(channel);
  }
  void wake_one(const void* channel) noexcept;
  [[nodiscard]] std::int64_t clock_ns() noexcept;
  void flush_stores() noexcept { current_->stores.write_all(); }
  void flush_all_stores() noexcept;
  [[nodiscard]] bool buffers_stores() const noexcept { return how_.buffers_stores; }
  void hold(const void* mutex) {
    if (is_protected(mutex)) current_->held.push_back(mutex);
  }
  void give(const void* mutex) noexcept {
    if (current_->held.empty()) return;
    std::erase(current_->held, mutex);
    if (!to_kill_.empty()) run_left_ = 0;  // whoever holds nothing any more dies at the next seam
  }

  // ---- threads
  /// It begins with `first`, which is given the record.
  thread_record& add_thread(void* (*first)(void*), void* (*work)(void*), void* argument);
  /// First thing in it.
  void enter(thread_record& self) noexcept { show_if_asked(self); }
  /// Last thing in it: another one runs.
  [[noreturn]] void leave() noexcept;
  [[nodiscard]] thread_record* find(pthread_t handle) noexcept;
  [[nodiscard]] thread_record& current() noexcept { return *current_; }
  /// Threads that the calling one starts belong to `node`; gives the node before.
  int start_for(int node) noexcept;

  // ---- faults
  /// A process must not be killed while it holds this mutex, which others use, too. So it is with global ones.
  void protect(const void* mutex) { protected_.push_back(mutex); }
  /// None of the node's threads runs any more, from the next seam at which that can be on.
  void kill(int node) noexcept;
  void kill_after(int node, std::uint64_t seams) noexcept;
  /// For who holds a protected mutex: when that is given back.
  void kill_when_given_back(int node) { to_kill_.push_back(node); }
  [[nodiscard]] bool any_killed() const noexcept { return !killed_.empty(); }
  /// The node's threads do not run for so long.
  void stop(int node, std::int64_t duration_ns);
  /// The next node that was killed, behind the first `seen`, which counts it; blocks until there is one.
  [[nodiscard]] int await_killed(std::size_t& seen) noexcept;

  // ---- watching
  /// The workload has come on.
  void note_progress() noexcept {
    progress_ns_ = now_ns_;
    progress_hand_over_ = hand_overs_;
  }
  /// When it last has.
  [[nodiscard]] std::int64_t progress_ns() const noexcept { return progress_ns_; }
  void note(std::uint64_t event) noexcept { hash_ = (hash_ ^ event) * 0x100000001b3U; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t hand_overs() const noexcept { return hand_overs_; }
  [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }
  [[nodiscard]] random_source& random() noexcept { return random_; }
  [[nodiscard]] bool is_stopped(int node) const noexcept;
  [[noreturn]] void fail(const std::string& what) noexcept;
  /// Threads of a node that have not ended.
  [[nodiscard]] std::size_t living_threads(int node) const noexcept;

  static constexpr std::int64_t timeout_ns = 100'000'000'000;  ///< without progress
  static constexpr std::uint64_t max_hand_overs =
      20'000'000;  ///< without progress: threads may poll beside a long function

 private:
  static constexpr int max_loads = 48;  ///< without a change
  static constexpr std::size_t channel_places = 256;
  [[nodiscard]] static std::size_t place_of(const void* channel) noexcept {
    return (reinterpret_cast<std::uintptr_t>(channel) >> 3U) % channel_places;
  }
  [[nodiscard]] bool is_protected(const void* mutex) const noexcept {
    return is_global(mutex) || std::find(protected_.begin(), protected_.end(), mutex) != protected_.end();
  }
  /// It is a variable of the program, of which each process would have its own.
  [[nodiscard]] static bool is_global(const void* what) noexcept;
  void hand_on(seam kind) noexcept;
  void switch_to(thread_record& next) noexcept;
  void show_if_asked(thread_record& self) noexcept;
  thread_record& choose() noexcept;
  [[nodiscard]] thread_record* choose_now() noexcept;
  void let_time_pass() noexcept;
  void begin_run() noexcept;
  void change(thread_record& one, thread_record::state to) noexcept;
  void wake_all_of(const void* channel) noexcept;
  void wake(thread_record& one, bool timed_out) noexcept;
  void end_waits() noexcept;
  void carry_out_kills() noexcept;
  void show_threads() noexcept;

  const schedule how_;
  const failure_handler on_failure_;
  random_source random_;
  std::vector<thread_record*> threads_;
  std::vector<thread_record*> able_;  // to run, if their nodes are not stopped
  std::vector<thread_record*> blocked_;
  std::array<std::uint32_t, channel_places> waiting_on_{};  // how many of these, by channel
  std::int64_t first_timeout_ns_ = never;                   // of these, or before
  thread_record* current_ = nullptr;
  std::int64_t run_left_ = 0;
  int loads_left_ = max_loads;
  std::int64_t now_ns_ = 1'000'000'000;
  std::int64_t progress_ns_ = 0;
  std::uint64_t hand_overs_ = 0;
  std::uint64_t progress_hand_over_ = 0;  ///< the last one before something came on
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  std::vector<const void*> protected_;
  std::vector<int> to_kill_;
  std::vector<int> killed_;
  struct later {
    int node;
    std::uint64_t at;  // hand-over
  };
  std::vector<later> to_kill_later_;
  std::vector<std::pair<int, std::int64_t>> stopped_;  // until when
  bool failing_ = false;
  char killed_channel_ = 0;
};

/// What a simulated process prints on stdout goes there, a line with its end at a time.
extern void (*on_printed)(std::string_view line);

/// The one that has control; nullptr: threads run as they like.
extern scheduler* running;
/// The calling thread's record, if the simulation has control; else nullptr.
extern thread_record* me;
[[nodiscard]] inline bool simulated() noexcept { return me != nullptr; }
/// While it lives, the calling thread does not belong to the simulation.
class outside {
 public:
  outside() noexcept : before_(std::exchange(me, nullptr)) {}
  ~outside() { me = before_; }
  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

 private:
  thread_record* before_;
};

}  // namespace ham::sim
