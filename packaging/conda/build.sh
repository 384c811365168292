#!/bin/sh
# Builds all of it once, for the three packages.
set -eu
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DHAM_BUILD_STATIC=OFF -DHAM_BUILD_TESTS=OFF -DHAM_BUILD_EXAMPLES=OFF \
  -DHAM_BUILD_BENCHMARKS=OFF -DHAM_MPI=OFF -DHAM_VEO=OFF -DHAM_IPSEC_MB=OFF
cmake --build build/conda --parallel "${CPU_COUNT:-1}"
