#!/bin/sh
# Compiles what concerns GPUs for sm_80, sm_90 and sm_100, links the module and the programs: check-cuda.sh [--fetch]
# Warnings are errors. Runs nothing but the question whether there is a GPU: no device is needed. Without nvcc it does nothing;
# --fetch then takes NVIDIA's packages from PyPI.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
architectures="80 90 100"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" > /dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then nvcc=/usr/local/cuda/bin/nvcc; fi
if ! command -v "$nvcc" > /dev/null && [ "${1:-}" = --fetch ]; then
  python3 -m venv "$out/python"
  "$out/python/bin/pip" install --quiet nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-nvvm nvidia-cuda-crt
  nvcc=$(find "$out/python" -path '*/bin/nvcc' | head -n 1)
fi
if ! command -v "$nvcc" > /dev/null; then
  echo "cuda: no nvcc, nothing is compiled"
  exit 0
fi
toolkit=$(CDPATH= cd -- "$(dirname -- "$(command -v "$nvcc")")/.." && pwd)
libraries=$toolkit/lib64
[ -d "$libraries" ] || libraries=$toolkit/lib

count=0
cxx=${CXX:-g++}
for source in "$root"/src/transport/cuda/driver/*.cpp "$root/src/transport/cuda/cuda_errors.cpp"; do
  "$cxx" -std=c++20 -O1 -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror -isystem "$toolkit/include" -I"$root/include" \
    -I"$root/src" -c "$source" -o "$out/module_$(basename "$source" .cpp).o"
  count=$((count + 1))
done
"$cxx" -shared -Wl,-z,defs -Wl,--version-script="$root/src/transport/cuda/driver/exports.map" "$out"/module_*.o -L"$libraries" \
  -lcudart_static -ldl -lrt -lpthread -o "$out/libham_cuda.so"

flags="-std=c++20 --expt-relaxed-constexpr -Werror all-warnings -rdc=true -I$root/include -I$root/src"
for architecture in $architectures; do
  flags="$flags -gencode arch=compute_$architecture,code=sm_$architecture"
done
for source in $(find "$root/src" "$root/tests/device" "$root/benchmarks/gpu" -name '*.cu' | sort); do
  # shellcheck disable=SC2086
  "$nvcc" $flags -c "$source" -o "$out/device_$(basename "$source" .cu).o"
  count=$((count + 1))
done
# Sources that are for both compilers.
for source in "$root"/examples/applications/device_*/main.cpp; do
  # shellcheck disable=SC2086
  "$nvcc" $flags -I"$root/examples/applications" -I"$root/examples/applications/conjugate_gradient" -x cu -c "$source" \
    -o "$out/example_$(basename "$(dirname "$source")").o"
  count=$((count + 1))
done
# Device code of several sources, linked; what the library has is not there.
# shellcheck disable=SC2086
"$nvcc" $flags -dlink "$out"/device_*.o -o "$out/linked.o"
# The benchmark, as a whole program, if the library has been built.
for library in ${HAM_LIBRARY:-"$root"/build/release/lib}; do
  [ -e "$library/libham.so" ] || continue
  # shellcheck disable=SC2086
  "$nvcc" $flags "$out"/device_gpu_calls.o "$library/libham_main.a" -L"$library" -lham -Xlinker --wrap=main -o "$out/gpu_calls"
done
echo "cuda: $count objects for sm_80, sm_90 and sm_100, and the module, ok"
