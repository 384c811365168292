#!/bin/sh
# Installs what is missing on Debian and its relatives: install-deps.sh [build|check|tidy|fuzz|isa|mpi|plots|tls|package|python|peers|evaluate|prove|docs|cross ISA]. Quick and
# silent when all is there. Only the tools that nothing can be built without make it fail. "has-fuzzer" installs nothing and says
# whether clang++ can link a fuzzer.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-build}

has_fuzzer() {
  command -v clang++ >/dev/null 2>&1 || return 1
  probe=$(mktemp -d)
  printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' >"$probe/one.cpp"
  clang++ -fsanitize=fuzzer,address,undefined "$probe/one.cpp" -o "$probe/one" >/dev/null 2>&1
  found=$?
  rm -r "$probe"
  return $found
}
if [ "$purpose" = has-fuzzer ]; then
  if has_fuzzer; then exit 0; else exit 1; fi
fi

# What HAM is compared with (benchmarks/peers): Debian's packages here, Python's in a folder of their own.
if [ "$purpose" = peers ]; then
  scripts/install-deps.sh peers-packages
  exec scripts/python-packages.sh build/peers-python peers mpi4py iceoryx2 ray loky joblib
fi

# Another implementation of TLS 1.3, for tests of ours (tests/transport/tcp/interop).
if [ "$purpose" = tls ]; then
  scripts/install-deps.sh tls-packages
  exec scripts/python-packages.sh build/tls-python "tests with another TLS" "tlslite-ng~=0.8.2"
fi

# Perfetto's own reader of traces, for tests of those that jobs write (tests/trace).
if [ "$purpose" = trace ]; then
  scripts/install-deps.sh trace-packages
  exec scripts/python-packages.sh build/trace-python "tests of traces" perfetto
fi

# What makes the site: Doxygen from Debian, the generator from PyPI.
if [ "$purpose" = docs ]; then
  scripts/install-deps.sh docs-packages
  exec scripts/python-packages.sh build/docs-python "the site" "sphinx~=8.2" "myst-parser~=5.0" furo
fi

# What the package for Python is built with, and tested with.
if [ "$purpose" = python ]; then
  scripts/install-deps.sh python-packages
  exec scripts/python-packages.sh build/python-packages "the package for Python" nanobind scikit-build-core cloudpickle cffi numpy pytest \
    build joblib scikit-learn nbclient ipykernel
fi

# Commands that must be there, each with its package.
case ${CXX:-c++} in
  c++ | g++) required="make:make cmake:cmake ${CXX:-c++}:g++" ;;
  *)  # of no package that is known here
    required="make:make cmake:cmake"
    if ! command -v "${CXX%% *}" >/dev/null 2>&1; then
      echo "ham: cannot build: CXX names \"$CXX\", which is not there; name a C++ compiler that is, or unset CXX" >&2
      exit 1
    fi
    ;;
esac
# What enlarges the build when it is there (commands, then libraries).
optional_commands="ninja:ninja-build pkg-config:pkg-config python3:python3 ip:iproute2"
optional_libraries="libssl-dev libffi-dev libgtest-dev libcli11-dev nlohmann-json3-dev libpng-dev"
[ "$(uname -m)" != x86_64 ] || optional_libraries="$optional_libraries libipsec-mb-dev"
case $purpose in
  check) optional_commands="$optional_commands clang-format-14:clang-format-14 abidiff:abigail-tools" ;;
  fuzz)
    has_fuzzer || optional_libraries="$optional_libraries clang libclang-rt-dev"
    ;;
  mpi) optional_libraries="$optional_libraries openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran" ;;
  peers-packages)
    optional_libraries="$optional_libraries openmpi-bin libopenmpi-dev mpich libmpich-dev libucx-dev libzmq3-dev cppzmq-dev
      libnng-dev libboost-dev libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libcapnp-dev capnproto
      clang libomp-dev python3-venv"
    ;;
  package) optional_commands="$optional_commands dpkg-shlibdeps:dpkg-dev file:file abidiff:abigail-tools" ;;
  python-packages) optional_libraries="$optional_libraries python3-venv python3-dev" ;;
  docs-packages)
    optional_commands="$optional_commands doxygen:doxygen"
    optional_libraries="$optional_libraries python3-venv"
    ;;
  tls-packages | trace-packages) optional_libraries="$optional_libraries python3-venv" ;;
  plots) optional_libraries="$optional_libraries python3-matplotlib" ;;
  evaluate)  # what is measured beside HAM, what plots it, and what shows the page to its test
    optional_libraries="$optional_libraries openmpi-bin libopenmpi-dev mpich libmpich-dev libopenblas-dev python3-matplotlib clang libomp-dev"
    optional_commands="$optional_commands chromium:chromium"
    ;;
  prove) optional_commands="$optional_commands spin:spin" ;;
  tidy) optional_commands="$optional_commands clang-tidy:clang-tidy" ;;
  isa)  # cross compilers for the instruction sets in HAM_TEST_ISAS, and what their tests need
    optional_libraries="$optional_libraries googletest"
    for isa in ${HAM_TEST_ISAS-aarch64 s390x}; do
      case $isa in
        clang) continue ;;  # large, so only where it is there already
        libcxx) optional_libraries="$optional_libraries clang libc++-dev libc++abi-dev"; continue ;;
      esac
      triple=$(echo "$isa" | sed s/ppc64le/powerpc64le/)-linux-gnu
      optional_commands="$optional_commands qemu-$isa-static:qemu-user-static $triple-g++:g++-$triple"
    done
    ;;
