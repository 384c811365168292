// Tracks for slices that overlap each other: each goes to the first one that is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ham::inline v1::trace {

class lanes {
 public:
  explicit lanes(std::size_t max_lanes) noexcept : max_lanes_(max_lanes) {}

  /// The lane of a slice that begins no earlier than the one before. nullopt: all are occupied.
  [[nodiscard]] std::optional<std::size_t> place(std::int64_t begin, std::int64_t end) {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      if (ends_[i] > begin) continue;
      ends_[i] = end;
      return i;
    }
    if (ends_.size() == max_lanes_) return std::nullopt;
    ends_.push_back(end);
    return ends_.size() - 1;
  }
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

 private:
  std::size_t max_lanes_;
  std::vector<std::int64_t> ends_;
};

}  // namespace ham::trace
