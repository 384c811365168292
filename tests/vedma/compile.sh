#!/bin/sh
# Compiles the Vector Engine's side of the one-sided protocols for a Vector Engine: compile.sh CLANG SOURCE_ROOT
#
# Nothing here can link or run the result. A C library and a C++ library for the target are not to be had
# either; the headers of another 64-bit little-endian Linux stand in for theirs.
set -eu
clang=$1
root=$2
skip() { echo "skipped: $1"; exit 77; }

"$clang" --version > /dev/null 2>&1 || skip "no clang here"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'int one() { return 1; }' > "$folder/one.cpp"
"$clang" --target=ve-linux -c "$folder/one.cpp" -o "$folder/one.o" 2> /dev/null || skip "$clang has no target ve-linux"
headers=/usr/aarch64-linux-gnu/include
library=$(ls -d $headers/c++/[0-9]* 2> /dev/null | tail -n 1)
[ -n "$library" ] || skip "no headers of a stand-in library (Debian: g++-aarch64-linux-gnu)"

for source in transport/vedma/target_transport.cpp transport/veo/target_transport.cpp transport/common/polled_transport.cpp; do
  "$clang" --target=ve-linux -std=c++20 -O2 -Wall -Wextra -Werror -nostdinc++ -isystem "$library" \
    -isystem "$library/aarch64-linux-gnu" -isystem "$headers" -I "$root/src" -I "$root/include" \
    -c "$root/src/$source" -o "$folder/object.o"
  # e_machine of an ELF file: 251 is the Vector Engine.
  machine=$(od -An -tu2 -j18 -N2 "$folder/object.o" | tr -d ' ')
  [ "$machine" = 251 ] || { echo "$source: not for a Vector Engine but for $machine"; exit 1; }
  "$clang" --target=ve-linux -std=c++20 -O2 -nostdinc++ -isystem "$library" -isystem "$library/aarch64-linux-gnu" \
    -isystem "$headers" -I "$root/src" -I "$root/include" -S "$root/src/$source" -o "$folder/$(echo "$source" | tr / _).s"
  echo "$source: compiled for a Vector Engine"
done
for instruction in lhm.l shm.l fencem ve_dma_post_wait vh_shmat ve_register_mem_to_dmaatb; do
  grep -q "$instruction" "$folder/transport_vedma_target_transport.cpp.s" || { echo "no $instruction in the code"; exit 1; }
done
