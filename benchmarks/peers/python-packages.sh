#!/bin/sh
# Makes the virtual environment build/peers-python with the Python packages that HAM is compared with. What cannot be installed
# is named and left out. Nothing is installed outside of build/.
set -eu
cd "$(dirname "$0")/../.."
folder=build/peers-python
packages="mpi4py iceoryx2 ray"
stamp=$folder/.tried
[ "$(cat "$stamp" 2>/dev/null)" != "$packages" ] || exit 0

if [ ! -x "$folder/bin/pip" ] && ! python3 -m venv "$folder" >/dev/null 2>&1; then
  echo "ham: peers: no virtual environment (Debian: python3-venv): $packages are off" >&2
  exit 0
fi
echo "ham: peers: installing $packages into $folder"
for package in $packages; do
  "$folder/bin/pip" install -q --disable-pip-version-check --no-cache-dir "$package" >"$folder/pip.log" 2>&1 ||
    echo "ham: peers: $package could not be installed ($(tail -n 1 "$folder/pip.log")): going on without it" >&2
done
printf '%s' "$packages" >"$stamp"
