#!/bin/sh
# Lets scripts/check-abi.sh compare a small library with other states of it, and with a release in a repository made for that:
# abi.sh SOURCE_TREE WORK_FOLDER COMPILER
set -eu
tree=$1
work=$2
compiler=$3
for tool in abidiff git cmake nm c++filt; do
  if ! command -v $tool >/dev/null; then
    echo "$tool not found: skipped (Debian: abigail-tools git cmake binutils)"
    exit 77
  fi
done
rm -rf "$work"
mkdir -p "$work/include" "$work/scripts"
cd "$work"
cp "$tree/scripts/check-abi.sh" scripts/
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(ham LANGUAGES CXX)
add_library(ham SHARED library.cpp)
target_include_directories(ham PRIVATE include)
END
cat >include/library.hpp <<'END'
namespace ham::inline v0::offload {
struct options { int nodes; };
int start(const options& wanted);
}
END
cat >library.cpp <<'END'
#include "library.hpp"
namespace ham::inline v0 {
namespace offload { int start(const options& wanted) { return wanted.nodes; } }
namespace base { int hidden_part(int x) { return x; } }
}
END
echo /build/ >.gitignore
git init -q .
git add .
git -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false commit -qm "Release"
git tag v0.1.0

# state NAME: compiles what is in library.cpp now.
state() {
  "$compiler" -std=c++20 -g -fPIC -shared -Iinclude library.cpp -o "$1.so"
}
# expect STATUS TEXT ARGUMENTS...: the check ends with the status, and a line that has the text.
expect() {
  expected=$1
  text=$2
  shift 2
  status=0
  scripts/check-abi.sh "$@" >out 2>&1 || status=$?
  if [ $status -ne "$expected" ] || ! tail -n 1 out | grep "$text"; then
    cat out
    echo "abi.sh: $*: status $status, expected $expected and \"$text\""
    exit 1
  fi
}
state release
expect 0 "go on with" release.so release.so
expect 0 "there is no release v0.0.9: not compared" --against v0.0.9

# More is no break, and what no header declares may go.
sed 's/int start(.*;/&\nint stop();/' -i include/library.hpp
sed 's/^namespace offload {/& int stop() { return 0; }/' -i library.cpp
state more
expect 0 "go on with" release.so more.so
sed 's/hidden_part/other_part/' -i library.cpp
expect 0 "go on with" --against v0.1.0

# A function that is gone breaks programs, and so does a member more in front.
expect 1 "would break with .*raise the minor version" more.so release.so
sed 's/int nodes;/int cores; int nodes;/' -i include/library.hpp
state layout
expect 1 "would break with .*raise the minor version" more.so layout.so
expect 1 "would break with .*raise the minor version" --against v0.1.0
