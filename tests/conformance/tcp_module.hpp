// Loads the tcp module as applications do.
#pragma once

#include <dlfcn.h>

#include <stdexcept>

#include "transport/network.hpp"

namespace ham::inline v1::transport {

inline network_module& tcp_module() {
  static network_module* const loaded = [] {
    void* const library = ::dlopen(HAM_TCP_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    const auto entry = reinterpret_cast<network_module_entry>(::dlsym(library, "ham_network_module"));
    network_module* const made = entry == nullptr ? nullptr : entry(module_interface);
    if (made == nullptr) throw std::runtime_error("the tcp module has another interface");
    return made;
  }();
  return *loaded;
}

}  // namespace ham::transport
