// A refusal has the code that the interface tells callers.
#include "mpix/refusal.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

namespace ham::inline v1::mpix {
namespace {

/// The header needs MPI, which this program has not: its text says the codes.
std::map<std::string, int> codes_of_interface() {
  std::ifstream header(HAM_MPIX_HEADER);
  std::map<std::string, int> codes;
  const std::regex code("\\bMPIX_KERNEL_([A-Z_]+) = ([0-9]+)");
  for (std::string line; std::getline(header, line);) {
    std::smatch found;
    if (std::regex_search(line, found, code)) codes[found[1]] = std::stoi(found[2]);
  }
  return codes;
}

TEST(refusal, codes_are_those_of_the_interface) {
  const std::map<std::string, int> expected{
      {"OK", static_cast<int>(failure::none)},           {"UNKNOWN", static_cast<int>(failure::unknown)},
      {"MISMATCH", static_cast<int>(failure::mismatch)}, {"UNTYPED", static_cast<int>(failure::untyped)},
      {"CRASHED", static_cast<int>(failure::crashed)},   {"EXCEPTION", static_cast<int>(failure::exception)},
      {"NOT_RUN", static_cast<int>(failure::not_run)}};
  EXPECT_EQ(codes_of_interface(), expected);
}

TEST(refusal, says_why_and_with_which_code) {
  try {
    throw refusal(failure::mismatch, "kernel \"f\" takes 2 arguments");
  } catch (const std::runtime_error& problem) {
    EXPECT_STREQ(problem.what(), "kernel \"f\" takes 2 arguments");
    EXPECT_EQ(dynamic_cast<const refusal&>(problem).code(), failure::mismatch);
  }
}

}  // namespace
}  // namespace ham::mpix
