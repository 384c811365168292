# The MPIs to build for: one imported target ham_mpi::<name> each, <name> being openmpi or mpich (which covers all that
# keep MPICH's binary interface). HAM_MPIS lists the names; HAM_MPI_<name>_COMPILER, _LAUNCHER and _FORTRAN the commands.

option(HAM_MPI "Build the mpi transport and MPI kernels where an MPI is found" ON)
set(HAM_MPI_COMPILERS "mpicc.openmpi;mpicc.mpich;mpicc" CACHE STRING
  "MPI compiler wrappers to look at, names or paths; the first of each MPI is taken")
set(HAM_MPIS "")

# Sets `out` to openmpi, mpich or nothing, by what the header says of itself.
function(ham_mpi_name out wrapper)
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/ham_mpi_name.c"
    "#include <mpi.h>\n#if defined OPEN_MPI\nham_mpi_is openmpi\n#elif defined MPICH_VERSION || defined I_MPI_VERSION\nham_mpi_is mpich\n#endif\n")
  execute_process(COMMAND "${wrapper}" -E "${CMAKE_BINARY_DIR}/CMakeFiles/ham_mpi_name.c"
    OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
  set(${out} "" PARENT_SCOPE)
  if(NOT failed AND text MATCHES "ham_mpi_is (openmpi|mpich)")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  endif()
endfunction()

# An imported target with what `wrapper -show` prints. -I, -L and -l are told apart; other flags are the wrapper's taste.
function(ham_mpi_target target wrapper)
  execute_process(COMMAND "${wrapper}" -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REPLACE "-Wl,-rpath -Wl," "-Wl,-rpath," line "${line}")
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-L(.+)")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_DIRECTORIES "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-l(.+)")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-Wl,-rpath")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_OPTIONS "${word}")
    endif()
  endforeach()
endfunction()

# The command that belongs to the wrapper: same folder and suffix (mpirun.openmpi beside mpicc.openmpi).
function(ham_mpi_command variable wrapper)
  get_filename_component(folder "${wrapper}" DIRECTORY)
  get_filename_component(name "${wrapper}" NAME)
  string(REGEX REPLACE "^mpicc" "" suffix "${name}")
  list(TRANSFORM ARGN APPEND "${suffix}" OUTPUT_VARIABLE names)
  find_program(${variable} NAMES ${names} PATHS "${folder}" NO_DEFAULT_PATH)
  mark_as_advanced(${variable})
endfunction()

if(HAM_MPI AND NOT CMAKE_CROSSCOMPILING)
  foreach(candidate IN LISTS HAM_MPI_COMPILERS)
    string(MAKE_C_IDENTIFIER "HAM_MPI_WRAPPER_${candidate}" found)
    find_program(${found} "${candidate}")
    mark_as_advanced(${found})
    if(NOT ${found})
      continue()
    endif()
    ham_mpi_name(name "${${found}}")
    if(name AND NOT name IN_LIST HAM_MPIS)
      list(APPEND HAM_MPIS ${name})
      set(HAM_MPI_${name}_COMPILER "${${found}}")
      ham_mpi_command(HAM_MPI_${name}_LAUNCHER "${${found}}" mpirun mpiexec)
      ham_mpi_command(HAM_MPI_${name}_FORTRAN "${${found}}" mpifort)
      ham_mpi_target(ham_mpi::${name} "${${found}}")
    endif()
  endforeach()
endif()
