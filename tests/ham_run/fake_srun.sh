#!/bin/sh
# In the place of srun: starts one task per node of --nodelist=A,B here, gives all of them its standard input, and labels
# their lines. The last of its arguments are the command. FAKE_SRUN_INPUT: a file that keeps what went through.
nodes=
while [ "${1#--}" != "$1" ]; do
  case $1 in --nodelist=*) nodes=$(echo "${1#--nodelist=}" | tr ',' ' ') ;; esac
  shift
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/fake-srun.XXXXXX") || exit 1
trap 'rm -rf "$folder"' 0
pipes=
task=0
tasks=
# srun starts its tasks on the nodes in whatever order they have in the step: the last one first, here.
reversed=
for node in $nodes; do reversed="$node $reversed"; done
for node in $reversed; do
  mkfifo "$folder/in.$task" "$folder/out.$task" "$folder/err.$task"
  sed -u "s/^/$task: /" <"$folder/out.$task" &
  sed -u "s/^/$task: /" <"$folder/err.$task" >&2 &
  SLURM_PROCID=$task SLURMD_NODENAME=$node "$@" <"$folder/in.$task" >"$folder/out.$task" 2>"$folder/err.$task" &
  tasks="$tasks $!"
  pipes="$pipes $folder/in.$task"
  task=$((task + 1))
done
# shellcheck disable=SC2086
tee $pipes ${FAKE_SRUN_INPUT:+"$FAKE_SRUN_INPUT"} >/dev/null
status=0
for one in $tasks; do wait "$one" || status=$?; done
wait
exit "$status"
