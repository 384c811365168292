// The --ham-* options and the environment.
#include "runtime/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ham/error.hpp"
#include "runtime/command_line.hpp"

namespace ham::inline v1::detail {
namespace {

class command_line_options : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("HAM_NODES");
    ::unsetenv("HAM_CPU_AFFINITY");
  }
  void TearDown() override { SetUp(); }

  /// Takes the options out of `words`; what is left of them.
  std::vector<std::string> take(const std::vector<std::string>& words) {
    return test::take_options_from(words, options);
  }
  runtime_options options;
};

/// A variable of the environment while this lives.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(command_line_options, ranks_are_the_nodes_under_a_launcher) {
  const variable rank("OMPI_COMM_WORLD_RANK", "0");
  take({"app"});
  EXPECT_EQ(options.nodes, "mpi");
  options = {};
  const variable of_another_process("HAM_MPI_RANK_PID", "1");
  take({"app"});
  EXPECT_EQ(options.nodes, "shm:1") << "a rank has started this process for itself";
}

TEST_F(command_line_options, a_default_of_the_program_gives_way_to_everything_else) {
  options.default_nodes = "shm:3";
  take({"app"});
  EXPECT_EQ(options.nodes, "shm:3");
  options.nodes.clear();
  take({"app", "--ham-nodes=shm:2"});
  EXPECT_EQ(options.nodes, "shm:2");
  options.nodes.clear();
  {
    const variable nodes("HAM_NODES", "loopback:1");
    take({"app"});
    EXPECT_EQ(options.nodes, "loopback:1");
  }
  options.nodes.clear();
  const variable rank("OMPI_COMM_WORLD_RANK", "0");
  take({"app"});
  EXPECT_EQ(options.nodes, "mpi");
}

TEST_F(command_line_options, a_count_of_processes_is_a_list_of_nodes) {
  const variable nodes("HAM_NODES", "loopback:1");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"app", "--ham-process-count", "3", "left"},
                                                {"app", "--ham-process-count=3", "left"}}) {
    options = {};
    options.nodes = "shm:7";  // of the program
    EXPECT_EQ(take(words), (std::vector<std::string>{"app", "left"}));
    EXPECT_EQ(options.nodes, "shm:2");
  }
  options = {};
  take({"app", "--ham-process-count", "1"});
  EXPECT_EQ(options.nodes, "none");
  const variable rank("OMPI_COMM_WORLD_RANK", "0");
  options = {};
  ::unsetenv("HAM_NODES");
  take({"app", "--ham-process-count", "2"});
  EXPECT_EQ(options.nodes, "mpi") << "the launcher has started the processes";
}

TEST_F(command_line_options, a_count_of_processes_that_cannot_be_is_an_error) {
  for (const char* text : {"0", "-1", "x", "", "4097"}) {
    EXPECT_THROW(take({"app", std::string("--ham-process-count=") + text}), config_error) << text;
  }
  EXPECT_THROW(take({"app", "--ham-process-count"}), config_error);
  for (const bool first : {false, true}) {
    options = {};
    try {
      take(first ? std::vector<std::string>{"app", "--ham-nodes=shm:1", "--ham-process-count=2"}
                 : std::vector<std::string>{"app", "--ham-process-count=2", "--ham-nodes=shm:1"});
      ADD_FAILURE() << "both are taken";
    } catch (const config_error& problem) {
      EXPECT_NE(std::string(problem.what()).find("leave one of them out"), std::string::npos) << problem.what();
    }
  }
}

TEST_F(command_line_options, options_of_processes_started_by_hand_say_what_replaces_them) {
  for (const char* option : {"--ham-address", "--ham-host-address"}) {
    try {
      take({"app", option, "1"});
      ADD_FAILURE() << option << " is taken";
    } catch (const config_error& problem) {
      EXPECT_NE(std::string(problem.what()).find(option), std::string::npos) << problem.what();
      EXPECT_NE(std::string(problem.what()).find("--ham-process-count=N"), std::string::npos) << problem.what();
    }
  }
}

TEST_F(command_line_options, settings_that_make_no_sense_are_errors) {
  for (const auto& [name, value] : {std::pair("HAM_PROGRESS_THREAD", "yes"),
                                    {"HAM_POOL_THREADS", "0"},
                                    {"HAM_POOL_THREADS", "4k"},
                                    {"HAM_POOL_THREADS", "4097"}}) {
    const variable set(name, value);
    EXPECT_THROW(take({"app"}), config_error) << name << "=" << value;
  }
  const variable pool("HAM_POOL_THREADS", "4096");
  const variable thread("HAM_PROGRESS_THREAD", "1");
  take({"app"});
  EXPECT_TRUE(options.progress_thread);
}

