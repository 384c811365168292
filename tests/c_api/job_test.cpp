// The job of a program in C, as far as one process goes; tests/c_api/program_test.c starts targets.
#include <cstring>

#include "c_api_job.hpp"

namespace c_api_test {

using c_job = two_targets;

TEST(c_job_absent, says_so) {
  EXPECT_EQ(ham_num_nodes(), 0);
  EXPECT_EQ(ham_this_node(), -1);
  EXPECT_EQ(status_of(1, "anything", ""), HAM_ERROR_CONFIG);
  EXPECT_GT(std::strlen(ham_error_message()), 0U);
  EXPECT_EQ(ham_finish(), HAM_OK);
}

TEST(c_job_started, by_its_nodes) {
  EXPECT_EQ(ham_start_nodes("nonsense:1"), HAM_ERROR_CONFIG);
  EXPECT_NE(std::string(ham_error_message()).find("nonsense"), std::string::npos);
  EXPECT_EQ(ham_start_nodes(nullptr), HAM_ERROR_ARGUMENT);
  ASSERT_EQ(ham_start_nodes("loopback:3"), HAM_OK) << ham_error_message();
  EXPECT_EQ(ham_start_nodes("loopback:1"), HAM_OK) << "is up already";
  EXPECT_EQ(ham_num_nodes(), 4);
  EXPECT_EQ(ham_finish(), HAM_OK);
  EXPECT_EQ(ham_num_nodes(), 0);
}

TEST_F(c_job, nodes) {
  EXPECT_EQ(ham_num_nodes(), 3);
  EXPECT_EQ(ham_this_node(), 0);
  char name[256];
  ASSERT_EQ(ham_node_name(1, name, sizeof name), HAM_OK);
  const size_t length = std::strlen(name);
  EXPECT_GT(length, 0U);
  char shortened[2];
  ASSERT_EQ(ham_node_name(1, shortened, 2), HAM_OK);
  EXPECT_EQ(shortened[0], name[0]);
  EXPECT_EQ(shortened[1], '\0');
  EXPECT_EQ(ham_node_name(1, name, 0), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_node_name(9, name, sizeof name), HAM_ERROR_CALL);
  int alive = -1;
  EXPECT_EQ(ham_alive(2, &alive), HAM_OK);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(ham_alive(9, &alive), HAM_ERROR_CALL);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ham_add_node("shm:1", nullptr), HAM_ERROR_CONFIG) << "a job of one process";
  EXPECT_EQ(ham_remove_node(1), HAM_ERROR_CONFIG);
  EXPECT_EQ(ham_load_library(0, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_load_library(0, "/no/such/library.so"), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("/no/such/library.so"), std::string::npos) << ham_error_message();
}

TEST(c_version, is_that_of_the_headers) {
  EXPECT_EQ(ham_version(), HAM_VERSION);
  EXPECT_EQ(std::string(HAM_VERSION_STRING), std::to_string(HAM_VERSION_MAJOR) + "." +
                                                 std::to_string(HAM_VERSION_MINOR) + "." +
                                                 std::to_string(HAM_VERSION_PATCH));
}

}  // namespace c_api_test
