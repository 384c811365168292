// Stops, graphs, pools, groups, retries and senders over every kind of transport that targets of this machine can have.
// Ranks of MPI: tests/mpi/job_test.cpp.
// link: ham::ham
// timeout: 300
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include "offload/richer_calls.hpp"
#include "tcp_server.hpp"

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

class richer_calls_over : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()).starts_with("ve") && std::getenv("HAM_VEO_LIBRARY") == nullptr)
      GTEST_SKIP() << "HAM_VEO_LIBRARY names no VEO library";
  }
  runtime_options job() {
    const std::string kind = GetParam();
    std::string list = kind;
    if (kind == "exec") list = "exec:" + std::filesystem::read_symlink("/proc/self/exe").string() + "*2";
    if (kind == "tcp") list = first_.emplace("", 8).nodes() + "," + second_.emplace("", 8).nodes();
    runtime_options options = nodes(list);
    if (kind == "tcp") options.tcp_security = "off";
    return options;
  }

 private:
  std::optional<server> first_;
  std::optional<server> second_;
};

TEST_P(richer_calls_over, do_what_they_promise) {
  const runtime rt(job());
  ham::test::richer_calls::expect_all();
}

TEST_P(richer_calls_over, are_repeated_when_a_process_has_died) {
  const std::string kind = GetParam();
  if (kind.starts_with("ve") || kind.starts_with("loopback")) GTEST_SKIP() << kind << " cannot be supervised";
  const runtime rt(job());
  offload::supervise(1);
  const std::string file = token_file();
  std::ofstream(file) << "once\n";
  EXPECT_EQ(offload::sync(offload::retry(1, 3), idempotent(fn<&die_once>), file), 1);
  EXPECT_FALSE(std::filesystem::exists(file));
}

INSTANTIATE_TEST_SUITE_P(all, richer_calls_over,
                         testing::Values("loopback:2", "shm:2", "exec", "emulated:2", "emulated:2/initiator=host",
                                         "tcp", "veo:2", "vedma:2"),
                         [](const auto& one) {
                           const std::string text = one.param;
                           return text.substr(0, text.find(':')) + (text.find('/') == text.npos ? "" : "_by_host");
                         });

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
