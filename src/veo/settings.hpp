// Variables of the environment that libveo and its helper read: the only place of theirs that does.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ham::inline v1::veo {

/// nullptr: not set, or empty.
[[nodiscard]] const char* variable(const char* name) noexcept;
/// Whether it is set, be it empty.
[[nodiscard]] bool has_variable(const char* name) noexcept;
/// One that names programs, code or machines. Throws ham::config_error if it is set in a program with privileges that
/// its caller lacks.
[[nodiscard]] const char* trusted_variable(const char* name);

/// The cores that this process may use, in ascending order.
[[nodiscard]] std::vector<int> usable_cores();
/// VE_CORE_NUMBER, an index into usable_cores; nothing: it is not set. Throws ham::config_error if it is none.
[[nodiscard]] std::optional<std::size_t> core_number();

}  // namespace ham::veo
