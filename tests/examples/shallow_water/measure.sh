#!/bin/sh
# What the evaluation measures, as short as it can be: all runs end as the serial run does, also on threads, and after a death.
# measure.sh PROGRAM DEATH ARGS...; DEATH: what is said of the death of a target
set -eu
program=$1
death=$2
shift 2
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
output=$("$program" --measure "$@") || { printf '%s\n' "$output"; echo "it failed" >&2; exit 1; }
printf '%s\n' "$output"
has() {
  printf '%s\n' "$output" | grep -Eq "$1" || { echo "nothing like: $1" >&2; exit 1; }
}
has '^Shallow water on targets: '
has '^  nothing but the end '
has '^  states every [0-9]+ steps '
has '^  checkpoints every [0-9]+ steps '
has '^  pictures every [0-9]+ steps '
has "$death"
has '^  numbers that differ from the serial run +0\.00 .* ok$'
[ -z "$(ls "$TMPDIR")" ] || { echo "files are left: $(ls "$TMPDIR")" >&2; exit 1; }
