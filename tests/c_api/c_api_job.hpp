// What the tests of the C API share: a job, calls, and names that no other test takes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ham/ham.h"
#include "offload/loopback_job.hpp"

namespace c_api_test {

using ham::test::two_targets;

/// Names are registered for ever: each test run takes fresh ones.
class function_name {
 public:
  explicit function_name(const std::string& what) : text_("c_api_test." + what + std::to_string(++last_)) {}
  [[nodiscard]] const char* text() const noexcept { return text_.c_str(); }

 private:
  static inline int last_ = 0;
  std::string text_;
};

[[nodiscard]] inline int status_of(ham_node node, const char* name, const std::string& argument) {
  return ham_call(node, name, argument.data(), argument.size(), -1, nullptr, 0, nullptr);
}

[[nodiscard]] inline std::string call(ham_node node, const char* name, const std::string& argument) {
  ham_future* future = nullptr;
  EXPECT_EQ(ham_call_async(node, name, argument.data(), argument.size(), 20000, &future), HAM_OK)
      << ham_error_message();
  size_t size = 0;
  EXPECT_EQ(ham_result_size(future, &size), HAM_OK) << ham_error_message();
  std::string result(size, '\0');
  EXPECT_EQ(ham_result(&future, result.data(), size, &size), HAM_OK) << ham_error_message();
  EXPECT_EQ(future, nullptr);
  EXPECT_EQ(size, result.size());
  return result;
}

}  // namespace c_api_test
