#!/bin/sh
# Tries the packages of make package on a machine that has nothing but Debian 12: try.sh [FOLDER_OF_PACKAGES [MACHINE]]
# As root. The machine is a folder (chroot), made by mmdebstrap and removed at the end; MACHINE is one that is there, and stays.
set -eu
cd "$(dirname "$0")/../.."
packages=$(cd "${1:-build/packages}" && pwd)
machine=${2:-$(mktemp -d)}
given=${2:-}
mounted=
trap '[ -z "$mounted" ] || umount "$machine/proc" "$machine/dev/shm" "$machine/dev"
  [ -n "$given" ] || rm -rf --one-file-system "$machine"' 0

if [ -z "$given" ]; then
  echo "try.sh: Debian 12 in $machine"
  mmdebstrap --quiet --variant=minbase bookworm "$machine"
fi
mkdir -p "$machine/packages" "$machine/program"
cp "$packages"/*.deb "$packages"/Packages "$machine/packages/"
cp tests/consumer/*.cpp tests/consumer/CMakeLists.txt tests/consumer/tcp_static.sh "$machine/program/"
mount --bind /dev "$machine/dev"
mount -t tmpfs shm "$machine/dev/shm"
mount -t proc proc "$machine/proc"
mounted=yes

inside() {
  echo "+ $*"
  chroot "$machine" env DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -euc "$*"
}
abi=$(sed -n 's/^#define HAM_VERSION_STRING "\(.*\)\..*"$/\1/p' include/ham/version.h)

# The folder as a repository of apt: what a package depends on is found there.
inside "echo 'deb [trusted=yes] file:/packages ./' >/etc/apt/sources.list.d/ham.list; apt-get update -qq"
inside "apt-get install -qq -y /packages/libham-dev_*.deb >/dev/null"
inside "ldconfig -p | grep -q 'libham.so.$abi '"
inside "cd /program; g++ -std=c++20 offload.cpp -o offload \$(pkg-config --cflags --libs ham-offload); ./offload"
inside "apt-get install -qq -y --no-install-recommends cmake make libham-tcp ham-tools >/dev/null; ham-info | grep 'tcp  *available'"
inside "cd /program; printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(p CXX)' 'find_package(ham $abi REQUIRED COMPONENTS offload)' \
  'add_executable(p offload.cpp)' 'target_link_libraries(p PRIVATE ham::offload)' >CMakeLists.txt; cmake -B build >/dev/null; \
  cmake --build build >/dev/null; ham-run -n 3 build/p"
# The others, and all of them away again.
inside "apt-get install -qq -y --no-install-recommends /packages/*.deb >/dev/null; ham-bench --help >/dev/null"
inside "apt-get purge -qq -y \$(dpkg-query -W -f '\${Package} ' '*ham*' 'libveo*' 'libmpixkernel*') >/dev/null; ! ldconfig -p | grep libham.so"
left=$(find "$machine/usr" -name "*libham*" -o -name "ham-*" -path "*/bin/*")
[ -z "$left" ] || { echo "try.sh: left behind: $left"; exit 1; }
echo "try.sh: packages install, work and go"
