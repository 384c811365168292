#include "base/paired_copy.hpp"

#include <cstring>
#include <exception>

#include "base/backoff.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::base {

paired_copy::paired_copy(unsigned cores) {
  if (cores < min_cores) return;
  try {
    thread_ = start_thread([this] { work(); });
  } catch (const std::exception&) {  // it goes without
  }
}

paired_copy::~paired_copy() {
  if (!thread_.joinable()) return;
  bytes_ = 0;
  begun_.fetch_add(1, std::memory_order_release);
  begun_.notify_one();
  thread_.join();
}

void paired_copy::work() noexcept {
  for (unsigned done = 0;;) {
    backoff<backoff_schedule{.spins = 2000}> pause;
    while (begun_.load(std::memory_order_acquire) == done && pause.next() == decltype(pause)::step::spin) pause.wait();
    begun_.wait(done, std::memory_order_acquire);
    if (bytes_ == 0) return;
    std::memcpy(to_, from_, bytes_);
    done_.store(++done, std::memory_order_release);
  }
}

void paired_copy::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const std::unique_lock alone(mutex_, std::try_to_lock);
  if (bytes < min_bytes || !thread_.joinable() || !alone) {
    std::memcpy(to, from, bytes);
    return;
  }
  constexpr std::size_t line = 64;
  const std::size_t half = bytes / 2 / line * line;
  to_ = to + half;
  from_ = from + half;
  bytes_ = bytes - half;
  const unsigned mine = begun_.fetch_add(1, std::memory_order_release) + 1;
  begun_.notify_one();
  std::memcpy(to, from, half);
  for (backoff<backoff_schedule{.spins = 2000}> pause; done_.load(std::memory_order_acquire) != mine;) pause.wait();
}

}  // namespace ham::base
