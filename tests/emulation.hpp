// Whether this process runs under an emulator for another instruction set, which lacks some of Linux.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace ham::inline v1::test {

[[nodiscard]] inline bool emulated() {
  void* list = nullptr;
  std::size_t length = 0;
  return ::syscall(SYS_get_robust_list, 0, &list, &length) != 0;
}

}  // namespace ham::test
