# shellcheck shell=sh
# Ranks on several machines: mpi.sh MPI LAUNCHER APPLICATION JOB_TEST CONFORMANCE
mpi=$1
launcher=$2
application=$3
job_test=$4
conformance=$5
# shellcheck source=launch.sh
. "$(dirname "$script")/launch.sh"

launch "all is well" a:1,b:2,c:1 4 "$application" check a b b c
# The host outlives its targets on the same machine.
launch "all is well" a:2,b:1 3 "$application" linger
launch "PASSED" a:1,b:1 2 "$conformance"
# Rank 0 alone needs the variable. What is spawned has a test of its own.
launch "PASSED" a:1,b:2 3 "env TEST_RANKS=3 $job_test --gtest_filter=-*spawned*"
if [ "$mpi" = openmpi ]; then
  launch "PASSED" a:2,b:3 3 "env TEST_RANKS=3 TEST_SPAWNS=yes $job_test --gtest_filter=*spawned*"
fi
