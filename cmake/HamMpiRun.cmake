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

# The target ham_spawning_mpirun: what repeats a run in which Open MPI 4.1 has lost a spawned process (docs/mpix.md).
function(ham_add_spawning_mpirun)
  if(NOT TARGET ham_spawning_mpirun)
    set(watch "${PROJECT_SOURCE_DIR}/tools/kernels")
    add_executable(ham_spawning_mpirun "${watch}/spawning_mpirun.cpp" "${watch}/spawn_watch.cpp")
    set_target_properties(ham_spawning_mpirun PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    ham_own_code(ham_spawning_mpirun)
  endif()
endfunction()

# As ham_mpirun_test, for a program that spawns, once.
function(ham_mpirun_spawning_test name mpi processes)
  ham_add_spawning_mpirun()
  list(APPEND HAM_MPIRUN_FRONT $<TARGET_FILE:ham_spawning_mpirun>)
  ham_mpirun_test(${name} ${mpi} ${processes} ${ARGN})
endfunction()