TEST(message_limit, is_a_size) {
  ::unsetenv("HAM_MAX_MESSAGE");
  EXPECT_EQ(message_limit(), std::size_t{64} << 20);
  const std::pair<const char*, std::size_t> good[] = {{"2097152", 2U << 20},
                                                      {"2048K", 2U << 20},
                                                      {"3M", 3U << 20},
                                                      {"2G", std::size_t{2} << 30},
                                                      {"", std::size_t{64} << 20}};
  for (const auto& [text, bytes] : good) {
    const variable set("HAM_MAX_MESSAGE", text);
    EXPECT_EQ(message_limit(), bytes) << text;
  }
  for (const char* bad : {"0", "2047K", "M", "-1M", "1T", "1 M", "1.5M", "1025G", "99999999999999999999", "64MB"}) {
    const variable set("HAM_MAX_MESSAGE", bad);
    EXPECT_THROW((void)message_limit(), config_error) << bad;
  }
}

TEST(tcp_timeout, is_in_seconds) {
  ::unsetenv("HAM_TCP_TIMEOUT");
  EXPECT_EQ(tcp_timeout(), std::chrono::seconds(3));
  for (const auto& [text, milliseconds] : {std::pair{"0.5", 500}, std::pair{"10", 10'000}}) {
    const variable set("HAM_TCP_TIMEOUT", text);
    EXPECT_EQ(tcp_timeout(), std::chrono::milliseconds(milliseconds)) << text;
  }
  for (const char* bad : {"0", "-3", "3s", "nan", "inf", "1e9", "soon"}) {
    const variable set("HAM_TCP_TIMEOUT", bad);
    EXPECT_THROW((void)tcp_timeout(), config_error) << bad;
  }
}

TEST(close_timeout, is_a_number_of_seconds) {
  EXPECT_FALSE(close_timeout_ns());
  {
    const variable set("HAM_CLOSE_TIMEOUT", "2.5");
    EXPECT_EQ(close_timeout_ns(), 2'500'000'000);
  }
  for (const char* bad : {"0", "-3", "3s", "nan", "soon"}) {
    const variable set("HAM_CLOSE_TIMEOUT", bad);
    EXPECT_THROW((void)close_timeout_ns(), config_error) << bad;
    runtime_options options;
    EXPECT_THROW(fill_from_environment(options), config_error) << bad;
  }
}

TEST_F(command_line_options, are_removed) {
  EXPECT_EQ(take({"app", "-v", "--ham-nodes=shm:5", "file", "--ham-cpu-affinity", "0,1", "--hamlet"}),
            (std::vector<std::string>{"app", "-v", "file", "--hamlet"}));
  EXPECT_EQ(options.nodes, "shm:5");
  EXPECT_EQ(options.cpu_affinity, "0,1");
}

TEST_F(command_line_options, come_before_the_environment_and_that_before_the_default) {
  EXPECT_EQ(take({"app"}), (std::vector<std::string>{"app"}));
  EXPECT_EQ(options.nodes, "shm:1");
  ::setenv("HAM_NODES", "shm:7", 1);
  options = {};
  (void)take({"app"});
  EXPECT_EQ(options.nodes, "shm:7");
  (void)take({"app", "--ham-nodes", "shm:8"});
  EXPECT_EQ(options.nodes, "shm:8");
}

TEST_F(command_line_options, a_variable_with_options_is_not_read_which_is_said) {
  const variable set("HAM_OPTIONS", "--ham-process-count 3");
  testing::internal::CaptureStderr();
  (void)take({"app"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("HAM_OPTIONS is set, which is not read"), said.npos) << said;
  EXPECT_EQ(options.nodes, "shm:1");
}

TEST_F(command_line_options, mistakes_are_errors) {
  EXPECT_THROW((void)take({"app", "--ham-nodes"}), config_error);
  EXPECT_THROW((void)take({"app", "--ham-node=shm:1"}), config_error);
  EXPECT_THROW((void)take({"app", "--ham-"}), config_error);
}

TEST_F(command_line_options, an_empty_command_line) {
  char* nothing[] = {nullptr};
  int argc = 0;
  char** argv = nothing;
  take_options(argc, argv, options);
  EXPECT_EQ(argc, 0);
}

}  // namespace
}  // namespace ham::detail
