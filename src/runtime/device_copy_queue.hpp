// Copies between a device's memory and others that are under way: where they are staged, and how they end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "runtime/device_rows.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::detail {

/// What is done when a copy is over.
class device_access {
 public:
  virtual ~device_access() = default;
  /// `bytes`: of a load, what has been read. `failure`: what the device says against it; empty: it is done. Any thread,
  /// once, no lock held.
  virtual void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept = 0;
};

/// Several copies are under way at once, in the order in which they have begun. What is begun ends by itself: a thread
/// of the queue's polls for it, which sleeps while there is nothing. Who waits polls as well. All members may be called
/// from any thread.
class device_copy_queue {
 public:
  using direction = transport::device_copy::direction;

  /// Of `memory`, which outlives this. `on_asked` is called by the queue's thread, with no lock held, after ask().
  /// Throws ham::config_error if the memory has nothing to stage in.
  device_copy_queue(transport::device_memory& memory, std::function<void()> on_asked);
  /// Waits a moment for what is under way.
  ~device_copy_queue();
  device_copy_queue(const device_copy_queue&) = delete;
  device_copy_queue& operator=(const device_copy_queue&) = delete;

  /// The most bytes of one copy through staging memory.
  [[nodiscard]] std::size_t piece_bytes() const noexcept { return piece_bytes_; }
  /// Begins to copy at most piece_bytes() bytes through staging memory: what is at `from`, which may be changed on
  /// return, or to where `after` takes them. Waits while all staging memory is in use. Throws std::bad_alloc.
  void start_staged(const device_rows& where, direction which, const std::byte* from, std::size_t bytes,
                    std::unique_ptr<device_access> after);
  /// `start` begins copies of the memory, one thread at a time, and gives the number of the last one. Does not wait.
  /// Throws std::bad_alloc.
  template <class Start>
  void begin(std::unique_ptr<device_access> after, Start start) {
    std::list<started> fresh(1);
    fresh.front().after = std::move(after);
    guard locked(mutex_);
    fresh.front().last = start();
    add(locked, fresh);
  }
  /// Polls until it is true.
  template <class Done>
  void poll_until(Done done) noexcept {
    for (pause_between_polls pause; !done();) {
      if (poll())
        pause.reset();
      else
        pause.wait();
    }
  }
  /// Waits until all that has begun so far is over, well or not.
  void await_started() noexcept;
  /// Has the thread call `on_asked` soon: for what needs locks behind which those of the caller come.
  void ask() noexcept;
  /// What the device says against its copies.
  [[nodiscard]] std::string failure();

  /// In a child after fork: the thread is not here, and nothing ends any more.
  void detach_after_fork() noexcept;

 private:
  static constexpr std::size_t no_slot = SIZE_MAX;
  struct started {
    std::uint64_t last = 0;  ///< of its copies
    std::size_t slot = no_slot;
    std::size_t bytes = 0;
    std::unique_ptr<device_access> after;
  };
  using guard = std::unique_lock<std::mutex>;
  using pause_between_polls =
      base::backoff<base::backoff_schedule{.spins = 50, .yields = 50, .sleep_ns = 5'000, .max_sleep_ns = 20'000}>;

  /// Puts it behind the others, with its last copy begun.
  void add(guard& locked, std::list<started>& fresh) noexcept;
  [[nodiscard]] std::size_t take_slot(guard& locked);
  [[nodiscard]] std::byte* slot_at(std::size_t slot) const noexcept { return staging_.data() + slot * piece_bytes_; }
  /// Ends what is over; whether there was any.
  bool poll() noexcept;
  void run() noexcept;

  transport::device_memory& memory_;
  const std::function<void()> on_asked_;
  const std::span<std::byte> staging_;
  const std::size_t piece_bytes_;

  std::mutex mutex_;  // guards what follows, and memory_ where that takes one thread at a time
  std::condition_variable news_;
  std::list<started> started_;  // in the order of their copies
  std::vector<std::size_t> free_slots_;
  bool asked_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ham::detail
