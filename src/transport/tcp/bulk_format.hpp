// Requests and answers on a bulk lane (docs/wire-format.md). Pure functions over bytes.
#pragma once

#include <cstdint>
#include <span>

#include "transport/tcp/bytes.hpp"

namespace ham::inline v1::transport::tcp {

enum class bulk_verb : std::uint32_t {
  put = 1,    ///< the bytes follow the answer `go`, then a second answer
  get = 2,    ///< the bytes follow the answer `go`, then a second answer
  check = 3,  ///< nothing moves
};
enum class bulk_answer : std::uint32_t { go = 0, stale = 1, out_of_range = 2, unsupported = 3 };

/// A put of at most this size follows its request at once: the check comes when it is there, in a buffer.
inline constexpr std::size_t eager_bytes = std::size_t{64} << 10;
/// The owner checks its table of allocations again after this much of a transfer.
inline constexpr std::size_t piece_bytes = std::size_t{4} << 20;

struct bulk_request {
  bulk_verb verb = bulk_verb::check;
  std::uint64_t address = 0;
  std::uint64_t tag = 0;
  std::uint64_t size = 0;

  static constexpr std::size_t bytes = 32;
};
inline constexpr std::uint32_t bulk_magic = 0x424d4148;  // "HAMB"
inline constexpr std::size_t answer_bytes = 8;

inline void store_request(std::byte* to, const bulk_request& what) noexcept {
  store(to, bulk_magic);
  store(to + 4, static_cast<std::uint32_t>(what.verb));
  store(to + 8, what.address);
  store(to + 16, what.tag);
  store(to + 24, what.size);
}

[[nodiscard]] inline bool read_request(std::span<const std::byte, bulk_request::bytes> from,
                                       bulk_request& out) noexcept {
  const auto verb = load<std::uint32_t>(from.data() + 4);
  if (load<std::uint32_t>(from.data()) != bulk_magic || verb < 1 || verb > 3) return false;
  out = {static_cast<bulk_verb>(verb), load<std::uint64_t>(from.data() + 8), load<std::uint64_t>(from.data() + 16),
         load<std::uint64_t>(from.data() + 24)};
  return true;
}

inline void store_answer(std::byte* to, bulk_answer what) noexcept {
  store(to, bulk_magic);
  store(to + 4, static_cast<std::uint32_t>(what));
}

[[nodiscard]] inline bool read_answer(std::span<const std::byte, answer_bytes> from, bulk_answer& out) noexcept {
  const auto what = load<std::uint32_t>(from.data() + 4);
  if (load<std::uint32_t>(from.data()) != bulk_magic || what > 3) return false;
  out = static_cast<bulk_answer>(what);
  return true;
}

}  // namespace ham::transport::tcp
