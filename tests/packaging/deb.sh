#!/bin/sh
# Makes Debian packages of a build, checks what they say, unpacks them, and builds and runs a program with what is unpacked:
# deb.sh CMAKE CPACK COMPILER BUILD_FOLDER WORK_FOLDER VERSION COMPONENTS
set -eu
cmake=$1
cpack=$2
compiler=$3
build=$4
work=$5
version=$6
components=$7
abi=${version%.*}
sources=$(cd "$(dirname "$0")/../consumer" && pwd)

for tool in dpkg-deb dpkg-shlibdeps file pkg-config readelf; do
  if ! command -v $tool >/dev/null; then
    echo "$tool not found: skipped (Debian: dpkg-dev file pkg-config binutils)"
    exit 77
  fi
done

fail() {
  echo "deb.sh: $*" >&2
  exit 1
}
field() {
  dpkg-deb --field "$1" "$2"
}
# The field NAME of the package FILE has each of the texts.
expect_in() {
  file=$1
  name=$2
  shift 2
  value=$(field "$file" "$name")
  for text in "$@"; do
    case $value in
      *"$text"*) ;;
      *) fail "$(basename "$file"): $name is \"$value\", without \"$text\"" ;;
    esac
  done
}

rm -rf "$work"
mkdir -p "$work/root"
cd "$work"
# Compressed quickly, because nobody keeps them.
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B debs -D "CPACK_COMPONENTS_ALL=$components" \
  -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >cpack.log 2>&1 || { cat cpack.log; fail "cpack has failed"; }

architecture=$(dpkg --print-architecture)
library=debs/libham${abi}_${version}_$architecture.deb
dev=debs/libham-dev_${version}_$architecture.deb
tcp=debs/libham-tcp_${version}_$architecture.deb
tools=debs/ham-tools_${version}_$architecture.deb
for deb in "$library" "$dev" "$tcp" "$tools"; do
  [ -e "$deb" ] || { ls debs; fail "cpack has not made $deb"; }
  [ "$(field "$deb" Version)" = "$version" ] || fail "$deb has version $(field "$deb" Version)"
  dpkg-deb --extract "$deb" root
  dpkg-deb --contents "$deb" | awk '$1 !~ /^d/ {print $6}' >>files
done
# What dpkg would refuse: a file that two packages have.
twice=$(sort files | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"

# Depends: what dpkg-shlibdeps finds, and the library of this version.
expect_in "$library" Depends "libc6 (>=" "libstdc++6 (>="
expect_in "$dev" Depends "libham$abi (= $version)"
expect_in "$tcp" Depends "libc6 (>=" "libham$abi (= $version)"
expect_in "$tools" Depends "libc6 (>=" "libham$abi (= $version)"
module=$(find root/usr/lib -name libham_tcp.so)
if readelf -d "$module" | grep -q "NEEDED.*libssl"; then
  expect_in "$tcp" Depends libssl
fi

# The loader's name of the library, what other packages are told of it, and the loader's cache.
shared=$(find root/usr/lib -name "libham.so.$version")
[ -n "$shared" ] || fail "libham.so.$version is not in $library"
readelf -d "$shared" | grep -q "SONAME.*\[libham.so.$abi\]" || fail "the soname of $shared is not libham.so.$abi"
[ -e "$(dirname "$shared")/libham.so.$abi" ] || fail "libham.so.$abi is not in $library"
mkdir control
dpkg-deb --control "$library" control
grep -q "^libham $abi libham$abi " control/shlibs || fail "shlibs of $library: $(cat control/shlibs)"
grep -q "^activate-noawait ldconfig$" control/triggers || fail "no trigger for ldconfig in $library"
dpkg-deb --contents "$library" | grep -q "\./usr/include" && fail "headers in $library"

# As the packages were installed, in another root. Only what is there may be found.
libdir=$PWD/$(dirname "$shared")
LD_LIBRARY_PATH=$libdir
PKG_CONFIG_PATH=$libdir/pkgconfig
export LD_LIBRARY_PATH PKG_CONFIG_PATH
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(packaged LANGUAGES CXX)
find_package(ham ${VERSION} EXACT REQUIRED COMPONENTS offload)
get_target_property(file ham::ham LOCATION)
message(STATUS "found ${file}")
add_executable(packaged "${SOURCES}/offload.cpp")
target_link_libraries(packaged PRIVATE ham::offload)
END
"$cmake" -S . -B built -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$PWD/root/usr" -DVERSION="$version" \
  -DSOURCES="$sources" >cmake.log 2>&1 || { cat cmake.log; fail "find_package does not find the packages"; }
grep -q "found $libdir/" cmake.log || { cat cmake.log; fail "another HAM was found"; }
"$cmake" --build built >build.log 2>&1 || { cat build.log; fail "the program does not compile"; }
built/packaged | grep "^inner product on node 1 of 2: 6144$"
# The flags are words: they are meant to be split.
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$sources/message.cpp" -o message $(pkg-config --cflags --libs ham)
ldd message | grep -q "libham.so.$abi => $libdir/" || { ldd message; fail "another libham is loaded"; }
./message

# The module is found beside the library, by the tools too.
root/usr/bin/ham-info >info
grep -E "^ *tcp +available" info || { cat info; fail "ham-info does not find the tcp module"; }
root/usr/bin/ham-run -n 2 built/packaged | grep "^inner product on node 1 of 2: 6144$"
