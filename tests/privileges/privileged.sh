#!/bin/sh
# What a program with privileges takes from its caller: privileged.sh PROBE DECOY VEO_PROBE|- WORK_DIR. Its copy of PROBE is
# made setgid, for a group that is another one than the caller's. 77: not possible here.
set -eu
probe=$1
decoy=$2
veo_probe=$3
work=$4

rm -rf "$work"
mkdir -p "$work"
cd "$work"
if [ "$(id -u)" = 0 ]; then
  group=65534
  chown 65534 "$work"  # as if another user had hard-linked the program there
else
  group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
  [ -n "$group" ] || { echo "privileged: this user has no second group: skipped"; exit 77; }
fi

# with_privileges PROGRAM COPY
with_privileges() {
  cp "$1" "$2"
  chgrp "$group" "$2"
  chmod 2755 "$2"
}
with_privileges "$probe" probe
HAM_NODES=loopback ./probe >output 2>&1 || { cat output; exit 1; }
grep -q "privileged: 1" output || { echo "privileged: no set-group-ID programs on this file system: skipped"; exit 77; }
grep -q "result: 42" output || { cat output; exit 1; }

# refused NAME COMMAND...: it fails and says so.
refused() {
  what=$1
  shift
  if timeout 60 "$@" >output 2>&1; then
    cat output
    echo "obeyed: $*"
    exit 1
  fi
  grep -q -e "$what.*has privileges" output || { cat output; echo "no word of $what: $*"; exit 1; }
  ! grep DECOY output || { echo "loaded: $*"; exit 1; }
}

cp "$decoy" libham_tcp.so
cp "$decoy" libham_mpi_openmpi.so
cp "$decoy" libveo.so
# The program only asks whether there is a module: it goes on without.
HAM_NODES=loopback HAM_MODULE_PATH=$work ./probe >output 2>&1 || { cat output; exit 1; }
grep -q "tcp: HAM_MODULE_PATH is set, but this program has privileges" output || { cat output; exit 1; }
HAM_NODES=loopback ./probe >output 2>&1 || { cat output; exit 1; }
! grep DECOY output || { echo "loaded from beside the program"; exit 1; }

refused HAM_TARGET env HAM_TARGET=shm:0 ./probe
for nodes in "exec:$work/probe" tcp://127.0.0.1:1 mpi veo emulated; do
  refused HAM_NODES env "HAM_NODES=$nodes" ./probe
  refused --ham-nodes ./probe "--ham-nodes=$nodes"
done
for fault in HAM_FAULT=x:request:1 HAM_FAULT=nonsense; do
  refused HAM_FAULT env HAM_NODES=loopback "$fault" ./probe
done
refused --ham-fault ./probe --ham-nodes=loopback --ham-fault=x:request:1
refused HAM_KEY env HAM_KEY="$work/key" ./probe
refused --ham-key ./probe --ham-key=key
refused --ham-make-key ./probe --ham-make-key=key
[ ! -e key ]
refused --ham-serve ./probe --ham-serve=127.0.0.1:0
# Its own targets are started through HAM_TARGET, too.
refused HAM_TARGET ./probe

[ "$veo_probe" != - ] || exit 0
with_privileges "$veo_probe" veo_probe
for setting in VEORUN_BIN=/bin/true VEO_DEBUG=console VE_LD_LIBRARY_PATH="$work" "HAM_VEO_NODES=0=exec:/bin/true"; do
  refused "${setting%%=*}" env "$setting" ./veo_probe
done
