// Standard error of a process that was built with a sanitizer, for tests that compare it with an exact text.
#pragma once

#include <algorithm>
#include <string>

namespace ham::inline v1::test {

/// `said` without the lines in which the leak check at the end of a process notes that a thread has ended while it was
/// looked at ("==PID==Unable to get registers from thread TID."): a matter of timing, and no finding. Its findings,
/// which begin with "==PID==ERROR", stay.
[[nodiscard]] inline std::string without_sanitizer_notes(const std::string& said) {
#ifdef HAM_TEST_SANITIZED
  std::string rest;
  for (std::string::size_type begin = 0; begin < said.size();) {
    const auto end = std::min(said.find('\n', begin), said.size() - 1) + 1;
    const std::string line = said.substr(begin, end - begin);
    begin = end;
    const bool note =
        line.starts_with("==") && line.find("==Unable to get registers from thread ") != std::string::npos;
    if (!note) rest += line;
  }
  return rest;
#else
  return said;
#endif
}

}  // namespace ham::test
