// How much a node has set aside for later: calls for busy contexts, and calls that wait for their turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::detail {

/// Thread-safe.
class backlog {
 public:
  /// More than honest nodes can have pending, which are bounded by their tables of pending calls.
  static constexpr std::size_t max_messages = std::size_t{4} << 20;

  void limit(std::size_t bytes) noexcept { max_bytes_ = bytes; }
  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }

  /// False: there is no room for a message of so many bytes.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    const std::size_t all = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const std::size_t count = messages_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (all <= max_bytes_ && count <= max_messages) return true;
    give(bytes);
    return false;
  }
  void give(std::size_t bytes) noexcept {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    messages_.fetch_sub(1, std::memory_order_seq_cst);
  }
  /// Who sends without waiting for answers had better stop. The rest is room for what is under way.
  [[nodiscard]] bool filling() const noexcept { return over(3); }
  /// They may go on.
  [[nodiscard]] bool draining() const noexcept { return !over(2); }

 private:
  [[nodiscard]] bool over(std::size_t quarters) const noexcept {
    return messages_.load(std::memory_order_seq_cst) > max_messages / 4 * quarters ||
           bytes_.load(std::memory_order_relaxed) > max_bytes_ / 4 * quarters;
  }

  std::size_t max_bytes_ = SIZE_MAX;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> messages_{0};
};

}  // namespace ham::detail
