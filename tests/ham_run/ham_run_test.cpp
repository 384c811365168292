// ham-run with targets on this machine, its command line, and signals.
#include "support.hpp"

namespace {

using namespace ham::run::test;

TEST(ham_run, counts_nodes_with_the_host) {
  const result four = run({"-n", "4", application, "describe"});
  EXPECT_EQ(four.code, 0) << four.err;
  EXPECT_TRUE(contains(four.out, "nodes=4\n")) << four.out;
  EXPECT_TRUE(contains(run({"-n", "1", application, "describe"}).out, "nodes=1\n"));
  EXPECT_TRUE(contains(run({application, "describe"}).out, "nodes=2\n")) << "the program's own default";
  EXPECT_TRUE(contains(run({application, "describe"}, {"HAM_NODES=shm:2"}).out, "nodes=3\n"));
  EXPECT_TRUE(contains(run({"--hosts", "localhost:3", application, "describe"}).out, "nodes=4\n"));
}

TEST(ham_run, ends_with_the_exit_code_of_the_host) {
  EXPECT_EQ(run({"-n", "2", application, "exit", "42"}).code, 42);
  EXPECT_EQ(run({"-n", "2", application, "die", "9"}).code, 128 + 9);
  EXPECT_EQ(run({"-n", "2", application, "die", "6"}).code, 128 + 6);
}

TEST(ham_run, hands_on_arguments_as_they_are) {
  const result one = run({"-n", "2", "--", application, "arguments", "-n", "--show", "a b", "it's", "two\nlines", ""});
  EXPECT_EQ(one.out, "<-n>\n<--show>\n<a b>\n<it's>\n<two\nlines>\n<>\n") << one.err;
}

TEST(ham_run, refuses_what_it_does_not_understand) {
  const result none = run({"-n", "2"});
  EXPECT_EQ(none.code, 125);
  EXPECT_TRUE(contains(none.err, "no program is named")) << none.err;
  const result unknown = run({"--fast", application});
  EXPECT_EQ(unknown.code, 125);
  EXPECT_TRUE(contains(unknown.err, "unknown option --fast")) << unknown.err;
  EXPECT_EQ(run({"-n", "0", application}).code, 125);
  EXPECT_EQ(run({"-n", "many", application}).code, 125);
  for (const char* const option : {"--hosts", "--hostfile"}) {
    EXPECT_EQ(run({option, "", application, "describe"}).code, 125) << "an empty variable is not this machine";
  }
  const result absent = run({"-n", "2", "./no-such-program"});
  EXPECT_EQ(absent.code, 125);
  EXPECT_TRUE(contains(absent.err, "cannot start") && contains(absent.err, "no-such-program (No such file"))
      << absent.err;
  const result folder = run({"--wdir", "/no/such/folder", application, "describe"});
  EXPECT_EQ(folder.code, 125);
  EXPECT_TRUE(contains(folder.err, "cannot go to the folder /no/such/folder")) << folder.err;
}

TEST(ham_run, sets_variables_folder_and_cores) {
  const result one = run({"-n", "2", "--env", "HAM_TEST_VARIABLE=a 'b'", "--wdir", "/usr", "--bind", "0", application,
                          "describe", "HAM_TEST_VARIABLE"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "node 0 variable=a 'b' folder=/usr\n")) << one.out;
  EXPECT_TRUE(contains(one.out, "node 1 variable=a 'b' folder=/usr\n")) << one.out;
  const result cores = run({"-n", "2", "--bind", "0", application, "describe", "HAM_CPU_AFFINITY"});
  EXPECT_TRUE(contains(cores.out, "node 0 variable=0 ")) << cores.out;
}

TEST(ham_run, begins_lines_with_the_number_of_the_node) {
  const result one = run({"-n", "3", "--output-prefix", application, "say"});
  EXPECT_EQ(one.code, 0) << one.err;
  for (const char* const line : {"[0] host speaks", "[1] node 1 speaks", "[2] node 2 speaks"}) {
    EXPECT_TRUE(contains(one.out, std::string(line) + "\n")) << one.out;
    EXPECT_TRUE(contains(one.err, std::string(line) + " (error)\n")) << one.err;
  }
  EXPECT_EQ(count_lines(one.out), 3u) << one.out;
  EXPECT_EQ(count_lines(one.err), 3u) << one.err;
}

TEST(ham_run, shows_what_it_would_do) {
  const result one = run({"-n", "3", "--bind", "0,1", "--show", application, "describe", "a b"});
  EXPECT_EQ(one.out, "here: HAM_NODES=shm:2 HAM_CPU_AFFINITY=0,1 " + application + " describe 'a b'\n") << one.err;
  EXPECT_EQ(one.code, 0);
}

TEST(ham_run, says_that_its_output_was_not_written) {
  const std::string command = std::string("'") + HAM_RUN + "' -n 3 --show '" + application + "' >/dev/full 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 125) << status;
}

TEST(ham_run, passes_signals_on_to_the_host) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    running one({"-n", "3", application, "wait"});
    const std::vector<pid_t> processes = numbers_in(one.line("processes"));
    ASSERT_EQ(processes.size(), 3u) << one.err();
    ::kill(one.pid(), signal);
    EXPECT_EQ(one.wait(), 128 + signal);
    EXPECT_TRUE(eventually([&] { return !any_runs(processes); })) << "signal " << signal;
  }
}

TEST(ham_run, leaves_nothing_when_it_is_killed) {
  running one({"-n", "3", application, "wait"});
  const std::vector<pid_t> processes = numbers_in(one.line("processes"));
  ASSERT_EQ(processes.size(), 3u) << one.err();
  ::kill(one.pid(), SIGKILL);
  EXPECT_EQ(one.wait(), 1000 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !any_runs(processes); }));
}

}  // namespace
