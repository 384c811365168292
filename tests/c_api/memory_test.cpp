// Memory of nodes for programs in C.
#include <cstring>
#include <numeric>
#include <vector>

#include "c_api_job.hpp"

namespace c_api_test {

using c_memory = two_targets;

TEST_F(c_memory, bytes_go_there_and_back) {
  std::vector<unsigned char> sent(1000);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(0));
  ham_buffer one;
  ham_buffer two;
  ASSERT_EQ(ham_allocate(1, 1000, &one), HAM_OK);
  ASSERT_EQ(ham_allocate(2, 1000, &two), HAM_OK);
  EXPECT_EQ(one.node, 1);
  EXPECT_EQ(one.size, 1000U);
  EXPECT_EQ(ham_put(sent.data(), &one, 0, 1000), HAM_OK);
  EXPECT_EQ(ham_copy(&one, 100, &two, 0, 900), HAM_OK);
  std::vector<unsigned char> got(10);
  EXPECT_EQ(ham_get(&two, 5, got.data(), 10), HAM_OK);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin() + 105));

  ham_future* future = nullptr;
  EXPECT_EQ(ham_put_async(sent.data(), &two, 0, 10, &future), HAM_OK);
  EXPECT_EQ(ham_result(&future, nullptr, 0, nullptr), HAM_OK);
  EXPECT_EQ(ham_copy_async(&two, 0, &one, 990, 10, &future), HAM_OK);
  EXPECT_EQ(ham_wait(future, -1), HAM_OK);
  ham_release(&future);
  EXPECT_EQ(ham_get_async(&one, 990, got.data(), 10, &future), HAM_OK);
  EXPECT_EQ(ham_result(&future, nullptr, 0, nullptr), HAM_OK);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
  EXPECT_EQ(ham_free(&one), HAM_OK);
  EXPECT_EQ(ham_free(&two), HAM_OK);
}

TEST_F(c_memory, what_is_outside_or_freed_is_refused) {
  char bytes[16] = {};
  ham_buffer there;
  ASSERT_EQ(ham_allocate(1, 16, &there), HAM_OK);
  EXPECT_EQ(ham_put(bytes, &there, 10, 7), HAM_ERROR_BUFFER);
  EXPECT_EQ(ham_put(bytes, &there, 17, 0), HAM_ERROR_BUFFER);
  EXPECT_EQ(ham_get(&there, SIZE_MAX, bytes, 2), HAM_ERROR_BUFFER);
  EXPECT_NE(std::string(ham_error_message()).find("outside of a buffer of 16"), std::string::npos);
  EXPECT_EQ(ham_put(nullptr, &there, 0, 1), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_put(nullptr, &there, 0, 0), HAM_OK);
  EXPECT_EQ(ham_put(bytes, nullptr, 0, 1), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_free(&there), HAM_OK);
  EXPECT_EQ(ham_put(bytes, &there, 0, 1), HAM_ERROR_BUFFER);
  EXPECT_EQ(ham_free(&there), HAM_ERROR_BUFFER);
  EXPECT_EQ(ham_free(nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_allocate(1, SIZE_MAX / 2, &there), HAM_ERROR_MEMORY);
  EXPECT_EQ(there.address, 0U);
}

TEST_F(c_memory, is_local_on_its_node_only) {
  ham_buffer here;
  ham_buffer there;
  void* address = nullptr;
  ASSERT_EQ(ham_allocate(0, 8, &here), HAM_OK);
  ASSERT_EQ(ham_allocate(1, 8, &there), HAM_OK);
  ASSERT_EQ(ham_local(&here, &address), HAM_OK);
  std::memcpy(address, "12345678", 8);
  char copy[8];
  EXPECT_EQ(ham_get(&here, 0, copy, 8), HAM_OK);
  EXPECT_EQ(std::memcmp(copy, "12345678", 8), 0);
  EXPECT_EQ(ham_local(&there, &address), HAM_ERROR_BUFFER);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(ham_free(&here), HAM_OK);
  EXPECT_EQ(ham_free(&there), HAM_OK);
}

}  // namespace c_api_test
