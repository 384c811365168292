#!/bin/sh
# tcp_static.sh WITH_TCP WITHOUT_TCP FOLDER_OF_MODULES: two fully static programs; the first one holds the tcp transport, the
# second one would have to load it.
set -eu
with=$1
without=$2
modules=$3
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' 0

"$with" --ham-make-key="$work/key"
: >"$work/server"  # it is read before the shell behind the & may have made it
"$with" --ham-serve=127.0.0.1:0 --ham-key="$work/key" >"$work/server" 2>&1 &
server=$!
address=
while [ -z "$address" ]; do
  kill -0 "$server" || { cat "$work/server"; exit 1; }
  address=$(sed -n 's/^ham: waiting for hosts at \([0-9.:]*\).*/\1/p' "$work/server")
  sleep 0.05
done
HAM_KEY=$work/key HAM_NODES=tcp://$address "$with" >"$work/out" 2>&1 || { cat "$work/out" "$work/server"; exit 1; }
grep -q "^result 42 over tcp$" "$work/out" || { cat "$work/out"; exit 1; }

if HAM_KEY=$work/key HAM_NODES=tcp://$address HAM_MODULE_PATH=$modules "$without" >"$work/out" 2>&1; then
  echo "it has loaded a module"
  exit 1
fi
grep "linked with -static.*ham::tcp_static" "$work/out" || { cat "$work/out"; exit 1; }
HAM_NODES=shm:1 "$without" | grep "^result 42 over shm$"
