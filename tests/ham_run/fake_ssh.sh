#!/bin/sh
# In the place of ssh: fake_ssh.sh [OPTION...] MACHINE COMMAND executes COMMAND here, as sshd would with the user's shell.
# Machines are loopback addresses, or named after what goes wrong.
while [ "${1#-}" != "$1" ]; do shift; done
machine=${1#*@}
case $machine in
  unreachable)
    echo "ssh: connect to host $machine port 22: No route to host" >&2
    exit 255
    ;;
  silent)
    [ -z "$FAKE_MARK" ] || : >"$FAKE_MARK"  # it was started
    exec sleep 600
    ;;
  stubborn)
    trap '' TERM
    cat >/dev/null
    : >"$FAKE_MARK"  # the connection was closed
    exec sleep 600
    ;;
  chatty)
    echo "Welcome to $machine"
    echo "Warning: this machine is watched" >&2
    machine=127.0.0.1
    ;;
esac
export SSH_CONNECTION="127.0.0.1 50000 $machine 22"
unset HAM_TEST_VARIABLE
PATH=${FAKE_PATH:+$FAKE_PATH:}$PATH
cd / && exec "${SHELL:-/bin/sh}" -c "$2"
