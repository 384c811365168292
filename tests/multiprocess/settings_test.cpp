// What a program says of settings holds in the targets that it starts, too.
// link: ham::ham
// env: HAM_POOL_THREADS=2 HAM_TCP_TIMEOUT=9
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ham/msg/thread_pool.hpp"
#include "ham/offload.hpp"
#include "support.hpp"

namespace {

using namespace ham;

std::size_t threads_of_pool() { return msg::thread_pool::process().size(); }
std::string text_of_variable(std::string name) {
  const char* const text = std::getenv(name.c_str());
  return text == nullptr ? "" : text;
}

TEST(settings, of_the_program_hold_in_targets) {
  runtime_options options = test::nodes("shm:1");
  options.pool_threads = 3;
  options.close_timeout = std::chrono::milliseconds(2500);
  runtime rt(options);
  EXPECT_EQ(threads_of_pool(), 3U);
  EXPECT_EQ(offload::sync(1, fn<&threads_of_pool>), 3U);
  EXPECT_EQ(offload::sync(1, fn<&text_of_variable>, std::string("HAM_CLOSE_TIMEOUT")), "2.500");
  EXPECT_EQ(offload::sync(1, fn<&text_of_variable>, std::string("HAM_TCP_TIMEOUT")), "9") << "the environment's";
}

TEST(settings, of_the_environment_hold_where_the_program_says_nothing) {
  runtime rt(test::nodes("shm:1"));
  EXPECT_EQ(offload::sync(1, fn<&threads_of_pool>), 2U);
  EXPECT_EQ(offload::sync(1, fn<&text_of_variable>, std::string("HAM_CLOSE_TIMEOUT")), "");
}

/// What the library told on stderr, with HAM_LOG=info in host and target.
TEST(settings, the_log_tells_of_nodes_that_come_and_go) {
  testing::internal::CaptureStderr();
  {
    runtime_options options = test::nodes("shm:1");
    options.log = "info";
    runtime rt(options);
    EXPECT_EQ(offload::sync(1, fn<&text_of_variable>, std::string("HAM_LOG")), "info");
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find(" info runtime: node 1 is connected over shm: "), std::string::npos) << told;
  EXPECT_NE(told.find(" info runtime: node 0 is connected over shm: "), std::string::npos) << "the target's\n" << told;
  EXPECT_NE(told.find("node 0 pid "), std::string::npos) << told;
  EXPECT_NE(told.find("node 1 has left: "), std::string::npos) << told;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