esac

# Packages of another architecture, beside those of this one.
foreign_libraries=
if [ "$purpose" = cross ]; then
  isa=${2:?install-deps.sh cross ISA}
  triple=$(echo "$isa" | sed s/ppc64le/powerpc64le/)-linux-gnu
  optional_libraries="googletest libcli11-dev nlohmann-json3-dev"
  optional_commands="$optional_commands qemu-$isa-static:qemu-user-static $triple-g++:g++-$triple"
  purpose=cross-$isa
  case $isa in
    aarch64) architecture=arm64 ;;
    ppc64le) architecture=ppc64el ;;
    s390x) architecture=s390x ;;
    *) architecture= ;;  # Debian 12 has no packages for riscv64
  esac
  if [ -z "$architecture" ]; then
    echo "ham: Debian has no packages for $isa: built without TLS and VEO"
  elif command -v dpkg >/dev/null 2>&1 && [ "$(dpkg --print-architecture)" != "$architecture" ]; then
    foreign_libraries="libssl-dev:$architecture libffi-dev:$architecture"
  fi
fi

missing_foreign() {
  for package in $foreign_libraries; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

missing_commands() {
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || echo "${pair#*:}"
  done | sort -u | tr '\n' ' '
}

missing_libraries() {
  installed=$(dpkg-query -W -f '${Package}=${db:Status-Status} ' "$@" 2>/dev/null || true)
  for package in "$@"; do
    case " $installed" in
      *" $package=installed "*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# shellcheck disable=SC2086
needed=$(missing_commands $required)
# shellcheck disable=SC2086
wanted=$(missing_commands $optional_commands)
if command -v dpkg-query >/dev/null 2>&1; then
  # shellcheck disable=SC2086
  wanted="$wanted$(missing_libraries $optional_libraries)$(missing_foreign)"
fi
[ -n "$needed$wanted" ] || exit 0

# Optional packages are asked for once per build folder, not on every call: they may not exist here.
stamp=build/.deps-$purpose
if [ -z "$needed" ] && [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root="none"
  if command -v sudo >/dev/null 2>&1; then
    if sudo -n true 2>/dev/null; then
      as_root="sudo"
    elif [ -t 0 ]; then  # asked once: who has no right to use it is not asked for each package
      echo "ham: sudo is needed to install $needed$wanted"
      if sudo -v; then as_root="sudo"; fi
    fi
  fi
fi

install() {
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -qq -y \
    --no-install-recommends "$@" >/dev/null
}

# Package lists may be absent or old: they are fetched when the first attempt fails.
lists_are_new=
install_fresh() {
  install "$@" 2>/dev/null && return 0
  if [ -z "$lists_are_new" ]; then
    lists_are_new=yes
    $as_root apt-get update -qq || true
  fi
  install "$@"
}

# Both architectures must have a package in the same version: the one of this machine is brought up to date with it.
add_architecture() {
  dpkg --print-foreign-architectures | grep -qx "$1" || {
    echo "ham: adding the architecture $1 to those that dpkg installs packages for (dpkg --remove-architecture $1 undoes it)"
    $as_root dpkg --add-architecture "$1"
  }
  $as_root apt-get update -qq || true
  lists_are_new=yes
}
foreign=$(missing_foreign)
if [ -n "$foreign" ] && [ "$as_root" != none ] && command -v apt-get >/dev/null 2>&1; then
  add_architecture "$architecture"
  for package in $foreign; do wanted="$wanted${package%:*} "; done
fi

if [ "$as_root" = none ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "ham: not installed: $needed$wanted(no right or no apt-get to install them): apt-get install $needed$wanted" >&2
else
  echo "ham: installing $needed$wanted"
  # shellcheck disable=SC2086
  if ! install_fresh $needed $wanted; then
    [ -z "$needed" ] || install_fresh $needed || true
    for package in $wanted; do
      install_fresh "$package" || echo "ham: $package could not be installed: going on without it" >&2
    done
  fi
fi

# shellcheck disable=SC2086
needed=$(missing_commands $required)
if [ -n "$needed" ]; then
  echo "ham: cannot build without: $needed" >&2
  exit 1
fi
mkdir -p build
# shellcheck disable=SC2086
wanted=$(missing_commands $optional_commands)
if command -v dpkg-query >/dev/null 2>&1; then
  # shellcheck disable=SC2086
  wanted="$wanted$(missing_libraries $optional_libraries)$(missing_foreign)"
fi
printf '%s' "$wanted" >"$stamp"
