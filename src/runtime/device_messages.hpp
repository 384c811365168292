// What becomes of the messages of device functions on the host: lines of text, and calls of functions.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "ham/device/offloading.hpp"
#include "ham/device/outbox.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// The text of a printed line, without its end. What cannot be read ends it.
[[nodiscard]] std::string printed_text(std::span<const std::byte> parts);

/// Lets a line of a kind pass now and then, where there may be thousands. Any thread.
class line_limiter {
 public:
  static constexpr std::int64_t interval_ns = 1'000'000'000;
  /// How many were held back since the last one that has passed; none: this one is held back, too.
  [[nodiscard]] std::optional<std::uint64_t> pass(std::int64_t now_ns) noexcept;

 private:
  std::mutex mutex_;
  std::int64_t next_ns_ = INT64_MIN;
  std::uint64_t held_back_ = 0;
};

/// One that was taken from the queue of a block.
struct device_message {
  std::uint32_t function = 0;
  node_t node = 0;
  device::detail::answer_place answer{};
  std::uint32_t size = 0;  ///< of the arguments
  alignas(device::detail::max_alignment) std::byte arguments[device::detail::max_message];
};

/// Prints it, or starts the call that it asks for; may wait for either. Does not throw: a function that awaits an
/// answer sees that the call has failed; else stderr tells it, at most once a second.
void execute_device_message(engine& at, const device_message& what) noexcept;

}  // namespace ham::detail
