// Objects that live until the process has ended.
#pragma once

#include <cstddef>
#include <new>

namespace ham::inline v1::base {

/// The one T of the process for this `Tag`, made when it is first asked for and never destroyed: threads may still use
/// it while the process ends. It lies in static storage, by which the simulator knows that its locks are the process's,
/// which no node keeps when it is killed.
template <class T, class Tag = T>
[[nodiscard]] T& immortal() {
  alignas(T) static std::byte place[sizeof(T)];
  static T* const made = ::new (static_cast<void*>(place)) T;
  return *made;
}

}  // namespace ham::base
