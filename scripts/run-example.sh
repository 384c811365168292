#!/bin/sh
# Runs an example and checks it: run-example.sh SOURCE PROGRAM [ARGS...]. The program must exit with 0 and its output
# match the extended regular expression of every line "// expect: REGEX" in SOURCE, of which there must be one; in Fortran
# "! expect: REGEX", in Python "# expect: REGEX".
set -eu
source=$1
shift

output=$(mktemp)
patterns=$(mktemp)
trap 'rm -f "$output" "$patterns"' EXIT

sed -n -E 's,^(//|!|#) expect: ,,p' "$source" >"$patterns"
if [ ! -s "$patterns" ]; then
  echo "$source: no line '// expect: REGEX': nothing to check the output against" >&2
  exit 1
fi

status=0
"$@" >"$output" 2>&1 || status=$?
cat "$output"
if [ "$status" -ne 0 ]; then
  echo "$source: exit status $status" >&2
  exit 1
fi

failed=0
while IFS= read -r pattern; do
  if ! grep -Eq -e "$pattern" "$output"; then
    echo "$source: output does not match: $pattern" >&2
    failed=1
  fi
done <"$patterns"
exit "$failed"
