#!/bin/sh
# Compiles what runs on GPUs, for sm_80 and sm_90, if nvcc is installed: check-cuda.sh
# Runs nothing: no device is needed.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" > /dev/null; then
  echo "cuda: no nvcc, nothing is compiled"
  exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
count=0
for source in $(find "$root/src" "$root/tests/device" -name '*.cu' | sort) "$root"/examples/applications/device_*/main.cpp; do
  for architecture in sm_80 sm_90; do
    "$nvcc" -std=c++20 -arch=$architecture --expt-relaxed-constexpr -Werror all-warnings -I"$root/include" -I"$root/src" \
      -I"$root/examples/applications" -I"$root/examples/applications/conjugate_gradient" -x cu -c "$source" -o "$out/object.o"
    count=$((count + 1))
  done
done
echo "cuda: $count objects, ok"
