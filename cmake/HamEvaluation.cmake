# The target `evaluation`: all programs that `make evaluate` runs and what these load, as far as this build has them.
set(programs ham-bench ham_tcp aveorun ham_aveorun veohmem vhcall peers conjugate_gradient stream gemm himeno formatted_output shallow_water
             coupled forwarded_calls)
foreach(mpi IN LISTS HAM_MPIS)
  list(APPEND programs ham_mpi_${mpi} ham-bench-mpi-${mpi} ham-bench-kernels-${mpi} ham-bench-kernels-${mpi}-child kernels_heat_${mpi}
                       kernels_heat_kernels_${mpi})
endforeach()

add_custom_target(evaluation)
foreach(program IN LISTS programs)
  if(TARGET ${program})
    add_dependencies(evaluation ${program})
  endif()
endforeach()
