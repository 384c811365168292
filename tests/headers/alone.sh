#!/bin/sh
# Every installed header compiles alone, begins with a comment, and has a place in docs/headers.md:
# alone.sh INCLUDE_FOLDER DOCUMENT WORK_FOLDER [LAUNCHER] COMPILER [FLAGS...]. A compiler cache that launches the compiler knows
# what it has compiled before in another checkout: the program and the object have the same relative names there.
set -eu
include=$1
document=$2
folder=$3
shift 3

rm -rf "$folder"
mkdir -p "$folder"
status=0

complain() {
  echo "$1" >&2
  status=1
}

try() {
  (cd "$folder" && "$@" -std=c++20 -c -o alone.o -I"$include" alone.cpp) || complain "the header alone is not enough: $header"
}

# The first needs whom it serves, then two an MPI, and two a sender library.
apart="ham/msg/call_error_texts.hpp ham/mpix_kernel.h ham/mpi.hpp ham/offload/detail/sender_names_std.hpp
ham/offload/detail/sender_names_stdexec.hpp"
apart=$(echo $apart)

for header in $(cd "$include" && find . -name '*.h' -o -name '*.hpp' | sed 's|^\./||' | sort); do
  case $(head -n 1 "$include/$header") in
    "// "* | "/* "*) ;;
    *) complain "$header: the first line does not say what it is for" ;;
  esac
  case $header in
    ham/offload/detail/*) ;;
    *) grep -q "\`$header\`" "$document" || complain "$header: not in $document, neither as public nor as internal" ;;
  esac
  case " $apart " in
    *" $header "*) continue ;;
  esac
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$folder/alone.cpp"
  try "$@"
done

# What is documented must be there.
for header in $(grep -o '`ham/[a-z0-9_/]*\.h\(pp\)\?`' "$document" | tr -d '`' | sort -u); do
  [ -f "$include/$header" ] || complain "$document: there is no $header"
done

# Programs of the published HAM-Offload expect these names of them.
for header in msg/active_msg_base msg/execution_policy msg/active_msg msg/f2f misc/migratable misc/types functor/function \
  functor/buffer; do
  printf '#include "ham/%s.hpp"\nham::node_t node = -1;\n' "$header" >"$folder/alone.cpp"
  try "$@"
done

# A program for which f2f is another's name.
header="ham/offload.hpp with HAM_NO_F2F_MACRO"
cat >"$folder/alone.cpp" <<'END'
#define HAM_NO_F2F_MACRO
#include "ham/offload.hpp"
namespace mine {
int f2f(int left, int right) { return left + right; }
}  // namespace mine
int twice(int x) { return 2 * x; }
int main() { return mine::f2f(1, 2) + ham::offload::sync(1, ham::f2f<&twice>(3)); }
END
try "$@"
exit "$status"
