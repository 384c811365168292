// How the calls of a batch lie in its message: key, call id, size of the arguments, arguments; one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/wire.hpp"
#include "ham/msg/wire.hpp"

namespace ham::inline v1::detail {

[[nodiscard]] inline std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  return msg::detail::load_little<std::uint32_t>(bytes.data() + offset);
}

/// The first of a batch's records, which were checked when the message arrived.
struct batch_record {
  explicit batch_record(std::span<const std::byte> records) noexcept
      : key(word_at(records, 0)),
        call(word_at(records, 4)),
        arguments(records.subspan(record_head_bytes, word_at(records, 8))) {}

  [[nodiscard]] std::size_t size() const noexcept { return record_head_bytes + arguments.size(); }

  std::uint32_t key;
  std::uint32_t call;
  std::span<const std::byte> arguments;
};

/// How results of a batch lie in the message that answers it: call id, size and whether it is an error, the result.
constexpr std::size_t result_head_bytes = 8;
constexpr std::uint32_t failed_bit = 0x80000000;

/// The first of a message's results, which is `complete`.
struct batch_result {
  explicit batch_result(std::span<const std::byte> results) noexcept
      : call(word_at(results, 0)),
        failed((word_at(results, 4) & failed_bit) != 0),
        bytes(results.subspan(result_head_bytes, word_at(results, 4) & ~failed_bit)) {}

  [[nodiscard]] static bool complete(std::span<const std::byte> results) noexcept {
    return results.size() >= result_head_bytes &&
           results.size() - result_head_bytes >= (word_at(results, 4) & ~failed_bit);
  }
  [[nodiscard]] std::size_t size() const noexcept { return result_head_bytes + bytes.size(); }

  std::uint32_t call;
  bool failed;
  std::span<const std::byte> bytes;
};

}  // namespace ham::detail
