# Everything here is optional. The library needs the C++ standard library and POSIX only.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Some processors have no instructions for atomic bytes, and GCC calls a library then (RISC-V, before GCC 13).
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <atomic>
  std::atomic<unsigned char> byte; int main() { return byte.exchange(1); }" HAM_ATOMIC_BYTES_INLINE)
set(ham_atomic_library "")
if(NOT HAM_ATOMIC_BYTES_INLINE)
  set(ham_atomic_library atomic)
endif()

option(HAM_GOOGLETEST_SOURCES "Build GoogleTest from /usr/src/googletest, as cross builds do" ${CMAKE_CROSSCOMPILING})
include(HamCrossDependencies)

function(ham_report_absence found name effect package)
  if(NOT found)
    message(STATUS "ham: ${name} not found: ${effect} (Debian: ${package})")
  endif()
endfunction()

find_package(OpenSSL 3.0 QUIET)
ham_report_absence("${OPENSSL_FOUND}" "OpenSSL 3" "the tcp module has no security: loopback addresses only" libssl-dev)

# Intel's Multi-Buffer Crypto for IPsec Library: looked for again at run time, as libIPSec_MB.so.1.
option(HAM_IPSEC_MB "Encrypt TLS with intel-ipsec-mb where it is found" ON)
set(ham_ipsec_mb OFF)
if(HAM_IPSEC_MB AND OpenSSL_FOUND AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  find_path(HAM_IPSEC_MB_INCLUDE_DIR intel-ipsec-mb.h)
  mark_as_advanced(HAM_IPSEC_MB_INCLUDE_DIR)
  if(HAM_IPSEC_MB_INCLUDE_DIR)
    file(STRINGS "${HAM_IPSEC_MB_INCLUDE_DIR}/intel-ipsec-mb.h" ham_ipsec_mb_1
         REGEX "^#define +IMB_VERSION_NUM +0x1[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]$")
    if(ham_ipsec_mb_1)
      set(ham_ipsec_mb ON)
    endif()
  endif()
  ham_report_absence("${ham_ipsec_mb}" "intel-ipsec-mb 1" "TLS encrypts with OpenSSL alone, more slowly"
                     libipsec-mb-dev)
endif()

include(HamMpi)
if(HAM_MPI)
  ham_report_absence("${HAM_MPIS}" "MPI" "the mpi transport and MPI kernels are off" "libopenmpi-dev, libmpich-dev")
endif()

if(HAM_CUDA AND NOT CMAKE_CROSSCOMPILING)
  find_package(CUDAToolkit 12 QUIET)
  if(NOT TARGET CUDA::cudart_static)
    set(CUDAToolkit_FOUND OFF)
  endif()
  ham_report_absence("${CUDAToolkit_FOUND}" "CUDA 12" "the cuda transport is off" nvidia-cuda-toolkit)
else()
  set(CUDAToolkit_FOUND OFF)
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(HAM_LIBFFI QUIET IMPORTED_TARGET libffi)
endif()
ham_report_absence("${HAM_LIBFFI_FOUND}" "libffi" "VEO and MPI kernels are off" libffi-dev)

if(HAM_BUILD_TESTS)
  if(HAM_GOOGLETEST_SOURCES)
    ham_googletest_from_sources()
  else()
    find_package(GTest QUIET)
  endif()
  ham_report_absence("${GTest_FOUND}" "GoogleTest" "unit, conformance and multi-process tests are off" libgtest-dev)
endif()

if(HAM_BUILD_TOOLS)
  find_package(CLI11 QUIET)
  if(CMAKE_CROSSCOMPILING)
    ham_cross_headers(CLI11 CLI11::CLI11 CLI)
  endif()
  ham_report_absence("${CLI11_FOUND}" "CLI11" "ham-bench, ham-run, ham-top and ham-trace are off" libcli11-dev)
  find_package(nlohmann_json QUIET)
  if(CMAKE_CROSSCOMPILING)
    ham_cross_headers(nlohmann_json nlohmann_json::nlohmann_json nlohmann)
  endif()
  ham_report_absence("${nlohmann_json_FOUND}" "nlohmann-json" "ham-bench has no --json" nlohmann-json3-dev)
endif()
