# What the toolchain files beside this one share: Debian's cross compiler for HAM_CROSS_TRIPLE, and qemu-user to run what
# it builds.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${HAM_CROSS_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${HAM_CROSS_TRIPLE}-g++)
# Where packages of that architecture are installed too, the loader would take their C library, not the cross compiler's.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${HAM_CROSS_QEMU}-static -L /usr/${HAM_CROSS_TRIPLE} -E LD_LIBRARY_PATH=/lib)

set(CMAKE_FIND_ROOT_PATH /usr/${HAM_CROSS_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Packages of that architecture, which Debian installs beside those of this one: pkg-config and CMake must find these, never the
# building machine's. Headers that all architectures share are in /usr/include, where the compiler looks anyway.
set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/${HAM_CROSS_TRIPLE}/pkgconfig:/usr/${HAM_CROSS_TRIPLE}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
set(CMAKE_LIBRARY_ARCHITECTURE ${HAM_CROSS_TRIPLE})
if(EXISTS "/usr/lib/${HAM_CROSS_TRIPLE}/libssl.so" AND EXISTS "/usr/include/${HAM_CROSS_TRIPLE}/openssl")
  set(OPENSSL_INCLUDE_DIR "/usr/include" CACHE PATH "")
  set(OPENSSL_SSL_LIBRARY "/usr/lib/${HAM_CROSS_TRIPLE}/libssl.so" CACHE FILEPATH "")
  set(OPENSSL_CRYPTO_LIBRARY "/usr/lib/${HAM_CROSS_TRIPLE}/libcrypto.so" CACHE FILEPATH "")
endif()
