// Exceptions on their way from a target to the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "ham/error.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// Bytes of the exception that is being handled. If there are more than `max_bytes`: shortened, to 64 KiB or less; then
/// standard types whose text is all that they have keep their type, others arrive as ham::remote_error.
[[nodiscard]] std::vector<std::byte> encode_current_exception(std::uint64_t max_bytes = UINT64_MAX) noexcept;

/// Bytes of a ham::call_error.
[[nodiscard]] std::vector<std::byte> encode_call_error(const std::string& why, call_error_reason reason = {}) noexcept;

/// Stands for the result of a call that its node will not begin with: `why`, and ham::node_failure at the caller.
[[nodiscard]] std::vector<std::byte> encode_not_run(const std::string& why);

/// The exception again: standard and registered types as themselves, others as ham::remote_error.
/// Throws ham::protocol_error if the bytes are not those of an exception.
[[nodiscard]] std::exception_ptr decode_exception(std::span<const std::byte> bytes, const std::string& function,
                                                  const offload::node_descriptor::info& from);

/// "std::runtime_error: no more paper".
[[nodiscard]] std::string describe_exception(std::span<const std::byte> bytes) noexcept;

}  // namespace ham::detail
