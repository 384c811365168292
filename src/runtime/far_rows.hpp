// Messages that write and read rows in memory of the node that executes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ham/msg/codec.hpp"
#include "ham/msg/customise.hpp"
#include "ham/offload/call.hpp"
#include "runtime/device_accesses.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

/// A part of a block in this node's memory, as a message names it.
struct far_rows {
  std::uint64_t address, tag;
  std::uint64_t pitch, row_bytes;
  std::uint64_t from;  ///< of the packed bytes
  HAM_FIELDS(address, tag, pitch, row_bytes, from)
};

/// Throws ham::buffer_error unless the whole part is allowed: `count` packed bytes.
void check_part_here(engine& at, const far_rows& what, std::size_t count);

void store_rows_here(const far_rows& part, std::span<const std::byte> packed);
[[nodiscard]] std::vector<std::byte> load_rows_here(const far_rows& part, std::uint64_t bytes);

/// The same of a device's memory, without waiting for it. False: nothing is done (taking_policy).
[[nodiscard]] bool store_rows_later(incoming_call& call);
[[nodiscard]] bool load_rows_later(incoming_call& call);

template <class>
struct store_rows_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return store_rows_later(call); }
};
template <class>
struct load_rows_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return load_rows_later(call); }
};
/// What is called on the node whose memory it is.
inline constexpr auto storing_rows = with_policy<store_rows_on_device>(fn<&store_rows_here>);
inline constexpr auto loading_rows = with_policy<load_rows_on_device>(fn<&load_rows_here>);

}  // namespace ham::offload::detail
