// Two versions of this library in one process: their functions have the same names, so that neither works.
#pragma once

#include <span>
#include <string>

namespace ham::inline v1::base {

/// Of the files that are loaded, another libham.so than `own`; empty if there is none.
[[nodiscard]] std::string second_library(const std::string& own, std::span<const std::string> loaded);

/// Throws ham::config_error if there is one in this process, with both files.
void expect_one_library();

}  // namespace ham::base
