#!/bin/sh
# Runs measurements one after the other: bench.sh BUILD "MEASURE..." [OPTIONS...]. Measures are those of ham-bench, and `mpi`: what
# ham-bench-mpi-* measures under its launcher. OPTIONS are ham-bench's; `mpi` and `kernels` get those that they have as well. What this
# build does not have is named and left out. All are run; the status is 1 if one of them failed, or missed a bar with --check.
set -u
build=$1
measures=$2
shift 2
bin=$build/bin
failed=
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

skip() { echo "bench: $1: SKIPPED: $2" >&2; }

# measured NAME COMMAND...
measured() {
  name=$1
  shift
  "$@" || {
    echo "bench: $name: FAILED: status $?" >&2
    failed="$failed $name"
  }
}

# Of the options those that mpi and kernels have.
repetitions=
check=
json=
wanted=
for option in "$@"; do
  case $wanted$option in
    repetitions:*) repetitions=$option ;;
    -r | --repetitions)
      wanted=repetitions:
      continue
      ;;
    -r*) repetitions=${option#-r} ;;
    --repetitions=*) repetitions=${option#--repetitions=} ;;
    --check) check=--check ;;
    --json) json=--json ;;
  esac
  wanted=
done

measure_mpi() {
  for mpi in openmpi mpich; do
    if [ ! -x "$bin/ham-bench-mpi-$mpi" ] || ! command -v "mpirun.$mpi" >/dev/null; then
      skip "mpi ($mpi)" "this build or this machine has not that MPI"
      continue
    fi
    bind=--bind-to
    [ "$mpi" = openmpi ] || bind=-bind-to
    measured "mpi ($mpi)" "mpirun.$mpi" -n 2 $bind core "$bin/ham-bench-mpi-$mpi" $repetitions $check $json
    for map in 1 0; do
      measured "transfers over mpi ($mpi, HAM_MPI_MAP=$map)" env HAM_MPI_MAP=$map "mpirun.$mpi" -n 2 $bind none \
        "$bin/ham-bench-mpi-$mpi" transfers $repetitions $check $json
    done
  done
}

for measure in $measures; do
  case $measure in
    mpi) measure_mpi ;;
    kernels)
      if ls "$bin"/ham-bench-kernels-* >/dev/null 2>&1; then
        measured kernels "$bin/ham-bench" kernels ${repetitions:+--repetitions "$repetitions"} $check $json
      else
        skip kernels "this build has no MPI that can spawn"
      fi
      ;;
    veo | veo-offload)
      if "$bin/ham-bench" --help | grep -q '^ *veo '; then
        measured "$measure" "$bin/ham-bench" "$measure" "$@"
      else
        skip "$measure" "this build has no libveo (it needs libffi)"
      fi
      ;;
    openmp)
      if [ -e "$bin/ham-bench.openmp.so" ]; then
        measured openmp "$bin/ham-bench" openmp "$@"
      else
        skip openmp "this build has no clang with LLVM's OpenMP plug-in for the host (Debian: clang libomp-dev)"
      fi
      ;;
    *) measured "$measure" "$bin/ham-bench" "$measure" "$@" ;;
  esac
done

if [ -n "$failed" ]; then
  echo "bench: failed:$failed" >&2
  exit 1
fi
