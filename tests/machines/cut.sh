# shellcheck shell=sh
# The network of b goes down under a job of a, b and c: cut.sh APPLICATION [HAM_RUN]
application=$1
ham_run=${2:-}
timeout_s=2
HAM_TCP_TIMEOUT=$timeout_s
key="HAM_TCP_TIMEOUT=$timeout_s HAM_KEY=/run/key"
if [ -n "$ham_run" ]; then
  job="$ham_run --ssh $remote_shell --env HAM_TCP_TIMEOUT=$timeout_s --hosts b,c"
  waiting=0
else
  on a "$application --ham-make-key=/run/key"
  serve b "$(address b):7000" "$application"
  serve c "$(address c):7000" "$application"
  job="env $key HAM_NODES='tcp://b:7000,tcp://c:7000'"
  waiting=2 # what waits for hosts, and its next child
fi

: >/run/output
on a "timeout 60 $job $application cut" >/run/output 2>&1 &
job=$!
eventually grep -q "under way" /run/output || fail "the job does not start"
ip -n b link set eth0 down
before_ms=$(date +%s%3N)
wait $job || fail "the job, status $?"
cat /run/output
for what in "calls failed" "the long call failed"; do
  at_ms=$(sed -n "s/^$what at \([0-9]*\):.*/\1/p" /run/output)
  if [ -z "$at_ms" ]; then
    fail "no word of: $what"
    continue
  fi
  echo "$what $((at_ms - before_ms)) ms after the cut"
  # Idle connections are probed once a second, and the machine may be busy. By itself the kernel takes minutes.
  [ $((at_ms - before_ms)) -lt $((timeout_s * 1000 + 20000)) ] || fail "$what: too late"
done

[ -z "$ham_run" ] || grep -q "^ham-run: b does not answer" /run/output || fail "no word of b from ham-run"

# The process of the job on b notices, too, that it has lost its host.
left a 0
left c $waiting
[ -n "$ham_run" ] || left b $waiting
ip -n b link set eth0 up
eventually up b || fail "b does not come back"
left b $waiting
[ -n "$ham_run" ] || expect "all is well" a "$key HAM_NODES='tcp://b:7000' $application check a b"
