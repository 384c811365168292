#!/bin/sh
# Builds and runs the consumer programs with pkg-config alone: pkg_config.sh COMPILER LIBDIR WORK_DIR
set -eu
compiler=$1
libdir=$2
work=$3
sources=$(cd "$(dirname "$0")" && pwd)

. "$(dirname "$0")/installed.sh"

# The flags are words: they are meant to be split.
# shellcheck disable=SC2046
build() {
  program=$1
  packages=$2
  shift 2
  echo "$program: pkg-config $packages $*"
  "$compiler" -std=c++20 -O1 "$sources/${program%%-*}.cpp" -o "$program" "$@" \
    $(pkg-config --cflags --libs ${1+--static} $packages)
}

build message ham
./message
build offload ham-offload
./offload
if [ -e "$libdir/libham.a" ]; then
  build offload-static ham-offload -static
  ./offload-static
fi
if [ -e "$libdir/libham_tcp.a" ]; then
  # The archives hold both kinds of code: without the optimisation of the whole library, as above, a link takes a second.
  build tcp_static "ham-offload ham-tcp-static" -static -fno-lto
  build tcp_static-absent ham-offload -static -fno-lto
  sh "$sources/tcp_static.sh" ./tcp_static ./tcp_static-absent "$libdir/ham"
fi
