# Packages for a build with another compiler than the system's: GoogleTest from its sources (Debian: googletest), and for
# a cross build libraries of headers from the building machine.

# Builds GoogleTest with the compiler of this build.
macro(ham_googletest_from_sources)
  if(EXISTS /usr/src/googletest/CMakeLists.txt)
    set(BUILD_GMOCK OFF)
    set(INSTALL_GTEST OFF)
    add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
    set(GTest_FOUND TRUE)
  endif()
endmacro()

# Takes the headers FOLDER of /usr/include, and nothing else of it, as the package NAME with the target TARGET.
macro(ham_cross_headers name target folder)
  if(NOT ${name}_FOUND AND EXISTS /usr/include/${folder})
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/host-headers/${name}")
    file(CREATE_LINK /usr/include/${folder} "${PROJECT_BINARY_DIR}/host-headers/${name}/${folder}" SYMBOLIC)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/host-headers/${name}")
    set(${name}_FOUND TRUE)
  endif()
endmacro()
