// Variables of the environment that libveo and its helper read: the only place of theirs that does.
#pragma once

namespace ham::veo {

/// nullptr: not set, or empty.
[[nodiscard]] const char* variable(const char* name) noexcept;
/// Whether it is set, be it empty.
[[nodiscard]] bool has_variable(const char* name) noexcept;
/// One that names programs, code or machines. Throws ham::config_error if it is set in a program with privileges that
/// its caller lacks.
[[nodiscard]] const char* trusted_variable(const char* name);

}  // namespace ham::veo
