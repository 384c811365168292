#!/bin/sh
# Builds and runs programs of MPI kernels as users do, with the installed package, pkg-config and the MPI's wrappers:
# mpix.sh MPI MPICC MPIFORT LAUNCHER LIBDIR WORK_DIR WATCH. WATCH repeats a run in which Open MPI lost a process.
set -eu
mpi=$1
mpicc=$2
mpifort=$3
launcher=$4
libdir=$5
work=$6
watch=$7
examples=$(cd "$(dirname "$0")/../../examples/kernels" && pwd)

. "$(dirname "$0")/installed.sh"

# The flags are words: they are meant to be split.
# shellcheck disable=SC2046
build() {
  wrapper=$1
  source=$2
  program=$3
  shift 3
  echo "$program: $wrapper $source $*"
  "$wrapper" "$source" -o "$program" $(pkg-config --cflags --libs "$@")
}
expect() {
  "$watch" "$launcher" -n 2 "$2" "$3" >output 2>&1 || { cat output; exit 1; }
  grep -q "$1" output || { cat output; exit 1; }
}

build "$mpicc" "$examples/listing_1.c" listing_1 "mpixkernel-$mpi"
build "$mpicc" "$examples/listing_2.c" listing_2 "mpixkernel-main-$mpi"
expect "parent 1, from child 1: 61.5" ./listing_1 ./listing_2
if pkg-config --exists "mpixkernel-f08-$mpi"; then
  build "$mpifort" "$examples/fortran_main.f90" fortran_main "mpixkernel-f08-$mpi"
  build "$mpifort" "$examples/fortran_kernels.f90" fortran_kernels "mpixkernel-main-$mpi"
  expect "the children say   75.00" ./fortran_main ./fortran_kernels
fi
