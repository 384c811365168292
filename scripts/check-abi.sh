#!/bin/sh
# Compares the ABI of two builds of libham.so, with debug information: check-abi.sh OLD NEW
# check-abi.sh --against TAG builds both first, out of that tag and out of this tree, below build/abi.
#
# Fails for changes that can break programs which were linked with OLD, as abidiff reports them: functions that are gone or have other
# types, structs with another layout; additions are fine. Only types that the public headers declare count, and, where both are
# known by the tag, only functions that they name. Without abidiff (Debian: abigail-tools), or without the tag, nothing is
# compared, and a line says so.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

if [ $# -ne 2 ]; then
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi
if ! command -v abidiff >/dev/null; then
  echo "check-abi: abidiff is not installed (Debian: abigail-tools): not compared"
  exit 0
fi

# Builds the library of the tree SOURCE in build/abi/NAME, and prints its file.
build() {
  cmake -S "$2" -B "$root/build/abi/$1" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHAM_LTO=OFF -DHAM_BUILD_TESTS=OFF \
    -DHAM_BUILD_EXAMPLES=OFF -DHAM_BUILD_TOOLS=OFF -DHAM_BUILD_BENCHMARKS=OFF -DHAM_VEO=OFF >"$root/build/abi/$1.log"
  cmake --build "$root/build/abi/$1" --target ham --parallel >>"$root/build/abi/$1.log"
  find "$root/build/abi/$1" -name libham.so | head -n 1
}

old_headers=$root/include
if [ "$1" = --against ]; then
  if ! git -C "$root" rev-parse -q --verify "$2^{commit}" >/dev/null; then
    echo "check-abi: there is no release $2: not compared"
    exit 0
  fi
  rm -rf "$root/build/abi"
  mkdir -p "$root/build/abi/source"
  git -C "$root" archive "$2" | tar -x -C "$root/build/abi/source"
  old_headers=$root/build/abi/source/include
  old=$(build old "$root/build/abi/source")
  new=$(build new "$root")
else
  old=$1
  new=$2
fi
for file in "$old" "$new"; do
  if [ ! -r "$file" ]; then
    echo "check-abi: cannot read \"$file\"" >&2
    exit 2
  fi
done

# The library exports functions of its own parts as well, which programs cannot name: those of classes, or with names, that the
# headers do not have. Prints for abidiff that they do not count.
private_symbols() {
  find "$old_headers" "$root/include" -type f -exec sed -e 's,//.*,,' -e '/^ *[/ ]\*/d' {} + |
    grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u >"$work/words"
  for file in "$old" "$new"; do nm -D --defined-only "$file" | awk '{print $3}'; done | sort -u >"$work/symbols"
  c++filt <"$work/symbols" | paste "$work/symbols" - | awk -v words="$work/words" '
    BEGIN { while ((getline word <words) > 0) known[word] = 1 }
    match($2 " " $3 " " $4, /ham::v[0-9]+::/) {
      rest = substr($2 " " $3 " " $4, RSTART + RLENGTH)
      gsub(/[<([].*/, "", rest)
      count = split(rest, part, "::")
      # A namespace, then a class or a function; of detail only what is behind it says something.
      public = known[part[1]] && (count == 1 || known[part[2]])
      if (!public) print "[suppress_" ($1 ~ /^_ZT/ ? "variable" : "function") "]\n  symbol_name = " $1
    }'
}
work=$(mktemp -d)
trap 'rm -rf "$work"' 0
: >"$work/private.suppr"
[ "$1" != --against ] || private_symbols >"$work/private.suppr"

# Bits of its status: 1 and 2, it could not compare; 4, there are changes; 8, symbols are gone. Whether a change of a type breaks
# programs, it leaves to the reader: one that is harmless, as abidiff knows them, it does not report.
status=0
abidiff --headers-dir1 "$old_headers" --headers-dir2 "$root/include" --no-added-syms --drop-private-types \
  --suppressions "$work/private.suppr" "$old" "$new" || status=$?
if [ $((status & 3)) -ne 0 ]; then
  echo "check-abi: abidiff has failed (status $status)" >&2
  exit 2
fi
if [ $((status & 12)) -ne 0 ]; then
  echo "check-abi: programs that were linked with $old would break with $new; raise the minor version" >&2
  exit 1
fi
echo "check-abi: programs that were linked with $old go on with $new"
