#!/bin/sh
# Asks Conan 2 for what it reads of the recipe, and has it export the recipe and its sources, all without a network:
# conan.sh SOURCE_TREE WORK_FOLDER VERSION
set -eu
tree=$1
work=$2
version=$3
if ! command -v conan >/dev/null || ! conan --version 2>/dev/null | grep -q "version 2"; then
  echo "conan 2 not found: skipped (pip install conan)"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work"
CONAN_HOME=$work/home
export CONAN_HOME
conan profile detect >"$work/log" 2>&1
conan remote disable "*" >>"$work/log" 2>&1
conan inspect "$tree/packaging/conan" >"$work/inspected"
grep -q "^version: $version$" "$work/inspected" || { cat "$work/inspected"; exit 1; }
conan export "$tree/packaging/conan" >"$work/exported" 2>&1 || { cat "$work/exported"; exit 1; }
grep "^Exported: ham/$version#" "$work/exported" || { cat "$work/exported"; exit 1; }
# The sources that were exported are those that a build needs: CMake's lists and all that they name at their top.
folder=$(conan cache path "ham/$version" --folder=export_source)
for file in CMakeLists.txt LICENSE cmake/HamPackage.cmake include/ham/version.h packaging/debian/triggers \
  src/CMakeLists.txt tools/CMakeLists.txt; do
  [ -e "$folder/$file" ] || { echo "conan.sh: $file is not exported"; exit 1; }
done
# Without TLS, nothing else is needed: the graph of requirements can be computed here.
conan graph info --requires "ham/$version" -o "ham/*:tls=False" -s compiler.cppstd=20 >"$work/graph" 2>&1 ||
  { cat "$work/graph"; exit 1; }
