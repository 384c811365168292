// No exception leaves a C function.
#pragma once

#include <errno.h>

#include <exception>
#include <new>

#include "log.hpp"

namespace ham::inline v1::veo {

/// What `work` returns, or `failure` and an errno if it throws.
template <class T, class Work>
T guarded(T failure, Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  } catch (const std::exception& problem) {
    say(problem.what());
    errno = EIO;
  }
  return failure;
}

/// `failure` with this errno.
template <class T>
T fail(int error, T failure) noexcept {
  errno = error;
  return failure;
}

}  // namespace ham::veo
