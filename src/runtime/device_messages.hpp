// What becomes of the messages of device functions on the host: lines of text, and calls of functions.
#pragma once

#include <span>
#include <string>

#include "ham/device/outbox.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v0::detail {

/// The text of a printed line, without its end. What cannot be read ends it.
[[nodiscard]] std::string printed_text(std::span<const std::byte> parts);

/// Prints it, or starts the call that it asks for. Does not throw: what cannot be done is told on stderr.
void execute_device_message(engine& at, const device::detail::message_slot& what) noexcept;

}  // namespace ham::detail
