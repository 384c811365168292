// For how many tasks of a node a pool has room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::offload::detail {

/// As many as the program has set; or few, so that tasks which take long are shared out evenly, and more of those that
/// are so short that nodes would work off all that they have before the thread that fills the pool gets a core again.
/// Not thread-safe.
class pool_room {
 public:
  static constexpr std::size_t few = 32;
  static constexpr std::size_t many = 256;
  static constexpr std::int64_t work_ns = 2'560'000;  ///< of a node; a scheduler's slices are about as long

  /// 0: it is chosen.
  explicit pool_room(std::size_t set) noexcept : chosen_(set == 0), of_node_(set == 0 ? few : set) {}

  [[nodiscard]] std::size_t of_node() const noexcept { return of_node_; }
  /// Who fills the pool finds no room on any of `nodes`. `ended`: tasks, since the pool was made. True: there is more
  /// room now.
  bool adapt(std::uint64_t ended, std::size_t nodes, std::int64_t now_ns) noexcept {
    if (!chosen_) return false;
    const std::uint64_t since = ended - ended_;
    const std::int64_t time_ns = now_ns - at_ns_;
    if (2 * since < of_node_ * nodes && time_ns < work_ns) return false;
    ended_ = ended;
    at_ns_ = now_ns;
    const std::size_t before = of_node_;
    const double of_one = static_cast<double>(since) / static_cast<double>(std::max<std::size_t>(nodes, 1));
    const double wanted = of_one * work_ns / static_cast<double>(std::max(time_ns, std::int64_t{1}));
    of_node_ = wanted < few ? few : wanted < many ? static_cast<std::size_t>(wanted) : many;
    return of_node_ > before;
  }
  /// Who fills the pool has a core of its own.
  void be_few() noexcept {
    if (chosen_) of_node_ = few;
  }
  /// The pool is empty: nobody knows how long tasks to come take.
  void start_anew() noexcept {
    be_few();
    at_ns_ = 0;
  }

 private:
  const bool chosen_;
  std::size_t of_node_;
  std::uint64_t ended_ = 0;  // when that was counted last
  std::int64_t at_ns_ = 0;   // 0: nobody has counted
};

}  // namespace ham::offload::detail
