// Supervision where there is nothing to supervise; restarts are in tests/multiprocess.
#include "ham/offload/supervise.hpp"

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace supervise_test {

using threads = two_targets;

TEST_F(threads, of_this_process_end_with_it) {
  const std::string why = message_of<config_error>([] { offload::supervise(1); });
  EXPECT_NE(why.find("threads of one process"), std::string::npos) << why;
}

TEST_F(threads, have_the_numbers_of_their_processes) {
  EXPECT_EQ(offload::process_of(2), 2);
  EXPECT_EQ(offload::number_of(2), 2);
  EXPECT_EQ(offload::sync(2, fn<&offload::this_node>), 2);
}

TEST(supervise, needs_a_runtime) {
  EXPECT_THROW(offload::supervise(1), config_error);
  EXPECT_THROW(static_cast<void>(offload::process_of(1)), config_error);
}

}  // namespace supervise_test
