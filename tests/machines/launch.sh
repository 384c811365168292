# shellcheck shell=sh
# For cases of $mpi, whose launcher is $launcher: starts it on a, with the remote shell in the place of ssh.

# launch TEXT PLACES RANKS WORD...: the job succeeds and writes TEXT. A run that hangs for a known reason of MPI's own is
# ended and repeated.
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
    if wait_unless_hung "$job"; then break; fi
    echo "$hung: the run is ended and repeated"
    end_job
  done
  if ! wait "$job" || ! grep -q -e "$text" /run/output; then
    cat /run/output
    fail "$*"
  fi
}

# Fails if the job hangs, with the reason in `hung`. The last run is waited for in any case.
wait_unless_hung() {
  seconds=0
  while kill -0 "$1" 2>/dev/null; do
    sleep 0.2
    [ "$run" -lt 3 ] || continue
    seconds=$((seconds + 1))
    [ $((seconds % 25)) -eq 0 ] || continue
    case $mpi in
      openmpi) lost_in_start ;;
      *) lost_at_end ;;
    esac || return 1
  done
}

processes() { for machine in a b c; do ip netns pids $machine; done; }

# Open MPI 4.1 loses spawned processes now and then: docs/mpix.md.
lost_in_start() {
  hung="Open MPI has lost a spawned process"
  for process in $(processes); do
    if grep -q mca_pmix_ "/proc/$process/maps" && ! grep -q -e mca_state_ -e mca_errmgr_ "/proc/$process/maps"; then
      return 1
    fi
  done 2>/dev/null
}

# MPICH before 4.2 may hang in MPI_Finalize, docs/running.md: the job has done its work, some ranks wait for the launcher
# and the others, which do not sleep as they would in HAM, for these.
lost_at_end() {
  hung="MPICH hangs in MPI_Finalize"
  grep -q -e "$text" /run/output || return 0
  waits=0
  for process in $(processes); do
    grep -q libmpich "/proc/$process/maps" || continue
    case $(cat "/proc/$process/wchan") in
      unix_stream*) waits=1 ;;
      *sleep*) return 0 ;;
    esac
  done 2>/dev/null
  return $waits
}

end_job() {
  on a "kill \$(cat /run/launcher)"
  wait "$job" || :
}
