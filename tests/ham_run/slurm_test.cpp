// ham-run in an imitated Slurm allocation, with a script in place of srun.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "support.hpp"

namespace {

using namespace ham::run::test;

class ham_run_slurm : public testing::Test {
 protected:
  void SetUp() override {
#ifndef HAM_TEST_TLS
    GTEST_SKIP() << "built without OpenSSL: targets of other machines need it";
#endif
    std::filesystem::create_symlink(fakes + "/fake_srun.sh", bin_.path() + "/srun");
  }
  [[nodiscard]] std::vector<std::string> allocation(const std::string& nodes, const std::string& tasks) const {
    return {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=" + nodes, "SLURM_TASKS_PER_NODE=" + tasks,
            "PATH=" + bin_.path() + ":" + std::getenv("PATH"), "SLURMD_NODENAME=127.0.0.2"};
  }
  temporary_folder bin_;
};

TEST_F(ham_run_slurm, starts_targets_on_the_nodes_of_the_job) {
  const result one = run({application, "describe", "SLURMD_NODENAME"}, allocation("127.0.0.[2-4]", "2(x2),3"));
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "nodes=7\n")) << one.out << one.err;
  const std::vector<std::string> expected{"node 1 variable=127.0.0.2 ", "node 2 variable=127.0.0.3 ",
                                          "node 3 variable=127.0.0.3 ", "node 4 variable=127.0.0.4 ",
                                          "node 6 variable=127.0.0.4 "};
  for (const std::string& line : expected) EXPECT_TRUE(contains(one.out, line)) << line << one.out;
}

/// Whether there are as many hexadecimal digits in a row as a key has.
bool holds_a_key(const std::string& text) {
  std::size_t row = 0;
  for (const char one : text) {
    row = std::isxdigit(static_cast<unsigned char>(one)) != 0 ? row + 1 : 0;
    if (row == 64) return true;
  }
  return false;
}

TEST_F(ham_run_slurm, the_key_goes_around_srun) {
  const temporary_folder shared;
  const std::string input = bin_.path() + "/input";
  std::vector<std::string> environment = allocation("127.0.0.[2-3]", "1,2");
  environment.push_back("FAKE_SRUN_INPUT=" + input);
  const auto passed = [&] {
    std::stringstream text;
    text << std::ifstream(input).rdbuf();
    return text.str();
  };
  const result by_file = run({"--key-folder", shared.path(), application, "describe"}, environment);
  EXPECT_EQ(by_file.code, 0) << by_file.err;
  EXPECT_TRUE(contains(by_file.out, "nodes=3\n")) << by_file.out;
  EXPECT_TRUE(contains(passed(), "--ham-serve=")) << "not what was looked for";
  EXPECT_TRUE(contains(passed(), "file:" + shared.path() + "/"));
  EXPECT_FALSE(holds_a_key(passed()));
  EXPECT_TRUE(std::filesystem::is_empty(shared.path())) << "the file is removed";
  EXPECT_FALSE(contains(by_file.err, "warning")) << by_file.err;

  const result by_srun = run({"--key-folder=-", application, "describe"}, environment);
  EXPECT_EQ(by_srun.code, 0) << by_srun.err;
  EXPECT_TRUE(holds_a_key(passed()));
  EXPECT_TRUE(contains(by_srun.err, "goes through srun, which does not encrypt it")) << by_srun.err;

  const result nowhere = run({"--key-folder=/no/such/folder", application, "describe"}, environment);
  EXPECT_EQ(nowhere.code, 125);
  EXPECT_TRUE(contains(nowhere.err, "--key-folder")) << nowhere.err;
}

TEST_F(ham_run_slurm, labels_become_prefixes) {
  const result one = run({"--output-prefix", application, "say"}, allocation("127.0.0.[2-4]", "2,1,2"));
  EXPECT_EQ(one.code, 0) << one.err;
  for (const char* const line : {"[0] host speaks", "[1] node 1 speaks", "[2] node 2 speaks", "[3-4] node 4 speaks"}) {
    EXPECT_TRUE(contains(one.out, std::string(line) + "\n")) << one.out;
    EXPECT_TRUE(contains(one.err, std::string(line) + " (error)\n")) << one.err;
  }
}

TEST_F(ham_run_slurm, hosts_and_show_take_precedence) {
  const result named = run({"--hosts", "localhost:2", application, "describe"}, allocation("a[1-2]", "4(x2)"));
  EXPECT_TRUE(contains(named.out, "nodes=3\n")) << named.err;
  const result shown = run({"--show", application}, allocation("a[1-2]", "4(x2)"));
  EXPECT_TRUE(contains(shown.out, "here: srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --nodelist=a1,a2 "))
      << shown.out;
  EXPECT_TRUE(contains(shown.out, "a2: " + application + " --ham-serve=0.0.0.0:0 --ham-key=fd:3 --ham-jobs=4\n"))
      << shown.out;
  EXPECT_EQ(run({"--copy", application}, allocation("a[1-2]", "1(x2)")).code, 125);
}

TEST_F(ham_run_slurm, signals_end_all_of_it) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    running one({application, "wait"}, allocation("127.0.0.[3-4]", "1,2"));
    const std::vector<pid_t> processes = numbers_in(one.line("processes"));
    ASSERT_EQ(processes.size(), 7u) << one.err();
    ::kill(one.pid(), signal);
    EXPECT_EQ(one.wait(), signal == SIGKILL ? 1000 + SIGKILL : 128 + signal) << one.err();
    EXPECT_TRUE(eventually([&] { return !any_runs(processes); })) << "signal " << signal;
  }
}

}  // namespace
