# Install rules: headers, libraries, tools, the CMake package and the pkg-config files. All of it can be moved.
# Every rule names its component, which is also what a package holds (HamPackage.cmake):
#   runtime, dev: libham; tcp, cuda, mpi_<mpi>: modules; tools; bench, bench_<mpi>; veo, veo_dev: VEO;
#   mpix_<mpi>, mpix_<mpi>_dev: MPI kernels
include(CMakePackageConfigHelpers)

set(ham_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ham")
set(ham_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(TARGETS ${ham_installed_targets} EXPORT ham-targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev
        ARCHIVE COMPONENT dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ham" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT veo_dev
        PATTERN ham EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev)

# A set of targets for each component with libraries, because a package may lack the files that the others name.
install(EXPORT ham-targets NAMESPACE ham:: DESTINATION "${ham_package_dir}" COMPONENT dev)
if(TARGET veo)
  install(EXPORT ham-veo-targets NAMESPACE ham:: DESTINATION "${ham_package_dir}" COMPONENT veo_dev)
endif()
if(TARGET mpix_objects)
  foreach(mpi IN LISTS HAM_MPIS)
    install(EXPORT ham-mpix-${mpi}-targets NAMESPACE ham:: DESTINATION "${ham_package_dir}" COMPONENT mpix_${mpi}_dev)
  endforeach()
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ham-config.cmake.in" "${PROJECT_BINARY_DIR}/ham-config.cmake"
                              INSTALL_DESTINATION "${ham_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ham-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ham-config.cmake" "${PROJECT_BINARY_DIR}/ham-config-version.cmake"
        DESTINATION "${ham_package_dir}" COMPONENT dev)

# Paths relative to the .pc file itself, so that the prefix may be chosen at install time.
file(RELATIVE_PATH ham_pc_prefix "/prefix/${ham_pkgconfig_dir}" "/prefix")
string(REGEX REPLACE "/$" "" ham_pc_prefix "${ham_pc_prefix}")
set(ham_packages ham ham-offload)
if(TARGET ham_tcp_static)
  list(APPEND ham_packages ham-tcp-static)
  set(ham_pc_openssl "")
  if(OpenSSL_FOUND)
    set(ham_pc_openssl " libssl libcrypto")
  endif()
endif()
foreach(package IN LISTS ham_packages)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${ham_pkgconfig_dir}" COMPONENT dev)
endforeach()

if(TARGET mpix_objects)
  foreach(mpi IN LISTS HAM_MPIS)
    set(packages mpixkernel mpixkernel-main)
    if(HAM_MPIX_FORTRAN_${mpi})
      list(APPEND packages mpixkernel-f08)
    endif()
    foreach(package IN LISTS packages)
      configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}-${mpi}.pc" @ONLY)
      install(FILES "${PROJECT_BINARY_DIR}/${package}-${mpi}.pc" DESTINATION "${ham_pkgconfig_dir}"
              COMPONENT mpix_${mpi}_dev)
    endforeach()
  endforeach()
endif()
