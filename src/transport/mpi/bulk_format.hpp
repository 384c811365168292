// How a rank asks for put and get, and under which tags the answers and the bytes travel.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "transport/mpi/frame_format.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::mpi {

enum class bulk_verb : std::uint8_t { put = 1, get };

/// Words travel little-endian.
struct bulk_request {
  std::uint64_t verb, id, address, tag, size;

  [[nodiscard]] static bulk_request little_endian(bulk_request text) noexcept {
    if constexpr (std::endian::native == std::endian::big) {
      for (std::uint64_t* word : {&text.verb, &text.id, &text.address, &text.tag, &text.size})
        *word = __builtin_bswap64(*word);
    }
    return text;
  }
};
static_assert(sizeof(bulk_request) == 40);

/// Of another length or verb: nothing.
[[nodiscard]] inline std::optional<bulk_request> read_request(std::span<const std::byte> bytes) noexcept {
  bulk_request text{};
  if (bytes.size() != sizeof text) return std::nullopt;
  std::memcpy(&text, bytes.data(), sizeof text);
  text = bulk_request::little_endian(text);
  if (text.verb != static_cast<std::uint64_t>(bulk_verb::put) &&
      text.verb != static_cast<std::uint64_t>(bulk_verb::get))
    return std::nullopt;
  return text;
}

/// An answer is one byte, an access_result. Others count as lost.
[[nodiscard]] constexpr access_result read_answer(std::byte text) noexcept {
  const auto value = static_cast<access_result>(text);
  return value < access_result::lost ? value : access_result::lost;
}

/// Two ranks may use the same numbers for what they ask of each other: bytes of a put and of a get have tags of their
/// own, because both may go the same way.
[[nodiscard]] constexpr int data_tag(bulk_verb verb, std::uint64_t id) noexcept {
  return first_bulk_tag + tags_per_transfer * static_cast<int>(id % bulk_tags) + (verb == bulk_verb::put ? 0 : 1);
}
[[nodiscard]] constexpr int answer_tag(std::uint64_t id) noexcept { return data_tag(bulk_verb::put, id) + 2; }

}  // namespace ham::transport::mpi
