#!/bin/sh
# Kills a target of a solver that would run for long: the program must say so and end with 3. kill_target.sh PROGRAM
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$1" --grid 700 --tol 1e-13 --no-compare >"$log" 2>&1 &
solver=$!
# It iterates as soon as it reports progress: the targets are there by then.
until grep -q iteration "$log"; do
  kill -0 "$solver" 2>/dev/null || { cat "$log"; echo "ended before it iterated" >&2; exit 1; }
  sleep 0.1
done
for target in $(cat "/proc/$solver/task/"*/children); do last=$target; done
kill -9 "$last"
status=0
wait "$solver" || status=$?
cat "$log"
[ "$status" -eq 3 ] || { echo "exit status $status, expected 3" >&2; exit 1; }
grep -q '^conjugate_gradient: ' "$log"
