// Finds and loads the libraries in which modules are.
#pragma once

#include <cstdint>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::transport {

/// What `symbol` names in the library `file`, which stays loaded. A name without a slash is looked for in the folders
/// of HAM_MODULE_PATH, beside the library and below it in ham/, beside the program, and where the system searches;
/// never in a folder relative to the current one. A privileged program takes only what nobody but root can replace.
/// nullptr: the library has no such symbol. Throws ham::config_error that says where it was looked for; `what` is named
/// in it.
[[nodiscard]] void* find_in_module(const std::string& what, const std::string& file, const char* symbol);

/// The module of a library whose function `symbol` gives it. Throws ham::config_error.
template <class Entry>
[[nodiscard]] auto* open_module(const std::string& what, const std::string& file, const char* symbol,
                                std::uint32_t interface_version) {
  const auto entry = reinterpret_cast<Entry>(find_in_module(what, file, symbol));
  auto* const module = entry == nullptr ? nullptr : entry(interface_version);
  if (module == nullptr) {
    throw config_error("the module " + file + " is of another release of HAM; install both from the same one");
  }
  return module;
}

}  // namespace ham::transport
