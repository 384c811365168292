#!/bin/sh
# Runs measurements one after the other: bench.sh BUILD "MEASURE..." [OPTIONS...]. Measures are those of ham-bench, and `mpi`: what
# ham-bench-mpi-* measures under its launcher. What this build does not have is named and left out.
set -eu
build=$1
measures=$2
shift 2
bin=$build/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

skip() { echo "bench: $1: SKIPPED: $2"; }

measure_mpi() {
  for mpi in openmpi mpich; do
    if [ ! -x "$bin/ham-bench-mpi-$mpi" ] || ! command -v "mpirun.$mpi" >/dev/null; then
      skip "mpi ($mpi)" "this build or this machine has not that MPI"
      continue
    fi
    bind=--bind-to
    [ "$mpi" = openmpi ] || bind=-bind-to
    "mpirun.$mpi" -n 2 $bind core "$bin/ham-bench-mpi-$mpi"
  done
}

for measure in $measures; do
  case $measure in
    mpi) measure_mpi ;;
    kernels)
      if ls "$bin"/ham-bench-kernels-* >/dev/null 2>&1; then
        "$bin/ham-bench" kernels
      else
        skip kernels "this build has no MPI that can spawn"
      fi
      ;;
    veo)
      if "$bin/ham-bench" --help | grep -q '^ *veo '; then
        "$bin/ham-bench" veo "$@"
      else
        skip veo "this build has no libveo (it needs libffi)"
      fi
      ;;
    *) "$bin/ham-bench" "$measure" "$@" ;;
  esac
done
