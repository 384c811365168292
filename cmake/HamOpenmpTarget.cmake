# A clang that makes OpenMP target regions for LLVM's plug-in for the host, which runs them on this machine.

# Sets HAM_OPENMP_TARGET: compiler and options that make a library of them, or nothing. FOLDER has the sources to try.
function(ham_find_openmp_target folder)
  if(HAM_OPENMP_TARGET)
    return()
  endif()
  find_program(HAM_OPENMP_CLANG NAMES clang++ clang++-19 clang++-16 clang++-15 clang++-14)
  set(failed TRUE)
  if(HAM_OPENMP_CLANG AND NOT CMAKE_CROSSCOMPILING)
    set(command "${HAM_OPENMP_CLANG}" -std=c++20 -O2 -fPIC -shared -fopenmp
                -fopenmp-targets=${CMAKE_HOST_SYSTEM_PROCESSOR}-pc-linux-gnu)
    set(try "${CMAKE_CURRENT_BINARY_DIR}/openmp_target")
    file(MAKE_DIRECTORY "${try}")
    execute_process(COMMAND ${command} "${folder}/target_regions.cpp" -o "${try}/libtry.so"
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      execute_process(COMMAND "${HAM_OPENMP_CLANG}" "${folder}/try.cpp" "${try}/libtry.so" "-Wl,-rpath,${try}" -o "${try}/try"
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(NOT failed)  # what can be linked may still have no device
      execute_process(COMMAND "${try}/try" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
    endif()
  endif()
  if(failed)
    message(STATUS "ham: ham-bench openmp is not built: no clang with LLVM's OpenMP plug-in for the host (Debian: clang libomp-dev)")
  else()
    set(HAM_OPENMP_TARGET "${command}" CACHE INTERNAL "Compiler and options for OpenMP target regions on the host")
  endif()
endfunction()
