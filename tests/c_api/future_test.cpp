// Futures of programs in C: waiting, results that do not fit, errors, giving back.
#include "c_api/future.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "c_api_job.hpp"

namespace c_api_test {

std::atomic<bool> may_end{false};
std::atomic<int> ended{0};

int waits(const void*, size_t, ham_reply* reply, void*) {
  while (!may_end) std::this_thread::yield();
  ++ended;
  return ham_set_result(reply, "waited", 6);
}
const bool registered = ham_register("c_api_test.waits", &waits, nullptr) == HAM_OK;

class c_futures : public two_targets {
 protected:
  c_futures() {
    may_end = false;
    ended = 0;
  }
  static ham_future* start(int64_t timeout_ms = -1) {
    ham_future* future = nullptr;
    EXPECT_EQ(ham_call_async(1, "c_api_test.waits", nullptr, 0, timeout_ms, &future), HAM_OK) << ham_error_message();
    return future;
  }
};

TEST_F(c_futures, are_waited_for) {
  ham_future* future = start();
  EXPECT_EQ(ham_wait(future, 0), HAM_NOT_YET);
  EXPECT_EQ(ham_wait(future, 20), HAM_NOT_YET);
  may_end = true;
  EXPECT_EQ(ham_wait(future, -1), HAM_OK);
  EXPECT_EQ(ham_wait(future, 0), HAM_OK);
  char result[6];
  EXPECT_EQ(ham_result(&future, result, sizeof result, nullptr), HAM_OK);
  EXPECT_EQ(std::memcmp(result, "waited", 6), 0);
  EXPECT_EQ(future, nullptr);
}

TEST_F(c_futures, a_result_that_does_not_fit_is_not_lost) {
  may_end = true;
  ham_future* future = start();
  char result[6] = "-----";
  size_t size = 0;
  EXPECT_EQ(ham_result(&future, result, 3, &size), HAM_ERROR_TRUNCATED);
  EXPECT_EQ(std::string(result, 5), "wai--");
  EXPECT_EQ(size, 6U);
  ASSERT_NE(future, nullptr);
  EXPECT_EQ(ham_result(&future, nullptr, 6, &size), HAM_ERROR_ARGUMENT);
  ASSERT_NE(future, nullptr);
  EXPECT_EQ(ham_result(&future, result, 6, &size), HAM_OK);
  EXPECT_EQ(future, nullptr);

  EXPECT_EQ(ham_call(1, "c_api_test.waits", nullptr, 0, -1, result, 2, &size), HAM_ERROR_TRUNCATED);
  EXPECT_NE(std::string(ham_error_message()).find("6 bytes, and there is space for 2"), std::string::npos);
}

TEST_F(c_futures, deadlines_end_them) {
  ham_future* future = start(30);
  EXPECT_EQ(ham_wait(future, -1), HAM_OK) << "it has ended, though not well";
  size_t size = 0;
  EXPECT_EQ(ham_result_size(future, &size), HAM_ERROR_DEADLINE);
  EXPECT_EQ(ham_error_outcome(), HAM_MAY_HAVE_RUN);
  EXPECT_EQ(ham_result(&future, nullptr, 0, nullptr), HAM_ERROR_DEADLINE) << "told again";
  EXPECT_EQ(future, nullptr);
  may_end = true;
}

TEST_F(c_futures, may_be_given_back_at_any_time) {
  ham_future* future = start();
  ham_release(&future);
  EXPECT_EQ(future, nullptr);
  EXPECT_EQ(ended, 0) << "it was not waited for";
  may_end = true;
  EXPECT_TRUE(ham::test::eventually([] { return ended == 1; }));
  ham_release(&future);
  ham_release(nullptr);
}

TEST_F(c_futures, pings_have_none) {
  may_end = true;
  EXPECT_EQ(ham_ping(1, "c_api_test.waits", nullptr, 0), HAM_OK);
  EXPECT_TRUE(ham::test::eventually([] { return ended == 1; }));
}

TEST_F(c_futures, null_pointers_are_refused) {
  ham_future* none = nullptr;
  size_t size = 0;
  EXPECT_EQ(ham_call_async(1, "c_api_test.waits", nullptr, 0, -1, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_call_async(1, "c_api_test.waits", nullptr, 5, -1, &none), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(ham_wait(nullptr, 0), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_result_size(nullptr, &size), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_result(&none, nullptr, 0, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_result(nullptr, nullptr, 0, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_STREQ(ham_error_message(), "the place of the future is a null pointer");
}

}  // namespace c_api_test
