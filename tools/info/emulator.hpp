// The emulator that runs a binary of another instruction set here.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1::info {

/// Program and arguments to put in front of `binary`; empty if the machine runs it by itself, if the file is none of
/// ELF's, or if there is no emulator to be found (qemu-user in PATH, with the libraries of Debian's cross compilers).
[[nodiscard]] std::vector<std::string> emulator_for(const std::string& binary);

}  // namespace ham::info
