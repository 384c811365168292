// Functions of clients that are told of memory: one per function of the API.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::veo {

struct hook {
  void (*function)(void*, ...) = nullptr;
  void* payload = nullptr;
  explicit operator bool() const noexcept { return function != nullptr; }
};

/// The hook of an API function, by its address.
[[nodiscard]] hook hook_of(const void* function);

template <class Function>
[[nodiscard]] hook hook_of(Function* function) {
  return hook_of(reinterpret_cast<const void*>(function));
}

}  // namespace ham::veo
