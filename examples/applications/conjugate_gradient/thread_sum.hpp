// A sum over the threads of one process, each of which waits without sleeping.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace cg {

/// All threads begin their sums in the same order; all get the same bits.
class thread_sum {
 public:
  using values = std::array<double, 2>;

  explicit thread_sum(std::size_t threads) : parts_(threads) {}

  /// Blocks until all threads have handed in their parts.
  values sum(std::size_t thread, const values& part) {
    participant& own = parts_[thread];
    const std::uint64_t round = own.round.load(std::memory_order_relaxed) + 1;
    own.part[round % 2] = part;
    own.round.store(round, std::memory_order_release);
    values total{};
    for (const participant& one : parts_) {
      wait_for(one, round);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += one.part[round % 2][i];
    }
    return total;
  }

 private:
  /// Nobody is more than one sum ahead of another one: two places for parts are enough.
  struct alignas(64) participant {
    std::atomic<std::uint64_t> round{0};
    std::array<values, 2> part{};
  };

  static void wait_for(const participant& one, std::uint64_t round) {
    constexpr int polls = 10'000;  // then there are more threads than cores, perhaps
    for (int i = 0; one.round.load(std::memory_order_acquire) < round; ++i) {
      if (i >= polls) std::this_thread::yield();
    }
  }

  std::vector<participant> parts_;
};

}  // namespace cg
