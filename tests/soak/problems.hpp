// What is wrong: told at once, and the run ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace soak {

/// Prints it and makes the run fail. Any thread.
void report(const std::string& what);
[[nodiscard]] std::uint64_t problems() noexcept;

/// Set by whoever ends the run.
inline std::atomic<bool> over{false};

/// A line for soak.py: "soak KIND {json}".
void emit(const std::string& kind, const std::string& json);
/// As a string of JSON.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace soak
