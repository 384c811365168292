#!/bin/sh
# Makes the virtual environment FOLDER with Python packages, for PURPOSE: python-packages.sh FOLDER PURPOSE PACKAGE...
# What cannot be installed is named and left out, and tried again next time. Nothing is installed outside of FOLDER.
set -eu
cd "$(dirname "$0")/.."
folder=$1 purpose=$2
shift 2
stamp=$folder/.installed
[ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || exit 0

if [ ! -x "$folder/bin/pip" ] && ! python3 -m venv "$folder" >/dev/null 2>&1; then
  echo "ham: $purpose: no virtual environment (Debian: python3-venv): $* is off" >&2
  exit 0
fi
echo "ham: $purpose: installing $* into $folder"
missing=
for package in "$@"; do
  "$folder/bin/pip" install -q --disable-pip-version-check --no-cache-dir --retries 1 --timeout 10 "$package" \
    >"$folder/pip.log" 2>&1 || {
    echo "ham: $purpose: $package could not be installed ($(tail -n 1 "$folder/pip.log")): going on without it" >&2
    missing=yes
  }
done
[ -n "$missing" ] || printf '%s' "$*" >"$stamp"
