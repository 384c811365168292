#!/bin/sh
# Checks that every source is formatted as .clang-format says; --fix formats them. Versions of clang-format differ in
# details, so it is version 14 (Debian 12's) that counts.
set -eu
cd "$(dirname "$0")/.."

formatter=
for candidate in clang-format-14 clang-format; do
  case $("$candidate" --version 2>/dev/null) in
    *"version 14."*) formatter=$candidate; break ;;
  esac
done
if [ -z "$formatter" ]; then
  echo "check-format: clang-format 14 not found (Debian: clang-format-14)" >&2
  exit 1
fi

mode="--dry-run --Werror"
[ "${1:-}" = --fix ] && mode="-i"

directories=
for directory in include src tests examples tools benchmarks fuzz; do
  [ -d "$directory" ] && directories="$directories $directory"
done
# shellcheck disable=SC2086
find $directories -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.cu' \) -print0 |
  xargs -0 -r "$formatter" --style=file $mode
[ "$mode" = "-i" ] || echo "format: ok"
