#!/bin/sh
# No module comes from a folder relative to the current one: module_search.sh PROBE DECOY WORK_DIR. PROBE holds HAM as a
# static library and lies where it finds the tcp module.
set -eu
probe=$1
decoy=$2
work=$3

rm -rf "$work"
mkdir -p "$work/ham"
cp "$decoy" "$work/ham/libham_tcp.so"
cp "$decoy" "$work/libham_tcp.so"
cd "$work"
unset HAM_MODULE_PATH

expect() {
  text=$1
  shift
  "$@" >output 2>&1 || { cat output; exit 1; }
  ! grep DECOY output || { echo "code from the current directory: $*"; exit 1; }
  grep -q "$text" output || { echo "no '$text': $*"; cat output; exit 1; }
}

# Through PATH, argv[0] is a bare name.
folder=$(dirname "$probe")
name=$(basename "$probe")
expect "tcp: usable" env "PATH=$folder:$PATH" "$name"
# A relative folder in HAM_MODULE_PATH is refused, an absolute one is used.
expect "relative folder ham" env HAM_MODULE_PATH=/tmp:ham "$probe"
HAM_MODULE_PATH=$work/ham "$probe" >output 2>&1 || :
grep -q DECOY output
