// Rules of HAM_FAULT that strike when a test wants it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fault_rules.hpp"
#include "support.hpp"

namespace ham::inline v1::test {

/// The rule, with a seed by which its first decisions on the host are these; it has to be the only one.
inline std::string deciding(const std::string& rule, double probability, const std::vector<bool>& decisions) {
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    std::string text = rule + ":" + std::to_string(probability) + ":" + std::to_string(seed);
    const auto read = base::parse_faults(text, "here").front();
    std::uint64_t n = 0;
    const auto fits = [&](bool decision) { return base::strikes(read, 0, 0, n++) == decision; };
    if (std::all_of(decisions.begin(), decisions.end(), fits)) return text;
  }
  throw error("there is no such seed");
}

/// The same: it strikes the first time, and not again in a test.
inline std::string striking_once(const std::string& rule) {
  std::vector<bool> decisions(40);
  decisions.front() = true;
  return deciding(rule, 1.0 / 32, decisions);
}

}  // namespace ham::test
