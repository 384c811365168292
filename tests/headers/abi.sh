#!/bin/sh
# What check-abi.sh makes of abidiff's answers, for which a stand-in speaks: abi.sh SOURCE_FOLDER.
set -eu
check=$1/scripts/check-abi.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$folder/old.so"
: >"$folder/new.so"
mkdir "$folder/bin"
printf '#!/bin/sh\nexit "$ABIDIFF_STATUS"\n' >"$folder/bin/abidiff"
chmod +x "$folder/bin/abidiff"

# expect STATUS_OF_CHECK TEXT STATUS_OF_ABIDIFF ARGUMENTS...
expect() {
  wanted=$1
  text=$2
  shift 2
  status=0
  output=$(ABIDIFF_STATUS=$1 && export ABIDIFF_STATUS && shift && PATH="$folder/bin:$PATH" "$check" "$@" 2>&1) || status=$?
  case $output in
    *"$text"*) [ "$status" -eq "$wanted" ] && return ;;
  esac
  echo "check-abi.sh: status $status instead of $wanted, or not \"$text\": $output" >&2
  exit 1
}

expect 0 "go on with" 0 "$folder/old.so" "$folder/new.so"
expect 1 "raise the minor version" 4 "$folder/old.so" "$folder/new.so"  # additions are not reported
expect 1 "raise the minor version" 12 "$folder/old.so" "$folder/new.so"
expect 2 "abidiff has failed" 1 "$folder/old.so" "$folder/new.so"
expect 2 "cannot read" 0 "$folder/old.so" "$folder/absent.so"
expect 0 "there is no release v0.0.0" 0 --against v0.0.0
expect 2 "check-abi.sh OLD NEW" 0
