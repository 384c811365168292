// Which loaded files kernels may come from.
#pragma once

#include <string>

struct link_map;

namespace ham::inline v1::mpix {

/// Opens a library, or finds it open already, and offers its functions as kernels, for as long as the process lives. A
/// name without a slash is looked for as the loader does. The loader's text if that fails, else empty.
[[nodiscard]] std::string offer_library(const char* name);

struct found_function {
  void* address = nullptr;
  link_map* file = nullptr;
  std::string elsewhere;  ///< if there is none: a file that has a function of that name but offers no kernels
};

/// The function of that name in the program, in a library that was offered, or in one whose author has registered it
/// with MPIX_KERNEL. A caller must not reach what the system's libraries hold. Throws refusal for a variable.
[[nodiscard]] found_function find_function(const std::string& name);

}  // namespace ham::mpix
