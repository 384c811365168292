#!/bin/sh
# Runs every fuzzer, or those that are named: fuzz.sh BUILD RUNS [NAME...]. New inputs stay below BUILD/fuzz; what was
# found is shown and makes it fail. One at a time for each core, those first that take longest.
set -u
build=$1
runs=$2
shift 2
sources=$(cd "$(dirname "$0")/../fuzz" && pwd)
slow="recording answers trace_part manifest counters engine tcp_handshake"

# Freed memory is kept back for long enough to catch its use within a run, stacks are short: both cost most of the time.
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16:thread_local_quarantine_size_kb=64:malloc_context_size=8:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"

one() {
  mkdir -p "$build/fuzz/new/$1" "$build/fuzz/findings"
  options=$(sed -n "s,^// fuzz: ,,p" "$sources/$1_fuzz.cpp" | sed "s,DIR,$sources,")
  log="$build/fuzz/$1.log"
  # shellcheck disable=SC2086
  if "$build/fuzz/$1" -runs="$runs" -timeout=30 -rss_limit_mb=2048 -artifact_prefix="$build/fuzz/findings/$1-" $options \
    "$build/fuzz/new/$1" "$sources/corpus/$1" >"$log" 2>&1; then
    echo "fuzz: $1: $(sed -n 's,^Done \([0-9]*\) runs in \([0-9]*\) second.*,\1 executions in \2 s,p' "$log")"
  else
    tail -n 40 "$log"
    echo "fuzz: $1: a finding, see $log and $build/fuzz/findings/$1-*"
    return 1
  fi
}

if [ "${HAM_ONE_FUZZER:-}" = 1 ]; then
  one "$1"
  exit
fi
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046,SC2086
  set -- $slow $(cd "$sources" && ls ./*_fuzz.cpp | sed 's,^\./,,; s,_fuzz\.cpp$,,' | grep -vxF "$(printf '%s\n' $slow)")
fi
printf '%s\n' "$@" | HAM_ONE_FUZZER=1 xargs -P "$(nproc)" -I '{}' "$0" "$build" "$runs" '{}'
