// How long who fills a pool sleeps while its nodes have work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::offload::detail {

/// Where more threads are busy than there are cores, one that polls until there is room again has the core of the tasks
/// that it waits for: with as many nodes as cores, up to half of them. It sleeps instead, for about as long as two
/// thirds of the tasks take that the pool has room for, so that none of the nodes runs out of them; nobody wakes it up,
/// which would cost more than a short task. Not thread-safe.
class pool_naps {
 public:
  static constexpr std::int64_t min_ns = 20'000;
  static constexpr std::int64_t max_ns = 1'000'000;
  static constexpr std::size_t min_room = 16;  ///< with less, nodes run out of tasks meanwhile
  static constexpr unsigned waits_between_trials = 64;

  /// All places are taken, and nothing has arrived. `ended`: tasks, since the pool was made; `room`: for how many there
  /// is. How long to sleep before the usual wait, which does not leave the core alone; 0: not at all.
  [[nodiscard]] std::int64_t next_ns(std::uint64_t ended, std::size_t room) noexcept {
    if (room < min_room) return 0;
    const std::uint64_t since = ended - ended_;
    ended_ = ended;
    if (left_out_ != 0) {
      --left_out_;
      return 0;
    }
    if (nap_ns_ == 0) return nap_ns_ = min_ns;
    const bool all_idle = 4 * since >= 3 * room;
    const bool few = 16 * since < room;
    // None, or few in the longest nap: tasks that take long, for which the usual wait sleeps as well, or that wait for
    // this very thread.
    if (since == 0 || (few && nap_ns_ == max_ns) || (all_idle && nap_ns_ == min_ns)) {
      left_out_ = waits_between_trials;
      nap_ns_ = 0;
    } else if (all_idle) {
      nap_ns_ = std::max(min_ns, nap_ns_ - nap_ns_ / 4);
    } else if (3 * since < 2 * room) {
      nap_ns_ = std::min(max_ns, few ? 4 * nap_ns_ : nap_ns_ + nap_ns_ / 2);
    }
    return nap_ns_;
  }

 private:
  std::uint64_t ended_ = 0;  ///< at the last wait
  std::int64_t nap_ns_ = 0;  ///< the last one; 0: there was none
  unsigned left_out_ = 0;    ///< waits
};

}  // namespace ham::offload::detail
