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
  package=$2
  shift 2
  echo "$program: pkg-config $package $*"
  "$compiler" -std=c++20 -O1 "$sources/${program%%-*}.cpp" -o "$program" "$@" \
    $(pkg-config --cflags --libs ${1+--static} "$package")
  "./$program"
}

build message ham
build offload ham-offload
if [ -e "$libdir/libham.a" ]; then
  build offload-static ham-offload -static
fi
