#!/bin/sh
# Brings up a Slurm of one node for itself, and runs jobs in it: slurm.sh JOB_TEST APPLICATION HAM_RUN MPI...
# Skipped where Slurm is not installed (Debian: slurmctld slurmd slurm-client munge) or does not come up.
set -eu
job_test=$1
application=$2
ham_run=$3
shift 3

skip() {
  echo "ham: tests under Slurm are skipped: $1"
  exit 77
}
for command in munged slurmctld slurmd srun salloc; do
  command -v "$command" >/dev/null || skip "no $command"
done
[ "$(id -u)" = 0 ] || skip "slurmd wants to be root"

work=$(mktemp -d)
daemons=""
finish() {
  # shellcheck disable=SC2086
  [ -z "$daemons" ] || kill $daemons 2>/dev/null || :
  wait 2>/dev/null || :
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

name=$(hostname -s)
port=$((20000 + $$ % 10000))
mkdir "$work/state" "$work/spool"
cat >"$work/slurm.conf" <<END
ClusterName=ham
SlurmctldHost=$name(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=$name NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$name Default=YES MaxTime=INFINITE State=UP
END
SLURM_CONF=$work/slurm.conf
export SLURM_CONF

start() {
  "$@" >>"$work/log" 2>&1 </dev/null &
  daemons="$daemons $!"
}
head -c 1024 /dev/urandom >"$work/key"
chmod 600 "$work/key"
chmod 755 "$work"
start munged --foreground --force --key-file="$work/key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
  --log-file="$work/munge.log" --seed-file="$work/munge.seed"
for _ in 1 2 3 4 5 6 7 8 9 10; do
  [ -S "$work/munge.socket" ] && break
  sleep 0.3
done
start slurmctld -D -f "$SLURM_CONF"
start slurmd -D -f "$SLURM_CONF"
up=""
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if sinfo --noheader --format=%t 2>/dev/null | grep -q idle; then
    up=yes
    break
  fi
  sleep 0.5
done
if [ -z "$up" ]; then
  tail -5 "$work/log"
  skip "it does not come up"
fi

failed=0
# expect TEXT COMMAND...: it ends with 0, says TEXT, and srun has no complaint.
expect() {
  wanted=$1
  shift
  echo "--- $*"
  if ! timeout 60 "$@" >"$work/output" 2>&1 || ! grep -q "$wanted" "$work/output" || grep -q "srun: error" "$work/output"; then
    cat "$work/output"
    failed=1
  fi
}

TEST_RANKS=3
export TEST_RANKS
for mpi in "$@"; do
  way=pmix
  [ "$mpi" = mpich ] && way=pmi2
  expect "PASSED.* 2 tests" srun --mpi=$way -n 3 "$job_test" --gtest_filter="*node_of_its_own*:*everybody*"
done
expect "nodes=4" salloc -n 3 "$ham_run" "$application" describe X
exit $failed
