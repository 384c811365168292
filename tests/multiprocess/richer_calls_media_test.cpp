// Stops, graphs, pools, groups, retries and senders over every kind of transport that targets of this machine can have.
// Ranks of MPI: tests/mpi/job_test.cpp.
// link: ham::ham
// timeout: 300
#include <csignal>
#include <filesystem>
#include <string>

#include "offload/group_tree.hpp"
#include "offload/richer_calls.hpp"
#include "offload/richer_calls_limits.hpp"
#include "target_kinds.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// What dies once leaves this for the next process.
std::string token_file() {
  return (std::filesystem::temp_directory_path() / ("ham-richer-calls-" + std::to_string(::getpid()))).string();
}
node_t die_once(const std::string& file) {
  if (std::filesystem::remove(file)) ::raise(SIGKILL);
  return offload::number_of(offload::this_node());
}

class richer_calls_over : public over_every_kind {};

TEST_P(richer_calls_over, do_what_they_promise) {
  const runtime rt(job.options(2));
  ham::test::richer_calls::expect_all();
}

TEST_P(richer_calls_over, keep_their_limits) {
  const runtime rt(job.options(2));
  ham::test::richer_calls::expect_limits();
}

/// More than 8: some of them pass the call on.
TEST_P(richer_calls_over, reach_the_nodes_of_a_group_along_a_tree) {
  const runtime rt(job.options(10));
  ham::test::group_tree::expect_tree();
}

TEST_P(richer_calls_over, are_repeated_when_a_process_has_died) {
  if (job.has_threads()) GTEST_SKIP() << "threads do not die (supervise_media_test: the error)";
  const runtime rt(job.options(2));
  offload::supervise(1);
  const std::string file = token_file();
  std::ofstream(file) << "once\n";
  EXPECT_EQ(offload::sync(offload::retry(1, 3), idempotent(fn<&die_once>), file), 1);
  EXPECT_FALSE(std::filesystem::exists(file));
}

INSTANTIATE_TEST_SUITE_P(all, richer_calls_over, testing::ValuesIn(target_kinds), kind_name);

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
