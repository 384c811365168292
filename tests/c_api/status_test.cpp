// Exceptions as codes and texts of a thread.
#include "c_api/status.hpp"

#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "ham/error.hpp"
#include "ham/ham.h"
#include "ham/offload/stage_error.hpp"

namespace {

using namespace ham;

template <class What>
int status_after(What what) {
  return c_api::guarded([&]() -> int { throw what; });
}

TEST(c_status, every_exception_has_a_code) {
  EXPECT_EQ(c_api::guarded([] { return HAM_OK; }), HAM_OK);
  EXPECT_EQ(status_after(error("text")), HAM_ERROR);
  EXPECT_EQ(status_after(protocol_error("text")), HAM_ERROR);
  EXPECT_EQ(status_after(config_error("text")), HAM_ERROR_CONFIG);
  EXPECT_EQ(status_after(call_error("text")), HAM_ERROR_CALL);
  EXPECT_EQ(status_after(buffer_error("the text")), HAM_ERROR_BUFFER);
  EXPECT_STREQ(ham_error_message(), "the text");
  EXPECT_EQ(status_after(remote_error("text", {})), HAM_ERROR_EXCEPTION);
  EXPECT_EQ(status_after(std::runtime_error("text")), HAM_ERROR_EXCEPTION);
  EXPECT_EQ(status_after(5), HAM_ERROR_EXCEPTION);
  EXPECT_EQ(status_after(std::bad_alloc()), HAM_ERROR_MEMORY);
  EXPECT_EQ(status_after(c_api::bad_argument{"it is null"}), HAM_ERROR_ARGUMENT);
  EXPECT_STREQ(ham_error_message(), "it is null");
}

TEST(c_status, stages_have_a_cause) {
  const auto cause = std::make_exception_ptr(c_api::function_failure(5, "of the function"));
  EXPECT_EQ(status_after(stage_error("stage 3 (f) has failed", {3, "f", 1}, cause)), HAM_ERROR_STAGE);
  EXPECT_STREQ(ham_error_message(), "stage 3 (f) has failed");
  EXPECT_EQ(ham_error_stage(), 3);
  EXPECT_EQ(ham_error_cause(), HAM_ERROR_FUNCTION);
  EXPECT_EQ(ham_error_function_code(), 5);
  EXPECT_STREQ(ham_error_cause_message(), "of the function");
  EXPECT_EQ(status_after(error("text")), HAM_ERROR);
  EXPECT_EQ(ham_error_stage(), -1);
  EXPECT_EQ(ham_error_cause(), HAM_OK);
  EXPECT_STREQ(ham_error_cause_message(), "");
}

TEST(c_status, details_are_those_of_the_last_error) {
  node_failure::details lost;
  lost.outcome = call_outcome::ran;
  EXPECT_EQ(status_after(node_failure("lost", lost)), HAM_ERROR_NODE_FAILURE);
  EXPECT_EQ(ham_error_outcome(), HAM_RAN);
  EXPECT_EQ(status_after(deadline_exceeded("late")), HAM_ERROR_DEADLINE);
  EXPECT_EQ(ham_error_outcome(), HAM_MAY_HAVE_RUN);
  EXPECT_EQ(status_after(c_api::function_failure(7, "seven")), HAM_ERROR_FUNCTION);
  EXPECT_EQ(ham_error_function_code(), 7);
  EXPECT_EQ(ham_error_outcome(), HAM_NOT_RUN);
  EXPECT_EQ(status_after(error("other")), HAM_ERROR);
  EXPECT_EQ(ham_error_function_code(), 0);
}

TEST(c_status, every_thread_has_its_own) {
  (void)status_after(error("of this thread"));
  std::thread([] {
    EXPECT_STREQ(ham_error_message(), "");
    (void)status_after(error("of another"));
  }).join();
  EXPECT_STREQ(ham_error_message(), "of this thread");
}

TEST(c_status, codes_have_names) {
  std::set<std::string> names;
  for (int code = HAM_OK; code <= HAM_ERROR_STAGE; ++code) {
    EXPECT_TRUE(std::string(ham_status_text(code)).starts_with("HAM_"));
    names.insert(ham_status_text(code));
  }
  EXPECT_EQ(names.size(), 15U);
  EXPECT_STREQ(ham_status_text(-1), "unknown status");
  EXPECT_STREQ(ham_status_text(HAM_ERROR_STAGE + 1), "unknown status");
}

}  // namespace
