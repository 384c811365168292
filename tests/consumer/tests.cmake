# Tests that install HAM into the build folder and use it from there by find_package and by pkg-config, and by
# FetchContent from the source tree.

set(prefix "${CMAKE_CURRENT_BINARY_DIR}/prefix")

# Into an empty prefix: a header that is no longer installed must not be found there.
add_test(NAME consumer.clean COMMAND ${CMAKE_COMMAND} -E rm -rf "${prefix}")
set_tests_properties(consumer.clean PROPERTIES LABELS consumer FIXTURES_SETUP ham_prefix_empty)
add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install "${PROJECT_BINARY_DIR}" --prefix "${prefix}")
set_tests_properties(consumer.install PROPERTIES LABELS consumer TIMEOUT 120 FIXTURES_REQUIRED ham_prefix_empty
                                               FIXTURES_SETUP ham_installed)

function(consumer_build_and_test name)
  add_test(NAME consumer.${name}
           COMMAND ${CMAKE_CTEST_COMMAND}
                   --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/${name}"
                   --build-generator ${CMAKE_GENERATOR}
                   --build-options "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" ${ARGN}
                   --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure --no-tests=error --timeout 60)
  set_tests_properties(consumer.${name} PROPERTIES LABELS consumer TIMEOUT 600 PROCESSORS 2)
endfunction()

consumer_build_and_test(find_package -DCMAKE_BUILD_TYPE=Release -DCONSUMER_OF=package "-DCMAKE_PREFIX_PATH=${prefix}"
                       -DHAM_VERSION=${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                       "-DHAM_MODULES=${prefix}/${CMAKE_INSTALL_LIBDIR}/ham")
set_tests_properties(consumer.find_package PROPERTIES FIXTURES_REQUIRED ham_installed)

# Builds the library once more, so without optimisation and what needs other packages.
consumer_build_and_test(fetch_content -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DCONSUMER_OF=fetch_content
                        "-DFETCHCONTENT_SOURCE_DIR_HAM=${PROJECT_SOURCE_DIR}")

add_test(NAME consumer.pkg_config
         COMMAND ${HAM_SH} "${CMAKE_CURRENT_SOURCE_DIR}/pkg_config.sh" "${CMAKE_CXX_COMPILER}"
                 "${prefix}/${CMAKE_INSTALL_LIBDIR}" "${CMAKE_CURRENT_BINARY_DIR}/pkg_config")
set_tests_properties(consumer.pkg_config PROPERTIES LABELS consumer TIMEOUT 900 FIXTURES_REQUIRED ham_installed
                                                    SKIP_RETURN_CODE 77)

# MPI kernels, where the MPI can spawn.
include(HamMpiRun)
ham_add_spawning_mpirun()
foreach(mpi IN LISTS HAM_MPIX_SPAWNING)
  if(HAM_SANITIZE OR NOT TARGET mpixkernel_${mpi})
    continue()
  endif()
  add_test(NAME consumer.mpix.${mpi}
           COMMAND ${HAM_SH} "${CMAKE_CURRENT_SOURCE_DIR}/mpix.sh" ${mpi} "${HAM_MPI_${mpi}_COMPILER}"
                   "${HAM_MPI_${mpi}_FORTRAN}" "${HAM_MPI_${mpi}_LAUNCHER}" "${prefix}/${CMAKE_INSTALL_LIBDIR}"
                   "${CMAKE_CURRENT_BINARY_DIR}/mpix_${mpi}" $<TARGET_FILE:ham_spawning_mpirun>)
  set_tests_properties(consumer.mpix.${mpi} PROPERTIES
    LABELS "consumer;mpix" TIMEOUT 120 PROCESSORS 2 FIXTURES_REQUIRED ham_installed SKIP_RETURN_CODE 77
    ENVIRONMENT "${HAM_MPIRUN_ENVIRONMENT}")
endforeach()
