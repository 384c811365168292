// Whether it pays for a node to keep to its core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ham::inline v1::base {

/// Decides from what the kernel says of the machine and of the node's wake-ups. One thread.
class home_policy {
 public:
  static constexpr double crowd = 3;                          ///< runnable threads per core, from which on nodes let go
  static constexpr std::int64_t late_ns = 500'000;            ///< mean delay of wake-ups that somebody else causes
  static constexpr unsigned wakes_judged = 8;                 ///< at a time
  static constexpr std::int64_t shortest_ns = 1'000'000'000;  ///< for which a node lets go
  static constexpr std::int64_t max_ns = 64 * shortest_ns;

  /// `cores`: all of the machine, as `running` below counts all of its threads.
  explicit home_policy(unsigned cores) noexcept : cores_(std::max(1U, cores)) {}

  [[nodiscard]] bool keeps(std::int64_t now) const noexcept { return now >= free_until_; }

  /// `running` threads of the machine, the asking one among them, want a core at this moment. With several for each
  /// core two nodes that stay apart seldom run at the same time: each waits for the other's turn. Where the kernel puts
  /// them together, one hands its turn to the other.
  void count_running(unsigned running, std::int64_t now) noexcept {
    running_ = running_ < 0 ? running : running_ + (running - running_) / 8;
    if (running_ > crowd * cores_) let_go(now, shortest_ns);
  }

  /// The node was woken on its core and waited for it for `delay_ns`. If others keep it waiting there while there are
  /// cores that nobody uses, it had better go to one of those.
  void count_wake(std::int64_t delay_ns, std::int64_t now) noexcept {
    delays_ns_ += delay_ns;
    if (++wakes_ < wakes_judged) return;
    const bool late = delays_ns_ / wakes_ > late_ns;
    wakes_ = 0;
    delays_ns_ = 0;
    if (!late)
      pause_ns_ = shortest_ns;
    else if (running_ >= 0 && running_ <= cores_)
      let_go(now, std::exchange(pause_ns_, std::min(2 * pause_ns_, max_ns)));
  }

 private:
  void let_go(std::int64_t now, std::int64_t for_ns) noexcept { free_until_ = std::max(free_until_, now + for_ns); }

  const unsigned cores_;
  double running_ = -1;  // smoothed; negative: not known
  unsigned wakes_ = 0;
  std::int64_t delays_ns_ = 0;
  std::int64_t free_until_ = INT64_MIN;
  std::int64_t pause_ns_ = shortest_ns;
};

}  // namespace ham::base
