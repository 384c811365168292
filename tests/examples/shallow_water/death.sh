#!/bin/sh
# A target is killed in the middle of a run: it must end well, say so, and have the serial run's result.
# death.sh PROGRAM PLACE ARGS...
set -eu
program=$1
place=$2
shift 2
output=$("$program" "$@" --kill "$place" 31 2>&1) || { printf '%s\n' "$output"; echo "it failed" >&2; exit 1; }
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q 'went on from step 20 on [0-9]* targets*: .*node [1-9]'
printf '%s\n' "$output" | grep -Eq 'numbers that differ from the serial run +0\.00 .* ok$'
