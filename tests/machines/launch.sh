# shellcheck shell=sh
# For cases of $mpi, whose launcher is $launcher: starts it on a, with the remote shell in the place of ssh.

# launch TEXT PLACES RANKS WORD...: the job succeeds and writes TEXT. It is repeated if Open MPI has lost a spawned process.
launch() {
  text=$1
  ranks="-n $3"
  case $mpi in
    openmpi)
      front="OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
        OMPI_MCA_plm_rsh_agent=$remote_shell PRTE_MCA_plm_ssh_agent=$remote_shell $launcher --host $2"
      ;;
    *) front="HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$remote_shell $launcher -hosts $2" ;;
  esac
  shift 3
  echo "--- $launcher $ranks $*"
  for run in 1 2 3; do
    on a "echo \$\$ >/run/launcher; exec timeout 60 env $(echo "$front" | tr '\n' ' ') $ranks $*" >/run/output 2>&1 </dev/null &
    job=$!
    # The last run is waited for in any case.
    if [ $run -eq 3 ] || ! lost_a_process; then break; fi
    echo "Open MPI has lost a spawned process: the run is ended and repeated"
    on a "kill \$(cat /run/launcher)"
    wait "$job" || :
  done
  if ! wait "$job" || ! grep -q -e "$text" /run/output; then
    cat /run/output
    fail "$*"
  fi
}

# Waits for the job, and fails when it has ended. Open MPI 4.1 loses spawned processes now and then: docs/mpix.md.
lost_a_process() {
  rounds=0
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    rounds=$((rounds + 1))
    [ $((rounds % 25)) -eq 0 ] || continue
    for process in $(for machine in a b c; do ip netns pids $machine; done); do
      if grep -q mca_pmix_ "/proc/$process/maps" && ! grep -q -e mca_state_ -e mca_errmgr_ "/proc/$process/maps"; then
        return 0
      fi
    done 2>/dev/null
  done
  return 1
}
