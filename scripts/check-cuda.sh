#!/bin/sh
# Compiles what runs on GPUs, for sm_80, sm_90 and sm_100, if nvcc is installed: check-cuda.sh
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
for source in $(find "$root/src" "$root/tests/device" -name '*.cu' | sort); do
  for architecture in sm_80 sm_90 sm_100; do
    "$nvcc" -std=c++20 -arch=$architecture --expt-relaxed-constexpr -Werror all-warnings -I"$root/include" -I"$root/src" \
      -c "$source" -o "$out/object.o"
    count=$((count + 1))
  done
done
echo "cuda: $count objects, ok"
