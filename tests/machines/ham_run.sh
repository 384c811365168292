# shellcheck shell=sh
# ham-run on a, with targets on b and c: ham_run.sh APPLICATION HAM_RUN
application=$1
run="$2 --ssh $remote_shell"
nothing_left() { for machine in a b c; do left $machine 0; done; }

expect "all is well" a "$run --hosts b:2,c $application check a b b c"
# An address in place of a name; lines that begin with the node.
expect "^\[0\] all is well" a "$run --hosts localhost,c,$(address b) --output-prefix $application check a a c b"
expect "all is well" a "$run --hosts b --copy $application check a b"
[ -z "$(ls /run/temporary/b)" ] || fail "left on b: $(ls /run/temporary/b)"
status=0
on a "timeout 60 $run --hosts b,c $application exit 42" || status=$?
[ $status -eq 42 ] || fail "status $status instead of the host's"
nothing_left

: >/run/output
on a "echo \$\$ >/run/ham-run; exec $run --hosts b,c $application wait" >/run/output 2>&1 &
job=$!
eventually grep -q "under way" /run/output || fail "the job does not start"
on a "kill -KILL \$(cat /run/ham-run)"
wait $job || :
nothing_left
