#!/bin/sh
# Compiles what concerns GPUs, links the module and the programs: check-cuda.sh [--fetch]
# All .cu files are compiled for sm_80, sm_90 and sm_100, examples for sm_90. Warnings are errors. All cores compile. No device is needed: the
# driver is tested over a fake CUDA runtime (tests/transport/cuda/nvidia/driver). The resident kernel must not need more registers than
# blocks of 1024 threads have, and must not keep any in memory.
# Without nvcc it does nothing; --fetch then takes NVIDIA's packages from PyPI.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
architectures="80 90 100"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" > /dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then nvcc=/usr/local/cuda/bin/nvcc; fi
if ! command -v "$nvcc" > /dev/null && [ "${1:-}" = --fetch ]; then
  python3 -m venv "$out/python"
  "$out/python/bin/pip" install --quiet \
    'nvidia-cuda-nvcc==13.*' 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cccl==13.*' 'nvidia-nvvm==13.*' 'nvidia-cuda-crt==13.*'
  nvcc=$(find "$out/python" -path '*/bin/nvcc' | head -n 1)
fi
if ! command -v "$nvcc" > /dev/null; then
  echo "cuda: no nvcc, nothing is compiled"
  exit 0
fi
toolkit=$(CDPATH= cd -- "$(dirname -- "$(command -v "$nvcc")")/.." && pwd)
libraries=$toolkit/lib64
[ -d "$libraries" ] || libraries=$toolkit/lib

cxx=${CXX:-g++}
most_registers=64 # 65536 of a processor for 1024 threads
one="-gencode arch=compute_90,code=sm_90"
all=""
for architecture in $architectures; do
  all="$all -gencode arch=compute_$architecture,code=sm_$architecture"
done
for_device="$nvcc -std=c++20 --expt-relaxed-constexpr -Werror all-warnings -rdc=true -I$root/include"
for_host="$cxx -std=c++20 -O1 -fPIC -Wall -Wextra -Wpedantic -Werror -isystem $toolkit/include -I$root/include -I$root/src"
applications=$root/examples/applications
examples="-I$applications -I$applications/conjugate_gradient"
sparse=""
[ -e "$toolkit/include/cusparse.h" ] && sparse=-DGPU_BENCHMARK_CUSPARSE

