#!/bin/sh
# Checks one compile-failure case: check.sh SOURCE HEADER COMPILER [FLAGS...]. HEADER is a file that includes ham/offload.hpp
# and is precompiled beside; all cases have it in front, which takes a tenth of the time. The first line of SOURCE is
# "// expect: TEXT": compiling must fail and print TEXT (taken literally); "// expect: compiles" asks for the opposite. A
# second line "// lines: NUMBER" asks besides that the first error is TEXT, and that at most so many lines follow it.
# A line that ends with "// named" has to be named, with its file, somewhere in what the compiler says.
# "// expect: warnings TEXT" asks that it compiles, with HAM in a folder of system headers, as when it is installed, and that
# the compiler warns with TEXT of those lines that end with "// warns", and of no others.
set -eu
source=$1
header=$2
shift 2
LC_ALL=C
export LC_ALL

expected=$(sed -n '1s|^// expect: ||p' "$source")
if [ -z "$expected" ]; then
  echo "$source: the first line is not '// expect: TEXT'" >&2
  exit 1
fi

# Without quoted source lines in the diagnostics: TEXT must be said by the compiler, not merely stand in the source.
case $("$1" --version) in
  *clang*) quiet=-fno-caret-diagnostics ;;
  *) quiet=-fno-diagnostics-show-caret ;;
esac
case $expected in
  "warnings "*)
    output=$(for flag; do shift; set -- "$@" "$(printf %s "$flag" | sed 's|^-I|-isystem|')"; done
      "$@" -std=c++20 -fsyntax-only "$quiet" "$source" 2>&1) || { printf '%s\n' "$output" >&2; exit 1; }
    wanted=$(grep -n '// warns$' "$source" | cut -d: -f1 | sort -u)
    warned=$(printf '%s\n' "$output" | grep 'warning: ' | grep -F "${expected#warnings }" |
      sed -n "s|^.*$(basename "$source"):\([0-9]*\):.*|\1|p" | sort -u)
    [ "$wanted" = "$warned" ] && exit 0
    printf '%s\n%s\n' "$output" "$source: warnings in lines" $warned "instead of" $wanted >&2
    exit 1
    ;;
esac
lines=$(sed -n '2s|^// lines: ||p' "$source")
[ -z "$lines" ] || quiet= # as a user sees it, with quoted source
status=0
output=$("$@" -include "$header" -std=c++20 -fsyntax-only $quiet "$source" 2>&1) || status=$?

if [ "$expected" = compiles ]; then
  [ "$status" -eq 0 ] && exit 0
  printf '%s\n%s\n' "$output" "$source: does not compile, but should" >&2
  exit 1
fi
if [ "$status" -eq 0 ]; then
  echo "$source: compiles, but should not" >&2
  exit 1
fi
for line in $(grep -n '// named$' "$source" | cut -d: -f1); do
  case $output in
    *"$(basename "$source"):$line:"*) ;;
    *)
      printf '%s\n%s\n' "$output" "$source: fails to compile, but without naming line $line" >&2
      exit 1
      ;;
  esac
done
if [ -n "$lines" ]; then
  following=$(printf '%s\n' "$output" | sed '1,/error: /d' | wc -l)
  if [ "$following" -gt "$lines" ]; then
    printf '%s\n%s\n' "$output" "$source: $following lines follow the first error, more than $lines" >&2
    exit 1
  fi
  output=$(printf '%s\n' "$output" | grep -m 1 'error: ')
fi
case $output in
  *"$expected"*) exit 0 ;;
esac
printf '%s\n%s\n' "$output" "$source: fails to compile, but without saying: $expected" >&2
exit 1
