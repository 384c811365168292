#!/bin/sh
# Runs a command that must fail: expect_failure.sh EXIT_CODE TEXT COMMAND... checks its exit code and its messages.
set -eu
expected=$1
text=$2
shift 2

status=0
output=$("$@" 2>&1) || status=$?
printf '%s\n' "$output"
if [ "$status" -ne "$expected" ]; then
  echo "exit status $status, expected $expected" >&2
  exit 1
fi
case $output in
  *"$text"*) ;;
  *)
    echo "the output does not contain: $text" >&2
    exit 1
    ;;
esac
