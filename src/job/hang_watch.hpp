// When a node that has not answered its oldest call counts as one that hangs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace ham::inline v1::detail {

/// Of one process. Is asked now and then: a call is as old as the time for which it has been seen to be the oldest.
class hang_watch {
 public:
  /// A sign of life that is none of its answers.
  void beat(std::int64_t now_ns) noexcept { last_sign_ns_ = std::max(last_sign_ns_, now_ns); }
  /// `pieces` of long messages have arrived so far. Heartbeats are queued behind those of the same message: while it
  /// arrives, each piece is a sign.
  void see_pieces(std::uint64_t pieces, std::int64_t now_ns) noexcept {
    if (std::exchange(pieces_, pieces) != pieces) beat(now_ns);
  }
  /// Another process is watched.
  void restart() noexcept { oldest_.reset(); }
  /// `oldest`: the id of the oldest call that is to be answered, if there is one. True: it has been that for longer
  /// than `limit_ns`, and there has been no other sign of life as long.
  [[nodiscard]] bool overdue(std::optional<std::uint32_t> oldest, std::int64_t now_ns, std::int64_t limit_ns) noexcept {
    if (oldest != oldest_) {
      oldest_ = oldest;
      beat(now_ns);
    }
    return oldest_.has_value() && now_ns - last_sign_ns_ > limit_ns;
  }

 private:
  std::optional<std::uint32_t> oldest_;
  std::uint64_t pieces_ = 0;
  std::int64_t last_sign_ns_ = INT64_MIN / 2;
};

}  // namespace ham::detail
