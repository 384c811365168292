// A command line made of words, as main gets it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/options.hpp"

namespace ham::inline v1::test {

/// Takes the --ham-* options out of `words`, of which the first is the program's name; what is left of them.
[[nodiscard]] inline std::vector<std::string> take_options_from(std::vector<std::string> words,
                                                                runtime_options& options) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  char** argv = pointers.data();
  detail::take_options(argc, argv, options);
  EXPECT_EQ(argv[argc], nullptr);
  return {argv, argv + argc};
}

}  // namespace ham::test
