#!/bin/sh
# Compiles what concerns GPUs, links the module and the programs: check-cuda.sh [--fetch]
# All .cu files are compiled for sm_80, sm_90 and sm_100, examples for sm_90. Warnings are errors. All cores compile. Runs nothing but the question whether there is a GPU: no device is needed.
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
  for source in "$root"/tests/device/*.cu; do
    echo "$for_device $all -c $source -o $out/device_$(basename "$source" .cu).o"
  done
  for source in "$root"/benchmarks/gpu/*.cu; do
    echo "$for_device $all $examples $sparse -c $source -o $out/benchmark_$(basename "$source" .cu).o"
  done
  for source in "$root"/benchmarks/gpu/*.cpp; do
    echo "$for_host -c $source -o $out/benchmark_$(basename "$source" .cpp).o"
  done
  for source in "$root"/src/transport/cuda/driver/*.cpp "$root/src/transport/cuda/cuda_errors.cpp"; do
    echo "$for_host -fvisibility=hidden -c $source -o $out/module_$(basename "$source" .cpp).o"
  done
} > "$out/commands"
xargs -P "$(nproc)" -I '{}' sh -c '{} || exit 255' < "$out/commands"
count=$(wc -l < "$out/commands")

"$cxx" -shared -Wl,-z,defs -Wl,--version-script="$root/src/transport/cuda/driver/exports.map" "$out"/module_*.o -L"$libraries" \
  -lcudart_static -ldl -lrt -lpthread -o "$out/libham_cuda.so"
# Device code of several sources, linked; what the library has is not there.
# shellcheck disable=SC2086
"$nvcc" -std=c++20 -rdc=true $all -dlink "$out"/device_*.o -o "$out/linked.o"
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
echo "cuda: nvcc $version, $count objects, device code for sm_80, sm_90 and sm_100, and the module, ok"
