# Little-endian 64-bit POWER: g++-powerpc64le-linux-gnu and qemu-user-static of Debian.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(HAM_CROSS_TRIPLE powerpc64le-linux-gnu)
set(HAM_CROSS_QEMU ppc64le)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
