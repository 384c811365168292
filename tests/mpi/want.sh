#!/bin/sh
# want.sh LAUNCHER WITHOUT PROGRAM: jobs of three ranks of which one, or all, lack what they usually have. They work, or
# end soon and say what is missing; no process is left.
set -u
launcher=$1 without=$2 program=$3
said=$(mktemp)
trap 'rm -f "$said"' EXIT
export TEST_RANKS=3 HAM_MPI_END_TIMEOUT=2
tests='job.everybody_calls*:job.long_messages*:job.blocks*:job.memory_goes*:job.groups*:job.the_host_adds*'

fail() {
  cat "$said"
  echo "without $what on rank $ranks: $1"
  exit 1
}

# run WHAT RANKS SECONDS: its status, which is 124 if it did not end.
run() {
  what=$1 ranks=$2
  timeout -k 5 "$3" "$launcher" -n 3 "$without" "$what" "$ranks" "$program" --gtest_filter="$tests" >"$said" 2>&1
  status=$?
  if [ $status -eq 77 ] || grep -q 'status 77\|code: *77\|CODE: 77' "$said"; then
    echo "$what cannot be taken away here"
    exit 77
  fi
  for i in $(seq 50); do
    left=
    for process in /proc/[0-9]*; do
      [ "$(readlink "$process/exe")" != "$program" ] || left=$process
    done
    [ -n "$left" ] || return 0
    sleep 0.2
  done
  fail "$left is left"
}
works() {
  run "$1" "$2" 60
  [ $status -eq 0 ] || fail "status $status"
}
fails() {
  run "$1" "$2" 60
  [ $status -ne 0 ] || fail "it works"
  [ $status -ne 124 ] && [ $status -ne 137 ] || fail "it does not end"
  grep -q "$3" "$said" || fail "it does not say: $3"
}

old_kernel=membarrier,pidfd_open,futex_waitv
sandbox=process_vm_readv,process_vm_writev,userfaultfd,sched_setaffinity
works $old_kernel all
works $old_kernel 1
works $old_kernel,$sandbox all
for ranks in all 0 1; do
  fails memfd_create $ranks 'allow the system call memfd_create'
done
# Between too few and enough. MPI itself ends the job where it cannot start, and may wait for ever for the last of them,
# which the library has warned of then.
for count in 12 20 24 28 32 36; do
  run descriptors=$count 1 15
  case $status in
    0) ;;
    124 | 137) grep -q 'descriptors left, and MPI may wait' "$said" || fail "it does not end, and nothing was said before" ;;
    *) ! grep -q '^ham: ' "$said" || grep -q 'ulimit -n' "$said" || fail "it does not say that there are too few" ;;
  esac
done
works descriptors=64 1
! grep -q 'descriptors left' "$said" || fail "there are enough"
