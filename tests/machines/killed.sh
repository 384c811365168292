#!/bin/sh
# Nothing is left of machines whose test is killed: killed.sh MACHINES_SH REMOTE_SHELL APPLICATION. As a case of machines.sh
# (killed.sh APPLICATION WORD) it stays in a process on b.
if [ -n "${remote_shell:-}" ]; then
  on b "exec $1 wait $2"
  exit
fi
set -eu
word=killed-$$
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM

# Processes that have the word in their command line.
processes() { grep -l "[k]${word#k}" /proc/[0-9]*/cmdline 2>/dev/null || :; }
# eventually COMMAND: within 30 s.
eventually() {
  tries=600
  until eval "$1"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.05
  done
}

sh "$1" "$2" "$0" "$3" "$word" >"$log" 2>&1 &
first=$!
eventually 'grep -q "under way" "$log" || ! kill -0 $first 2>/dev/null'
if ! grep -q "under way" "$log"; then
  cat "$log"
  status=0
  wait $first || status=$?
  exit $status
fi
[ "$(processes | wc -l)" -gt 1 ] || {
  echo "the processes of the machines are not seen"
  exit 1
}
kill -KILL $first
eventually '[ -z "$(processes)" ]' || {
  echo "left: $(processes)"
  exit 1
}
