// Locks in a child after fork.
#pragma once

#include <new>

namespace ham::inline v1::base {

/// Makes `what` anew in its place. The old one may be locked, or waited for, by a thread that does not exist here: it
/// is not destroyed.
template <class T>
void renew(T& what) {
  ::new (static_cast<void*>(&what)) T;
}

}  // namespace ham::base
