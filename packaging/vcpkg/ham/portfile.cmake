# An overlay port of the source tree that it is in: vcpkg install ham --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" HAM_BUILD_SHARED)
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    tools HAM_BUILD_TOOLS
    veo HAM_VEO
  INVERTED_FEATURES
    tls CMAKE_DISABLE_FIND_PACKAGE_OpenSSL
)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DHAM_BUILD_SHARED=${HAM_BUILD_SHARED}
    -DHAM_BUILD_STATIC=OFF
    -DHAM_BUILD_TESTS=OFF
    -DHAM_BUILD_EXAMPLES=OFF
    -DHAM_BUILD_BENCHMARKS=OFF
    -DHAM_MPI=OFF
    -DHAM_IPSEC_MB=OFF
  MAYBE_UNUSED_VARIABLES
    CMAKE_DISABLE_FIND_PACKAGE_OpenSSL
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ham)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES ham-bench ham-info ham-run ham-top ham-trace AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
