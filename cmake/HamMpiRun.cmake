# Tests that are started by a launcher of MPI.

# What lets mpirun run as root, and more processes than there are cores; other launchers do not look at it.
set(HAM_MPIRUN_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
                           PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
                           PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)

# ham_mpirun_test(NAME MPI PROCESSES COMMAND...): COMMAND with the launcher of MPI. A program that finds that the MPI cannot
# do what it needs ends with 77: the test is then shown as skipped.
function(ham_mpirun_test name mpi processes)
  add_test(NAME ${name} COMMAND ${HAM_MPIRUN_FRONT} "${HAM_MPI_${mpi}_LAUNCHER}" -n ${processes} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 PROCESSORS 2 SKIP_RETURN_CODE 77
                                          ENVIRONMENT "${HAM_MPIRUN_ENVIRONMENT}")
endfunction()
