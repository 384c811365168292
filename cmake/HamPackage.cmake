# Debian packages of what is installed, one for each component, by CPack: cpack -G DEB in the build folder, or make package.
# Between packages of HAM, versions must be equal; what else they depend on is found by dpkg-shlibdeps (docs/packages.md).

set(ham_abi "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_PACKAGE_NAME ham)
set(CPACK_PACKAGE_VENDOR HAM)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL "")
# Types of kernels are in the debug information of programs (ham-bench-kernels-*-child).
set(CPACK_STRIP_FILES OFF)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(CMAKE_CROSSCOMPILING)  # otherwise dpkg says it
  string(REPLACE aarch64 arm64 CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${CMAKE_SYSTEM_PROCESSOR}")
  string(REPLACE ppc64le ppc64el CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${CPACK_DEBIAN_PACKAGE_ARCHITECTURE}")
endif()
# As Debian's own tools have it, who makes the package is in the environment.
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "HAM <root@localhost>")
if("$ENV{DEBEMAIL}" MATCHES "@")
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()

# ham_deb(COMPONENT NAME SECTION SUMMARY [DEPENDS text] [RECOMMENDS text] [SUGGESTS text] [LIBRARIES "name version"]): a package.
# LIBRARIES are those that programs link, whose packages dpkg-shlibdeps then makes depend on this one.
function(ham_deb component name section summary)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "DEPENDS;RECOMMENDS;SUGGESTS;LIBRARIES")
  string(TOUPPER ${component} upper)
  set(deb CPACK_DEBIAN_${upper}_PACKAGE)
  set(${deb}_NAME ${name} PARENT_SCOPE)
  set(${deb}_SECTION ${section} PARENT_SCOPE)
  foreach(relation IN ITEMS DEPENDS RECOMMENDS SUGGESTS)
    list(JOIN arg_${relation} ", " list)
    set(${deb}_${relation} "${list}" PARENT_SCOPE)
  endforeach()
  if(arg_LIBRARIES)
    list(TRANSFORM arg_LIBRARIES APPEND " ${name} (>= ${PROJECT_VERSION})\n" OUTPUT_VARIABLE lines)
    list(JOIN lines "" text)
    set(shlibs "${PROJECT_BINARY_DIR}/packaging/${name}/shlibs")
    file(CONFIGURE OUTPUT "${shlibs}" CONTENT "${text}" @ONLY)
    set(${deb}_CONTROL_EXTRA "${shlibs};${PROJECT_SOURCE_DIR}/packaging/debian/triggers" PARENT_SCOPE)
  endif()
  set(CPACK_COMPONENT_${upper}_DESCRIPTION
      "${summary}.\nHAM calls C++ functions in other processes, at about the cost of moving a\ncache line there and back." PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  # Only where the component is named, as CPack does.
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}" RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(same "(= ${PROJECT_VERSION})")
set(library "libham${ham_abi}")
ham_deb(runtime ${library} libs "active messages between processes: the library" LIBRARIES "libham ${ham_abi}"
        RECOMMENDS "libham-tcp ${same}" SUGGESTS ham-tools)
ham_deb(dev libham-dev libdevel "active messages between processes: headers, static libraries, CMake and pkg-config"
        DEPENDS "${library} ${same}" RECOMMENDS "libham-tcp ${same}" g++ pkg-config SUGGESTS cmake libssl-dev)
set(ipsec_mb "")
if(ham_ipsec_mb)
  set(ipsec_mb RECOMMENDS libipsec-mb1)  # loaded where it is there
endif()
ham_deb(tcp libham-tcp libs "active messages between processes: the tcp transport" DEPENDS "${library} ${same}" ${ipsec_mb})
ham_deb(tools ham-tools utils "active messages between processes: ham-info, ham-run, ham-top, ham-trace"
        DEPENDS "${library} ${same}" RECOMMENDS "libham-tcp ${same}" SUGGESTS openssh-client)
if(TARGET ham_cuda)
  ham_deb(cuda libham-cuda libs "active messages between processes: the driver of NVIDIA's GPUs" DEPENDS "${library} ${same}")
endif()
set(veo_package "")
if(TARGET veo)
  set(veo_package "libveo1 ${same}")
  ham_deb(veo libveo1 libs "VEO API for ordinary machines: the library, and the helper that runs kernels"
          LIBRARIES "libveo 1" "libaveoVE 1" "libveohmem 1" "libvhcall 1")
  ham_deb(veo_dev libveo-dev libdevel "VEO API for ordinary machines: headers, static libraries, ham-ve, mk_veorun_static"
          DEPENDS "${veo_package}" RECOMMENDS gcc "libham-dev ${same}" SUGGESTS libffi-dev)
endif()
if(TARGET ham-bench)
  ham_deb(bench ham-bench utils "active messages between processes: ham-bench, which measures them"
          DEPENDS "${library} ${same}" ${veo_package} RECOMMENDS "libham-tcp ${same}")
endif()
foreach(mpi IN LISTS HAM_MPIS)
  set(kernels "")
  ham_deb(mpi_${mpi} libham-mpi-${mpi} libs "active messages between processes: the mpi transport for ${mpi}"
          DEPENDS "${library} ${same}")
  if(TARGET mpix_objects)
    set(kernels "libmpixkernel-${mpi}${ham_abi} ${same}")
    ham_deb(mpix_${mpi} libmpixkernel-${mpi}${ham_abi} libs "MPI kernels for ${mpi}: the library, and ham-kernel-host"
            LIBRARIES "libmpixkernel_${mpi} ${ham_abi}")
    ham_deb(mpix_${mpi}_dev libmpixkernel-${mpi}-dev libdevel "MPI kernels for ${mpi}: the library to link"
            DEPENDS "${kernels}" "libham-dev ${same}" lib${mpi}-dev)
  endif()
  if(HAM_BUILD_TOOLS)
    ham_deb(bench_${mpi} ham-bench-${mpi} utils "active messages between processes: measures them beside ${mpi}"
            DEPENDS "${library} ${same}" "libham-mpi-${mpi} ${same}" ${kernels})
  endif()
endforeach()

include(CPack)
