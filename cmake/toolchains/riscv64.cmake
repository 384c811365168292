# 64-bit RISC-V: g++-riscv64-linux-gnu and qemu-user-static of Debian.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(HAM_CROSS_TRIPLE riscv64-linux-gnu)
set(HAM_CROSS_QEMU riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
