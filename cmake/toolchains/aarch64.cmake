# 64-bit Arm: g++-aarch64-linux-gnu and qemu-user-static of Debian.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(HAM_CROSS_TRIPLE aarch64-linux-gnu)
set(HAM_CROSS_QEMU aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
