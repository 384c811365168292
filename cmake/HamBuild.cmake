# How HAM's own targets are compiled, and the helper functions that the directories share.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endif()

if(HAM_SANITIZE)
  add_compile_options(-fsanitize=${HAM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HAM_SANITIZE})
  message(STATUS "ham: sanitizers on: ${HAM_SANITIZE}")
endif()

if(HAM_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Flags of our own code; never handed on to users of the library.
# In a unity build an unnamed namespace looks like one of a header (-Wsubobject-linkage).
# -Wrestrict and -Wstringop-overflow of GCC 12 and 13 misfire inside std::string and std::vector (GCC PR 105651, 105329).
function(ham_own_code target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${HAM_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# Flags of the libraries' code. Tests are compiled faster without optimisation; the library gets some, as they use it much.
function(ham_library_code target)
  ham_own_code(${target})
  if(HAM_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Reads the line "// KEY: VALUE" of a source file; DEFAULT when there is none. With these lines a test or an example
# states what it needs beside its code: "link", "args", "env", "timeout".
function(ham_directive out source key default)
  file(STRINGS "${source}" lines REGEX "^// ${key}: ")
  if(NOT lines)
    set(${out} "${default}" PARENT_SCOPE)
    return()
  endif()
  list(GET lines 0 line)
  string(REGEX REPLACE "^// ${key}: *" "" value "${line}")
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Timeout in seconds, longer under a sanitizer.
function(ham_timeout out seconds)
  if(HAM_SANITIZE)
    math(EXPR seconds "${seconds} * 4")
  endif()
  set(${out} ${seconds} PARENT_SCOPE)
endfunction()

# The tests of a GoogleTest program as tests of CTest, each named PREFIX.suite.test. Under a sanitizer a process takes longer to
# start than most tests to run, so there SHARDS processes share them, as PREFIX.1_of_SHARDS and so on; those of a new program
# are one for about 100 tests. LABELS, TIMEOUT (of a test), TEST_FILTER, ENVIRONMENT.
function(ham_discover_tests target prefix shards)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "LABELS;TIMEOUT;TEST_FILTER" "ENVIRONMENT")
  if(NOT HAM_SANITIZE)
    set(environment "")
    if(arg_ENVIRONMENT)
      set(environment ENVIRONMENT "${arg_ENVIRONMENT}")
    endif()
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX ${prefix}.
                         TEST_FILTER "${arg_TEST_FILTER}"
                         PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ${environment})
    return()
  endif()
  set(filter "")
  if(arg_TEST_FILTER)
    set(filter "--gtest_filter=${arg_TEST_FILTER}")
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    set(name ${prefix}.${shard}_of_${shards})
    add_test(NAME ${name} COMMAND ${target} ${filter})
    # Long ones first: what is begun last is waited for by idle cores.
    set(environment GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${index} ${arg_ENVIRONMENT})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900 COST 100 ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# Takes an element of HAM_EXTRA_TRANSPORTS, NAME=FOLDER, apart. A relative folder is one of the source tree.
function(ham_extra_transport name folder element)
  if(NOT element MATCHES "^([a-z][a-z0-9_]*)=(.+)$")
    message(FATAL_ERROR "HAM_EXTRA_TRANSPORTS: \"${element}\" is not NAME=FOLDER")
  endif()
  set(${name} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(path "${CMAKE_MATCH_2}")
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${path}/factory.cpp")
    message(FATAL_ERROR "HAM_EXTRA_TRANSPORTS: there is no ${path}/factory.cpp; name the folder of the transport's sources")
  endif()
  set(${folder} "${path}" PARENT_SCOPE)
endfunction()

# Makes one executable out of SOURCES. What it links is said by "// link:" in one of them; the default is ham::offload,
# which wraps main. A source with an explicit start says "// link: ham::ham".
function(ham_program target)
  set(link ham::offload)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    ham_directive(link "${source}" link "${link}")
  endforeach()
  separate_arguments(link UNIX_COMMAND "${link}")
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${link})
  ham_own_code(${target})
endfunction()