# One command a line; the slowest first.
{
  # Sources that are for both compilers.
  for source in "$applications"/device_*/main.cpp; do
    echo "$for_device $one $examples -x cu -c $source -o $out/example_$(basename "$(dirname "$source")").o"
  done
  # It says what the kernel needs; a program for blocks of 1024 threads is compiled so.
  echo "$for_device $one --maxrregcount=$most_registers -x cu -c $root/examples/usage/device_function.cpp -o $out/example_device_function.o"
  for source in "$root"/tests/device/*.cu; do
    said=$out/device_$(basename "$source" .cu).said
    echo "$for_device $all -Xptxas -v -c $source -o $out/device_$(basename "$source" .cu).o > $said 2>&1 || { cat $said >&2; false; }"
  done
  for source in "$root"/benchmarks/gpu/*.cu; do
    echo "$for_device $all $examples $sparse -c $source -o $out/benchmark_$(basename "$source" .cu).o"
  done
  for source in "$root"/benchmarks/gpu/*.cpp; do
    echo "$for_host -c $source -o $out/benchmark_$(basename "$source" .cpp).o"
  done
  for source in "$root"/src/transport/cuda/nvidia/driver/*.cpp "$root/src/transport/cuda/nvidia/cuda_errors.cpp"; do
    echo "$for_host -fvisibility=hidden -c $source -o $out/module_$(basename "$source" .cpp).o"
  done
} > "$out/commands"
xargs -P "$(nproc)" -I '{}' sh -c '{} || exit 255' < "$out/commands"
count=$(wc -l < "$out/commands")

"$cxx" -shared -Wl,-z,defs -Wl,--version-script="$root/src/transport/cuda/nvidia/driver/exports.map" "$out"/module_*.o -L"$libraries" \
  -lcudart_static -ldl -lrt -lpthread -o "$out/libham_cuda.so"
# Device code of several sources, linked; what the library has is not there.
# shellcheck disable=SC2086
"$nvcc" -std=c++20 -rdc=true $all -dlink "$out"/device_*.o -o "$out/linked.o"
# By itself, for each architecture; and linked with functions, of which the one that needs most decides.
registers=$(awk -v most="$most_registers" '
  /Compiling entry function/ { on = /resident_kernel/; of = $NF; gsub(/\047/, "", of) }
  on && /spill/ && !/ 0 bytes spill stores, 0 bytes spill loads/ { print "the resident kernel spills registers for " of ":" $0; bad = 1 }
  on && /Used [0-9]+ registers/ {
    match($0, /Used [0-9]+/)
    used = substr($0, RSTART + 5, RLENGTH - 5)
    text = text (text == "" ? "" : ", ") of " " used
    if (used + 0 > most) { print "the resident kernel needs " used " registers for " of ", more than " most; bad = 1 }
    on = 0
    ++seen
  }
  END { if (seen != 3) { print "the compiler says of " seen + 0 " architectures what the resident kernel needs, not of 3"; bad = 1 }
        if (!bad) print text
        exit bad }' "$out/device_functions.said") || { echo "cuda: $registers" >&2; exit 1; }
# shellcheck disable=SC2086
linked=$("$nvcc" -std=c++20 -rdc=true $one -Xnvlink -v -dlink "$out/example_device_function.o" -o "$out/linked_example.o" 2>&1)
linked=$(echo "$linked" | sed -n "/resident_kernel/,\$ s/.*used \([0-9]*\) registers.*/\1/p" | head -n 1)
if [ "${linked:-1000}" -gt "$most_registers" ]; then
  echo "cuda: linked with functions that were compiled with --maxrregcount=$most_registers the resident kernel needs ${linked:-unknown} registers" >&2
  exit 1
fi
calls="$out/benchmark_device_calls.o $out/benchmark_device_functions.o $out/benchmark_floor.o $out/benchmark_gpu_calls.o
  $out/benchmark_random_frames.o"
# shellcheck disable=SC2086
"$nvcc" -rdc=true $one -dlink $calls -o "$out/linked_benchmark.o"
# The benchmark, as a whole program, if the library has been built.
for library in ${HAM_LIBRARY:-"$root"/build/release/lib}; do
  [ -e "$library/libham.so" ] || continue
  # shellcheck disable=SC2086
  "$nvcc" -rdc=true $one $calls -L"$library" -lham -o "$out/gpu_calls"
done
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
# The driver over a fake runtime; make test does the same where CMake finds the toolkit.
if echo '#include <gtest/gtest.h>' | "$cxx" -E -x c++ - > /dev/null 2>&1; then
  for source in "$root"/tests/transport/cuda/nvidia/driver/*.cpp; do
    echo "$for_host -c $source -o $out/faked_$(basename "$source" .cpp).o"
  done > "$out/commands"
  xargs -P "$(nproc)" -I '{}' sh -c '{} || exit 255' < "$out/commands"
  "$cxx" "$out"/faked_*.o "$out"/module_*.o -lgtest -lgtest_main -lpthread -o "$out/driver_test"
  "$out/driver_test" > "$out/driver_test.said" 2>&1 || { cat "$out/driver_test.said" >&2; exit 1; }
  tested="the driver's tests"
else
  tested="the driver's tests not run (no GoogleTest)"
fi

# An application that is built as docs/gpu.md says; the library is not linked, for it may not have been built.
if command -v cmake > /dev/null; then
  application=$out/application
  mkdir -p "$application/package"
  cp "$root"/tests/device/application/* "$application"
  {
    echo 'cmake_minimum_required(VERSION 3.22)'
    awk '/^```cmake$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/docs/gpu.md"
  } > "$application/CMakeLists.txt"
  {
    echo 'add_library(ham::offload INTERFACE IMPORTED)'
    echo "target_include_directories(ham::offload INTERFACE $root/include)"
    echo 'target_link_options(ham::offload INTERFACE $<HOST_LINK:LINKER:--unresolved-symbols=ignore-all>)'
  } > "$application/package/ham-config.cmake"
  {
    cmake -S "$application" -B "$application/build" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_HOST_COMPILER="$(command -v "$cxx")" \
      -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_EXE_LINKER_FLAGS="-L$libraries" -Dham_DIR="$application/package" &&
      cmake --build "$application/build" -j "$(nproc)"
  } > "$application/said" 2>&1 || { cat "$application/said" >&2; exit 1; }
  tested="$tested, the application of docs/gpu.md"
fi
echo "cuda: nvcc $version, $count objects, device code for sm_80, sm_90 and sm_100, the module, $tested, ok"
echo "cuda: the resident kernel needs registers: $registers; linked with examples/usage/device_function.cpp: $linked"
