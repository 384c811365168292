#!/bin/sh
# Compiles all installed headers with short names defined as macros: macros.sh INCLUDE_FOLDER COMPILER [FLAGS...].
#
# Projects and their libraries define macros with names that are common as template parameters and variables. Headers of
# the system are read before: those are not ours to mend, and reserved names of theirs do not matter.
set -eu
include=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LC_ALL=C
export LC_ALL

# mpix_kernel.h needs an MPI, two headers a sender library.
ours=$(cd "$include" && find . -name '*.h' -o -name '*.hpp' | sed 's|^\./||' |
  grep -v -e '^ham/mpix_kernel\.h$' -e '/sender_names_std' | sort)
system=$(cd "$include" && cat $ours | sed -n 's/^#include \(<[^>]*>\).*/\1/p' | sort -u)

letters="a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z"
# Two letters and a digit, <sys/sysmacros.h>, GNU C's predefined names, <complex.h>, X11, Qt, Windows, tests and loggers.
short="T0 T1 T2 N0 N1 U1 X0 X1 Y0 Y1 IN OUT OK ID NO YES TRUE FALSE DIM SIZE COUNT NAME NAMES TYPE VALUE MIN MAX ABS
       major minor makedev unix linux sun Status Bool None Success Always Complex signals slots emit foreach forever
       interface near far small min max ERROR DEBUG INFO WARN TRACE CHECK ASSERT REQUIRE EMPTY FUNCTION LOG"

{
  for header in $system; do echo "#include $header"; done
  for name in $letters $short; do printf '#undef %s\n#define %s ) this is a macro (\n' "$name" "$name"; done
  for header in $ours; do echo "#include <$header>"; done
} >"$folder/macros.cpp"

"$@" -std=c++20 -fsyntax-only -I"$include" "$folder/macros.cpp"

# What our own macros expand to, and templates when they are used.
cat >"$folder/uses.cpp" <<'EOF'
#include <string>
#define T ) this is a macro (
#define N ) this is a macro (
#define x ) this is a macro (
#include <ham/offload.hpp>
struct particle {
  double mass;
  std::string name;
  HAM_FIELDS(mass, name)
};
double weigh(const particle& one) { return one.mass; }
double main_part(int unused) {
  HAM_UNUSED_VAR(unused);
  return ham::offload::sync(1, f2f(&weigh, particle{}));
}
EOF
"$@" -std=c++20 -fsyntax-only -I"$include" "$folder/uses.cpp"
