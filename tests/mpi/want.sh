#!/bin/sh
# want.sh LAUNCHER WITHOUT PROGRAM: jobs of three ranks of which one, or all, lack what they usually have. They work, or
# end soon and say what is missing; no process is left.
set -u
launcher=$1 without=$2 program=$3
said=$(mktemp)
trap 'rm -f "$said"' EXIT
export TEST_RANKS=3
tests='job.everybody_calls*:job.long_messages*:job.blocks*:job.memory_goes*:job.groups*:job.the_host_adds*'

fail() {
  cat "$said"
  echo "without $what on rank $ranks: $1"
  exit 1
}

# run WHAT RANKS SECONDS END: its status, which is 124 or 137 if it did not end. END: how long a rank waits for the others.
run() {
  what=$1 ranks=$2
  env HAM_MPI_END_TIMEOUT="$4" timeout -k 5 "$3" "$launcher" -n 3 "$without" "$what" "$ranks" "$program" --gtest_filter="$tests" \
    >"$said" 2>&1 </dev/null
  status=$?
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
  run "$1" "$2" 60 60
  [ $status -eq 0 ] || fail "status $status"
}
# fails WHAT RANKS TEXT: and says so.
fails() {
  run "$1" "$2" 30 2
  [ $status -ne 0 ] || fail "it works"
  [ $status -ne 124 ] && [ $status -ne 137 ] || fail "it does not end"
  grep -q "$3" "$said" || fail "it does not say: $3"
}

refuses=yes
"$without" membarrier all /bin/true 2>/dev/null || refuses=no
if [ $refuses = yes ]; then
  works membarrier/ENOSYS,pidfd_open/ENOSYS,futex_waitv/ENOSYS all
  works membarrier,pidfd_open,futex_waitv 1
  works process_vm_readv,process_vm_writev,userfaultfd,sched_setaffinity all
  works process_vm_writev all
  for ranks in all 0 1; do
    fails memfd_create $ranks 'allow the system call memfd_create'
  done
  fails timerfd_create 1 'allow the system call timerfd_create'
fi

# Descriptors, from too few on. Where MPI itself cannot start, it ends the job by what it does then. Where the library
# cannot, it says so; once it has joined, MPI may wait for ever for one more, of which the library has warned then.
clear=0
for count in 12 16 20 22 24 26 28 30 31 32 33 34 36; do
  run descriptors=$count 1 15 2
  case $status in
    0) ;;
    124 | 137) grep -q 'descriptors left, and MPI may wait' "$said" || fail "it does not end, and nothing was said before" ;;
    *)
      if grep -q '^ham: .*ulimit -n.*other ranks wait' "$said"; then
        clear=$((clear + 1))
      elif grep -q '^ham: \|FAILED' "$said"; then
        grep -q 'ulimit -n' "$said" || fail "it does not say that there are too few"
      fi
      ;;
  esac
done
[ $clear -gt 0 ] || { echo "no count was enough for MPI and too few for the library"; exit 1; }
works descriptors=256 1
! grep -q 'descriptors left' "$said" || fail "there are enough"
[ $refuses = yes ] || { echo "system calls cannot be refused here"; exit 77; }
