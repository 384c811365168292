#!/bin/sh
# Kills a target by SIGKILL once the run is on its way: it must end well, and have the serial run's result.
# kill.sh PROGRAM CHECKPOINT
set -eu
program=$1
checkpoint=$2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -f "$checkpoint"
"$program" --columns 150 --rows 150 --steps 5000 --every 20 --checkpoint "$checkpoint" >"$log" 2>&1 &
run=$!
# The step is the fourth number of a checkpoint: zero as long as only the beginning was written.
step() { od -An -t u8 -j 24 -N 8 "$checkpoint" 2>/dev/null | tr -d ' '; }
until [ "$(step || true)" -gt 0 ] 2>/dev/null; do
  kill -0 "$run" 2>/dev/null || { cat "$log"; echo "ended before its first checkpoint" >&2; exit 1; }
  sleep 0.05
done
for target in $(cat "/proc/$run/task/"*/children); do last=$target; done
kill -9 "$last"
status=0
wait "$run" || status=$?
cat "$log"
[ "$status" -eq 0 ]
grep -q 'went on from step [1-9][0-9]* on 2 targets: .*killed by signal 9' "$log"
grep -Eq 'numbers that differ from the serial run +0\.00 .* ok$' "$log"
