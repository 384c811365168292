#!/bin/sh
# Builds and runs the suite for another instruction set under qemu-user, or with another compiler (clang) or standard
# library (libcxx) in place of ISA. Ends with 77, and says why, where tools lack.
#   isa.sh why ISA...                 one line for each that cannot be tested here, and why
#   isa.sh build ISA BUILD            builds library, tcp module, suite and conjugate gradient into BUILD, with the preset ISA
#   isa.sh target ISA BUILD COMMAND   runs COMMAND with two foreign targets over shm
#   isa.sh host ISA BUILD COMMAND     runs the foreign build of COMMAND as host of two native targets over shm
#   isa.sh tcp.target ISA BUILD COMMAND   as target over tcp, and a third target of the host's own build over shm
#   isa.sh tcp.host ISA BUILD COMMAND     as host over tcp, and a third target of the host's own build over shm
#   isa.sh refused ISA BUILD COMMAND  COMMAND must fail to start a target of the other byte order, and say so
#   isa.sh wire ISA BUILD COMMAND     what one build encodes the other decodes, and both write the same bytes
#   isa.sh info ISA BUILD COMMAND HAM_INFO   ham-info refuses the calls that cannot be, and only these
# COMMAND is a program of the native build, with arguments; the foreign one is BUILD/ISA_PATH, see below.
set -eu
action=$1
shift

triple() {
  case $1 in
    ppc64le) echo powerpc64le-linux-gnu ;;
    *) echo "$1-linux-gnu" ;;
  esac
}

# Why ISA cannot be built and run here; nothing if it can.
obstacle() {
  case $1 in
    clang)
      command -v clang++ >/dev/null || echo "no clang++ (Debian: clang)"
      return 0
      ;;
    libcxx)
      echo '#include <string>' | clang++ -stdlib=libc++ -x c++ -fsyntax-only - 2>/dev/null ||
        echo "no clang++ with libc++ (Debian: clang, libc++-dev, libc++abi-dev)"
      [ -e /usr/src/googletest/CMakeLists.txt ] || echo "no sources of GoogleTest (Debian: googletest)"
      return 0
      ;;
  esac
  tools=$(triple "$1")
  if ! command -v "$tools-g++" >/dev/null; then
    echo "no $tools-g++ (Debian: g++-$tools)"
  elif ! command -v "qemu-$1-static" >/dev/null; then
    echo "no qemu-$1-static (Debian: qemu-user-static)"
  elif [ ! -e /usr/src/googletest/CMakeLists.txt ]; then
    echo "no sources of GoogleTest (Debian: googletest)"
  elif [ ! -e /usr/include/CLI/CLI.hpp ]; then
    echo "no CLI11 (Debian: libcli11-dev)"
  fi
}

if [ "$action" = why ]; then
  for isa in "$@"; do
    reason=$(obstacle "$isa")
    [ -z "$reason" ] || echo "ham: tests with $isa are skipped: $reason"
  done
  exit 0
fi

isa=$1
build=$2
shift 2
reason=$(obstacle "$isa")
if [ -n "$reason" ]; then
  echo "skipped: $reason"
  exit 77
fi

if [ "$action" = build ]; then
  cd "$(dirname "$0")/../.."
  generator="Unix Makefiles"
  command -v ninja >/dev/null && generator=Ninja
  library=
  [ "$isa" != libcxx ] || library="-DCMAKE_CXX_FLAGS=-stdlib=libc++ -DHAM_GOOGLETEST_SOURCES=ON"
  case $isa in
    clang | libcxx)
      # shellcheck disable=SC2086
      cmake -S . -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER=clang++ $library -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCMAKE_UNITY_BUILD=ON -DHAM_BUILD_STATIC=OFF -DHAM_BUILD_BENCHMARKS=OFF
      ;;
    *) cmake --preset "$isa" -B "$build" -G "$generator" ;;
  esac
  exec cmake --build "$build" --target ham_isa_app ham_tcp conjugate_gradient
fi

program=$1
shift
case $(basename "$program") in
  conjugate_gradient) foreign=$build/bin/applications/conjugate_gradient ;;
  *) foreign=$build/tests/isa/$(basename "$program") ;;
esac
if [ ! -x "$foreign" ]; then
  echo "$foreign was not built"
  exit 1
fi
case $isa in
  clang | libcxx) emulator= ;;
  # Where Debian's packages of that architecture are installed too, the cross compiler's loader would take their C library.
  *) emulator="qemu-$isa-static -L /usr/$(triple "$isa") -E LD_LIBRARY_PATH=/lib" ;;
esac

# Starts a command as a target that waits for hosts, in the clear: the cross compilers' sysroots have no OpenSSL.
serve() {
  export HAM_TCP_SECURITY=off
  said=$(mktemp)
  timeout 280 "$@" --ham-serve=127.0.0.1:0 --ham-jobs=2 2>"$said" &  # who is killed cannot end it
  server=$!
  trap 'kill $server; cat "$said" >&2; rm -f "$said"' EXIT
  trap 'exit 1' HUP INT TERM
  while ! grep -q "waiting for hosts at" "$said"; do
    kill -0 $server || exit 1
    sleep 0.05
  done
  address=$(sed -n 's/.*waiting for hosts at //p' "$said")
}

case $action in
  target) HAM_NODES="exec:$emulator '$foreign'*2" exec "$program" "$@" ;;
  # shellcheck disable=SC2086
  host) HAM_NODES="exec:'$program'*2" exec $emulator "$foreign" "$@" ;;
  tcp.target)
    # shellcheck disable=SC2086
    serve $emulator "$foreign"
    HAM_NODES="shm:1,tcp://$address*2" "$program" "$@"
    ;;
  tcp.host)
    serve "$program"
    # shellcheck disable=SC2086
    HAM_NODES="exec:$emulator '$foreign',tcp://$address*2" $emulator "$foreign" "$@"
    ;;
  refused)
    if output=$(HAM_NODES="exec:$emulator '$foreign'" "$program" 2>&1); then
      echo "the target was started"
      exit 1
    fi
    echo "$output"
    echo "$output" | grep -q "did not join: this target is big-endian and its host is not" &&
      echo "$output" | grep -q "tcp://"
    ;;
  info)
    refused="half_of(long double)"
    [ "$isa" != s390x ] || refused="$refused
value_of(ham::isa::sample const&)"
    case $isa in clang | libcxx) refused="-" ;; esac
    differences=$("$1" --diff "$program" "$foreign") || true
    echo "$differences"
    echo "$differences" | grep -q " equal, 0 only in the first, 0 only in the second" &&
      ! echo "$differences" | grep "^  ! call" | grep -vF "$refused"
    ;;
  wire)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    export HAM_NODES=shm:0
    "$program" --write-wire "$folder/native"
    # shellcheck disable=SC2086
    {
      $emulator "$foreign" --write-wire "$folder/foreign"
      $emulator "$foreign" --read-wire "$folder/native"
    }
    "$program" --read-wire "$folder/foreign"
    cmp "$folder/native" "$folder/foreign"
    ;;
esac
