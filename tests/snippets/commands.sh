#!/bin/sh
# Runs the commands of the pages, with the programs of the pages, as readers do who have installed HAM: commands.sh PART TEXT LIBDIR
# WORK_DIR. TEXT has what scripts/snippets.py extracts; the package is installed below LIBDIR/... 77: something is missing.
set -eu
part=$1
text=$2
libdir=$3
work=$4
here=$(cd "$(dirname "$0")" && pwd)

. "$here/../consumer/installed.sh"
prefix=$(cd "$libdir" && while [ ! -d bin ] && [ "$PWD" != / ]; do cd ..; done && pwd)
PATH=$prefix/bin:$PATH
export PATH

needs() {
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "$command not found: skipped"; exit 77; }
  done
}
# A program, the commands that build and run it, and what the page says that it prints.
run_program() {
  cp "$1" .
  sh -eu "$2" >printed
  diff -u "$3" printed || { echo "the page says $3"; exit 1; }
}

case $part in
  readme)
    needs g++
    run_program "$text/readme/first.cpp" "$text/readme/first.sh" "$text/readme/first.out"
    run_program "$text/readme/sum.cpp" "$text/readme/sum.sh" "$text/readme/sum.out"
    # The flags are words: they are meant to be split.
    # shellcheck disable=SC2046
    g++ -std=c++20 "$here/app.cpp" -o app $(pkg-config --cflags --libs ham-offload)
    # Faults are random: what counts is that each of the four lines is understood, and that the program goes on.
    sh -u "$text/debugging/faults.sh" >faults.out 2>&1 || true
    [ "$(grep -c "^[0-9]* of 10 calls" faults.out)" = 4 ]
    if grep "HAM_FAULT" faults.out; then exit 1; fi
    if command -v ham-trace >/dev/null; then
      sh -eu "$text/tracing/report.sh" >report.out
      grep solve report.out
      [ -s run.pftrace ]
      [ -s run.pftrace.html ]
    fi
    ;;
  c)
    needs gcc
    cp "$text/c_api/twice.c" .
    # The flags are words: they are meant to be split.
    # shellcheck disable=SC2046
    gcc -Wall -Wextra -Werror twice.c -o twice $(pkg-config --cflags --libs ham)
    [ "$(./twice)" = 42 ]
    if [ -e "$libdir/libveo.so" ]; then
      gcc -Wall -Werror -I"$text" -I"$prefix/include" -fsyntax-only "$here/veo_host_calls.c"
      cp "$here/veo_program.c" program.c
      cp "$here/veo_kernels.c" kernels.c
      C_INCLUDE_PATH=$text:$prefix/include LIBRARY_PATH=$libdir sh -eu "$text/veo/build.sh"
      [ "$(./program)" = "state 0, sum 6, first 10" ]
    fi
    ;;
  mpix)
    needs mpicc.openmpi mpirun.openmpi
    # shellcheck disable=SC2046
    mpicc.openmpi -Wall -I"$text" -fsyntax-only $(pkg-config --cflags mpixkernel-openmpi) "$here/mpix_calls.c"
    cp "$text/mpix/main.c" "$text/mpix/kernels.c" .
    sh -eu "$text/mpix/run.sh" >run.out
    grep "^child 0: 0.5 10 x$" run.out
    grep "^child 1: 0.5 10 x$" run.out
    ;;
esac
