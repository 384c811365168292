# ham_hidden_archive(TARGET EXPORTS OBJECTS...): a static library of one object. Of its symbols only main and those in the list
# EXPORTS are global, so that it can be linked with another copy of what is in it. Where that cannot be done, the library is an
# ordinary one, and a message says so.

# Sets RESULT to why it cannot be done, or to nothing.
function(ham_cannot_hide result)
  set(${result} "" PARENT_SCOPE)
  if(HAM_SANITIZE)
    set(${result} "a sanitizer needs its symbols" PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_OBJCOPY OR NOT CMAKE_NM OR NOT CMAKE_LINKER)
    set(${result} "objcopy, nm or ld is missing (Debian: binutils)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${CMAKE_LINKER}" --help OUTPUT_VARIABLE help ERROR_QUIET)
  if(NOT help MATCHES "--force-group-allocation")
    set(${result} "${CMAKE_LINKER} has no --force-group-allocation (binutils 2.30 has it)" PARENT_SCOPE)
  endif()
endfunction()

function(ham_hidden_archive target exports)
  ham_cannot_hide(why)
  if(why)
    message(STATUS "ham: lib${target}.a: symbols of HAM are visible, and kernels that contain HAM cannot be linked with it: ${why}")
    add_library(${target} STATIC ${ARGN})
    return()
  endif()
  file(STRINGS "${exports}" lines REGEX "[a-z0-9];$")
  list(TRANSFORM lines REPLACE "[ ;]" "")
  list(JOIN lines "\n" names)
  set(symbols "${CMAKE_CURRENT_BINARY_DIR}/${target}.symbols")
  file(CONFIGURE OUTPUT "${symbols}" CONTENT "${names}\nmain\n")  # written if it differs
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${exports}")
  set(all "${CMAKE_CURRENT_BINARY_DIR}/${target}_visible.o")
  set(unique "${CMAKE_CURRENT_BINARY_DIR}/${target}.unique")
  set(hidden "${CMAKE_CURRENT_BINARY_DIR}/${target}.o")
  # Without their groups, inline functions are not exchanged for those of another copy. What link-time optimisation would use
  # knows nothing of hidden symbols. objcopy hides no unique symbols, but makes them weak ones, which it hides; only those, because
  # what is undefined must not become weak, or a static link would not look for it.
  add_custom_command(OUTPUT "${hidden}"
    COMMAND "${CMAKE_LINKER}" -r --force-group-allocation -o "${all}" ${ARGN}
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--remove-section=.gnu.lto_*" "--remove-section=.gnu.debuglto_*" "${all}"
    COMMAND sh -c "\"$0\" --defined-only \"$1\" | awk 'BEGIN {print \"none\"} $2 == \"u\" {print $3}' >\"$2\"" "${CMAKE_NM}"
            "${all}" "${unique}"
    COMMAND "${CMAKE_OBJCOPY}" "--weaken-symbols=${unique}" "${all}"
    COMMAND "${CMAKE_OBJCOPY}" "--keep-global-symbols=${symbols}" "${all}" "${hidden}"
    COMMAND "${CMAKE_COMMAND}" -E rm "${all}"
    DEPENDS ${ARGN} "${symbols}" COMMAND_EXPAND_LISTS VERBATIM COMMENT "Hiding symbols of ${target}")
  add_library(${target} STATIC "${hidden}")
  set_source_files_properties("${hidden}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
