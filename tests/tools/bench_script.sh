#!/bin/sh
# What scripts/bench.sh hands to each measurement, and what becomes of one that fails: bench_script.sh SOURCE_FOLDER. The programs that
# it starts are stand-ins which print their words.
set -eu
script=$1/scripts/bench.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"

# stand_in NAME: prints its name and its words; a word "--largest" makes it fail. `ham-bench --help` knows veo.
stand_in() {
  cat >"$folder/bin/$1" <<'EOF'
#!/bin/sh
[ "$*" != --help ] || { echo "  veo  libveo"; exit 0; }
echo "${HAM_MPI_MAP:+map $HAM_MPI_MAP }${0##*/} $*" | sed "s, [^ ]*/, ,g; s, *$,,"
case "$*" in *latency*--largest*) exit 3 ;; esac
EOF
  chmod +x "$folder/bin/$1"
}
for program in ham-bench ham-bench-mpi-openmpi ham-bench-mpi-mpich ham-bench-kernels-openmpi mpirun.openmpi mpirun.mpich; do
  stand_in $program
done
PATH=$folder/bin:$PATH

# expect STATUS EXPECTED MEASURES OPTIONS...
expect() {
  status=$1
  expected=$2
  measures=$3
  shift 3
  found=0
  text=$("$script" "$folder" "$measures" "$@" 2>/dev/null) || found=$?
  if [ "$text" != "$expected" ] || [ $found -ne "$status" ]; then
    printf 'bench.sh "%s" %s: status %s instead of %s, output\n%s\ninstead of\n%s\n' "$measures" "$*" $found "$status" "$text" "$expected"
    exit 1
  fi
}

# mpi WORD...: what is run for the measure mpi, with these words at the end of each.
mpi() {
  for name in openmpi mpich; do
    bind=--bind-to
    [ $name = openmpi ] || bind=-bind-to
    echo "mpirun.$name -n 2 $bind core ham-bench-mpi-$name${1:+ $*}"
    for map in 1 0; do echo "map $map mpirun.$name -n 2 $bind none ham-bench-mpi-$name transfers${1:+ $*}"; done
  done
}
unset HAM_MPI_MAP
expect 0 "ham-bench latency
$(mpi)
ham-bench kernels" "latency mpi kernels"
expect 0 "ham-bench rate -r 15 --block-ms 5 --check
ham-bench veo -r 15 --block-ms 5 --check
$(mpi 15 --check)
ham-bench kernels --repetitions 15 --check" "rate veo mpi kernels" -r 15 --block-ms 5 --check
for spelling in -r7 --repetitions=7; do
  expect 0 "$(mpi 7)
ham-bench kernels --repetitions 7" "mpi kernels" $spelling
done
expect 0 "$(mpi 3 --json)
ham-bench kernels --repetitions 3 --json" "mpi kernels" --json --repetitions 3
expect 1 "ham-bench latency --largest 1
ham-bench rate --largest 1" "latency rate" --largest 1
echo ok
