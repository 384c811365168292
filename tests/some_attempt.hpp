// What a machine without time for a process may spoil, and a defect always does.
#pragma once

namespace ham::inline v1::test {

/// Whether `what()` is true in one of a few attempts.
template <class What>
[[nodiscard]] bool in_some_attempt(What what) {
  for (int i = 0; i < 5; ++i) {
    if (what()) return true;
  }
  return false;
}

}  // namespace ham::test
