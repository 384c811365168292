#!/bin/sh
# Installs the components of the package PKG_NAME.
set -eu
case $PKG_NAME in
  libham) components="runtime tcp" ;;
  libham-devel) components=dev ;;
  ham-tools) components="tools bench" ;;
  *) echo "install.sh: no components for $PKG_NAME" >&2; exit 1 ;;
esac
for component in $components; do
  cmake --install build/conda --component "$component" --prefix "$PREFIX"
done
