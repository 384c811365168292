# z/Architecture, big-endian: g++-s390x-linux-gnu and qemu-user-static of Debian.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(HAM_CROSS_TRIPLE s390x-linux-gnu)
set(HAM_CROSS_QEMU s390x)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
