#!/bin/sh
# Several machines on one: namespaces with addresses, a host name, process ids and shared memory of their own, at one switch.
#   machines.sh REMOTE_SHELL CASE ARGUMENT...   brings machines a, b and c up and sources CASE, which has the functions below
# All of it is one tree of processes in namespaces without names: it ends with the first of them, however that ends. Ends
# with 77, and the reason, where this is not possible. Files are the same on all machines, but for TMPDIR.
set -eu
PATH=$PATH:/usr/sbin:/sbin  # where ip is
network=10.79.0
network6=fd79:

skip() {
  echo "ham: tests across machines are skipped: $1"
  exit 77
}

number() {
  case $1 in a) echo 1 ;; b) echo 2 ;; c) echo 3 ;; esac
}
address() { echo "$network.$(number "$1")"; }
address6() { echo "$network6:$(number "$1")"; }

# The network, seen from the switch, which has an address too.
set_up() {
  mount -t tmpfs none /run
  mkdir /run/temporary
  echo "127.0.0.1 localhost" >/run/hosts
  for machine in a b c; do echo "$(address $machine) $machine" >>/run/hosts; done
  mount --bind /run/hosts /etc/hosts
  ip link set lo up
  ip link add name switch0 type bridge
  ip address add $network.254/24 dev switch0
  ip link set switch0 up
  for machine in a b c; do
    ip netns add $machine
    ip link add name port-$machine type veth peer name eth0 netns $machine
    ip link set port-$machine master switch0 up
    ip -n $machine address add "$(address $machine)/24" dev eth0
    ip -n $machine address add "$(address6 $machine)/64" dev eth0 nodad 2>/dev/null || : # no IPv6 here
    ip -n $machine link set lo up
    ip -n $machine link set eth0 up
  done
}

# enter MACHINE WORD...: as ip netns exec, which also shows the machine's network in /sys.
enter() {
  machine=$1
  shift
  ip netns exec "$machine" unshare --mount --uts --ipc --pid --mount-proc --fork --kill-child "$@"
}

case $1 in
  --possible)
    set_up
    enter a mount -t tmpfs none /dev/shm
    exit
    ;;
  --machine)
    hostname "$2"
    mount -t tmpfs none /dev/shm
    mkdir "/run/temporary/$2"
    exec env -i PATH="$PATH" HOME="/run/temporary/$2" TMPDIR="/run/temporary/$2" "$3" --serve
    ;;
  --inside) shift ;;
  *)
    for command in unshare:util-linux mount:mount hostname:hostname ip:iproute2; do
      command -v "${command%:*}" >/dev/null || skip "no ${command%:*} (Debian: ${command#*:})"
    done
    [ -e /etc/hosts ] || skip "no /etc/hosts"
    namespaces="--net --mount --uts --ipc --pid --mount-proc --fork --kill-child"
    for user in "--user --map-root-user" ""; do
      # shellcheck disable=SC2086
      reason=$(unshare $user $namespaces sh "$0" --possible 2>&1 >/dev/null) || continue
      # shellcheck disable=SC2086
      exec unshare $user $namespaces sh "$0" --inside "$@"
    done
    skip "namespaces cannot be made here: $(echo "$reason" | tr '\n' ' ')"
    ;;
esac

trap 'exit 1' HUP INT TERM
remote_shell=$1
script=$2
shift 2
set_up
for machine in a b c; do
  enter $machine sh "$0" --machine $machine "$remote_shell" &
done

# ---- what cases use; all of it runs at the switch, from which every machine can be reached

# on MACHINE WORD...: executes the words there, by a shell.
on() { "$remote_shell" "$@"; }

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# eventually WORD...: the words succeed within 10 s.
eventually() {
  tries=200
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.05
  done
}

# expect TEXT MACHINE WORD...: they succeed there, and write a line that matches.
expect() {
  wanted=$1
  shift
  echo "--- on $*"
  if ! on "$1" "timeout 60 env $2" >/run/output 2>&1; then
    cat /run/output
    fail "$2"
  elif ! grep -q -e "$wanted" /run/output; then
    cat /run/output
    fail "not written: $wanted"
  fi
}

# running MACHINE PROGRAM: how many processes there execute the program. The machine need not be reachable.
running() {
  count=0
  for process in $(ip netns pids "$1"); do
    [ "$(readlink "/proc/$process/exe")" != "$2" ] || count=$((count + 1))
  done
  echo "$count"
}
exactly() { [ "$(running "$1" "$2")" -eq "$3" ]; }
# left MACHINE COUNT: so many processes there execute the application, soon.
left() { eventually exactly "$1" "$application" "$2" || fail "$(running "$1" "$application") processes on $1"; }

# serve MACHINE ADDRESS PROGRAM: a target that waits there for hosts; /run/key is the key.
serve() {
  said=/run/said.$1
  : >"$said"
  on "$1" "HAM_TCP_TIMEOUT=${HAM_TCP_TIMEOUT:-} exec $3 --ham-serve=$2 --ham-key=/run/key" 2>"$said" </dev/null &
  eventually grep -q "waiting for hosts" "$said" || {
    cat "$said"
    fail "no target waits on $1"
  }
}

up() { on "$1" true 2>/dev/null; }
for machine in a b c; do eventually up $machine || skip "machine $machine does not come up"; done
# shellcheck disable=SC1090
. "$script"
exit $failed
