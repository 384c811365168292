// Files with programs: finding one as a shell would, and telling for which processor it is.
#pragma once

#include <string>

namespace ham::inline v1::base {

/// The file that `name` starts: itself if it has a slash, else the first match in PATH. Throws ham::config_error if
/// there is none, or none that this user may execute.
[[nodiscard]] std::string find_program(const std::string& name);

/// The processor that an ELF file was built for, like "aarch64" or "s390x"; empty for other files.
[[nodiscard]] std::string elf_machine(const std::string& path);

/// Whether this program was linked with -static: a library that it loads would bring a second C library with it.
[[nodiscard]] bool is_fully_static() noexcept;

}  // namespace ham::base
