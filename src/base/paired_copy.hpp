// Copies that are quicker than one processor core can make them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

namespace ham::inline v1::base {

/// A thread that copies half of what its owner copies. One core does not keep up with a GPU's link.
class paired_copy {
 public:
  /// Without cores for a second thread, or without the thread, copy() is memcpy.
  explicit paired_copy(unsigned cores);
  ~paired_copy();
  paired_copy(const paired_copy&) = delete;
  paired_copy& operator=(const paired_copy&) = delete;

  /// As memcpy; waits for both halves. Any thread: while another one is in here, it is memcpy.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

 private:
  static constexpr unsigned min_cores = 4;  ///< two copy, one receives, one has the other process
  static constexpr std::size_t min_bytes = std::size_t{256} << 10;

  void work() noexcept;

  // Of the half that is copied next, and how many have been.
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t bytes_ = 0;  // 0: it ends
  std::atomic<unsigned> begun_{0};
  std::atomic<unsigned> done_{0};
  std::mutex mutex_;
  std::thread thread_;
};

}  // namespace ham::base
