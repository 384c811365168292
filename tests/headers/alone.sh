#!/bin/sh
# Compiles headers that programs include by themselves: alone.sh INCLUDE_FOLDER COMPILER [FLAGS...].
set -eu
include=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

try() {
  "$@" -std=c++20 -fsyntax-only -I"$include" "$folder/alone.cpp" || {
    echo "the header alone is not enough: $header"
    exit 1
  }
}

for header in msg/active_msg_base msg/execution_policy msg/active_msg msg/f2f misc/migratable misc/types functor/function \
  functor/buffer; do
  printf '#include "ham/%s.hpp"\nham::node_t node = -1;\n' "$header" >"$folder/alone.cpp"
  try "$@"
done
for header in misc/constants util/time compat/net; do
  printf '#include "ham/%s.hpp"\n#include "ham/%s.hpp"\n' "$header" "$header" >"$folder/alone.cpp"
  try "$@"
done
