// ham-run with targets behind a script that stands for ssh: everything but the network and the other machine is real.
#include <sys/utsname.h>

#include <algorithm>

#include "support.hpp"

namespace {

using namespace ham::run::test;

class ham_run_remote : public testing::Test {
 protected:
  void SetUp() override {
#ifndef HAM_TEST_TLS
    GTEST_SKIP() << "built without OpenSSL: targets of other machines need it";
#endif
  }
  static result run_on(const std::string& hosts, const std::vector<std::string>& more,
                       const std::vector<std::string>& environment = {}) {
    return run(std::vector<std::string>{"--ssh", fake_ssh, "--hosts", hosts} + more, environment);
  }
  static std::string isa() {
    utsname system{};
    ::uname(&system);
    return system.machine;
  }
  static pid_t parent_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string state;
    pid_t parent = 0;
    words >> state >> parent;
    return parent;
  }
  /// Command lines and environments of a process and all below it.
  static std::string all_processes_below(pid_t top) {
    std::string text;
    for (const auto& one : std::filesystem::directory_iterator("/proc")) {
      const std::string name = one.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      pid_t above = std::stoi(name);
      while (above > 1 && above != top) above = parent_of(above);
      if (above != top) continue;
      for (const char* const part : {"cmdline", "environ"}) {
        std::ifstream file(one.path() / part, std::ios::binary);
        text += std::string((std::istreambuf_iterator<char>(file)), {}) + "\n";
      }
    }
    return text;
  }
  static std::size_t max_hexadecimal(const std::string& text) {
    std::size_t longest = 0;
    std::size_t length = 0;
    for (const char c : text) {
      length = std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos ? length + 1 : 0;
      longest = std::max(longest, length);
    }
    return longest;
  }
};

TEST_F(ham_run_remote, starts_targets_on_each_machine) {
  const result one = run_on("127.0.0.2,user@127.0.0.3:2", {application, "describe"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "nodes=4\n")) << one.out << one.err;
  EXPECT_EQ(one.err, "");
}

TEST_F(ham_run_remote, mixes_machines_and_limits_them) {
  EXPECT_TRUE(contains(run_on("localhost:2,127.0.0.2:2", {application, "describe"}).out, "nodes=5\n"));
  EXPECT_TRUE(contains(run_on("127.0.0.2:2,127.0.0.3:2", {"-n", "4", application, "describe"}).out, "nodes=4\n"));
  const result few = run_on("127.0.0.2:2", {"-n", "4", application, "describe"});
  EXPECT_EQ(few.code, 125);
  EXPECT_TRUE(contains(few.err, "places for 2")) << few.err;
}

TEST_F(ham_run_remote, reads_a_hostfile) {
  const temporary_folder folder;
  const std::string name = folder.path() + "/hosts";
  std::ofstream(name) << "# two machines\n127.0.0.2\n127.0.0.3 slots=2\n";
  const result one = run({"--ssh", fake_ssh, "--hostfile", name, application, "describe"});
  EXPECT_TRUE(contains(one.out, "nodes=4\n")) << one.err;
  std::ofstream(name) << "127.0.0.2\nboard:none\n";
  const result bad = run({"--hostfile", name, application, "describe"});
  EXPECT_EQ(bad.code, 125);
  EXPECT_TRUE(contains(bad.err, "line 2")) << bad.err;
}

TEST_F(ham_run_remote, hands_on_variables_folder_and_arguments) {
  const result one = run_on("127.0.0.2", {"--env", "HAM_TEST_VARIABLE=it's\ntwo $lines", "--wdir", "/usr", application,
                                          "describe", "HAM_TEST_VARIABLE", "it's", "a\nb"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "node 1 variable=it's\ntwo $lines folder=/usr\n")) << one.out;
  const result inherited =
      run_on("127.0.0.2", {"--env", "HAM_TEST_VARIABLE", application, "describe", "HAM_TEST_VARIABLE"},
             {"HAM_TEST_VARIABLE=from here"});
  EXPECT_TRUE(contains(inherited.out, "node 1 variable=from here ")) << inherited.out << inherited.err;
  const result not_given = run_on("127.0.0.2", {application, "describe", "HAM_TEST_VARIABLE"}, {"HAM_TEST_VARIABLE=x"});
  EXPECT_TRUE(contains(not_given.out, "node 1 variable=- ")) << not_given.out;
  const result records = run_on("127.0.0.2", {application, "describe", "HAM_TCP_RECORDS"}, {"HAM_TCP_RECORDS=openssl"});
  EXPECT_TRUE(contains(records.out, "node 1 variable=openssl ")) << records.out << records.err;
}

TEST_F(ham_run_remote, begins_lines_with_the_number_of_the_node) {
  const result one = run_on("127.0.0.2:2,localhost,chatty", {"--output-prefix", application, "say"});
  EXPECT_EQ(one.code, 0) << one.err;
  for (const char* const line : {"[0] host speaks", "[1] node 1 speaks", "[2] node 2 speaks", "[3] node 3 speaks",
                                 "[4] node 4 speaks", "[4] Welcome to chatty"}) {
    EXPECT_TRUE(contains(one.out, std::string(line) + "\n")) << one.out;
  }
  for (const char* const line : {"[0] host speaks", "[2] node 2 speaks", "[4] node 4 speaks"}) {
    EXPECT_TRUE(contains(one.err, std::string(line) + " (error)\n")) << one.err;
  }
  EXPECT_TRUE(contains(one.err, "[4] Warning: this machine is watched\n")) << one.err;
}

TEST_F(ham_run_remote, chooses_the_program_by_instruction_set) {
  const result right = run_on(
      "127.0.0.2", {"--binary", isa() + "=" + application, "--binary", "other=/bin/false", application, "describe"});
  EXPECT_TRUE(contains(right.out, "nodes=2\n")) << right.err;
  const result wrong = run_on("127.0.0.2", {"--binary", isa() + "=/no/such/binary", application, "describe"});
  EXPECT_EQ(wrong.code, 125);
  EXPECT_TRUE(contains(wrong.err, "/no/such/binary is not there")) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "--binary " + isa() + "=PATH")) << wrong.err;
  const result all_others = run_on("127.0.0.2", {"--binary", application, application, "describe"});
  EXPECT_TRUE(contains(all_others.out, "nodes=2\n")) << all_others.err;
}

TEST_F(ham_run_remote, copies_the_program_and_removes_it) {
  const temporary_folder folder;
  const temporary_folder place;
  const std::string moved = folder.path() + "/moved program";
  std::filesystem::copy_file(application, moved);
  std::vector<std::string> more{"--copy"};
  for (const std::string file : {HAM_TCP_MODULE_FOLDER "/libham_tcp.so", HAM_LIBRARY_FOLDER "/libham.so"}) {
    if (std::filesystem::exists(file)) more = more + std::vector<std::string>{"--with", file};
  }
  const result one = run_on("127.0.0.2", more + std::vector<std::string>{moved, "describe", "LD_LIBRARY_PATH"},
                            {"TMPDIR=" + place.path()});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "node 1 variable=" + place.path() + "/ham-run.")) << one.out;
  EXPECT_TRUE(place.empty());
}

TEST_F(ham_run_remote, says_why_a_machine_cannot_be_used) {
  const result away = run_on("127.0.0.2,unreachable", {application, "describe"});
  EXPECT_EQ(away.code, 125);
  EXPECT_TRUE(contains(away.err, "cannot start a target on unreachable")) << away.err;
  EXPECT_TRUE(contains(away.err, "status 255") && contains(away.err, "No route to host")) << away.err;

  const result silent = run_on("silent", {"--timeout", "1", application, "describe"});
  EXPECT_EQ(silent.code, 125);
  EXPECT_TRUE(contains(silent.err, "no answer within 1 s")) << silent.err;

  const result no_ham = run_on("127.0.0.2", {"--binary", "/bin/true", application, "describe"});
  EXPECT_EQ(no_ham.code, 125);
  EXPECT_TRUE(contains(no_ham.err, "/bin/true ended without waiting for a host")) << no_ham.err;

  const temporary_folder folder;
  const std::string foreign = folder.path() + "/foreign";
  std::ofstream(foreign) << "\177ELF of no machine";
  std::filesystem::permissions(foreign, std::filesystem::perms::owner_all);
  const result strange = run_on("127.0.0.2", {"--binary", foreign, application, "describe"});
  EXPECT_EQ(strange.code, 125);
  EXPECT_TRUE(contains(strange.err, "not for its instruction set, " + isa())) << strange.err;
}

TEST_F(ham_run_remote, ends_with_the_exit_code_of_the_host) {
  EXPECT_EQ(run_on("127.0.0.2", {application, "exit", "42"}).code, 42);
  EXPECT_EQ(run_on("127.0.0.2", {application, "die", "9"}).code, 128 + 9);
}

TEST_F(ham_run_remote, shows_what_it_would_do_and_starts_nothing) {
  const result one = run({"--ssh", "/no/ssh -p 22", "--hosts", "board:2,localhost", "--binary", "aarch64=/opt/app",
                          "--show", application, "x"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "here: /no/ssh -p 22 board 'exec sh -c ")) << one.out;
  EXPECT_TRUE(contains(one.out, "board (aarch64): /opt/app x --ham-serve=board:0 --ham-key=fd:3 --ham-jobs=2\n"))
      << one.out;
  EXPECT_TRUE(contains(one.out, "HAM_NODES='tcp://board:PORT*2,shm:1' HAM_KEY=fd:N " + application + " x\n"))
      << one.out;
}

TEST_F(ham_run_remote, signals_end_all_of_it) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    running one({"--ssh", fake_ssh, "--hosts", "127.0.0.2,127.0.0.3:2", application, "wait"});
    const std::vector<pid_t> processes = numbers_in(one.line("processes"));
    ASSERT_EQ(processes.size(), 7u) << one.err();
    ::kill(one.pid(), signal);
    EXPECT_EQ(one.wait(), signal == SIGKILL ? 1000 + SIGKILL : 128 + signal) << one.err();
    EXPECT_TRUE(eventually([&] { return !any_runs(processes); })) << "signal " << signal;
  }
}

TEST_F(ham_run_remote, a_signal_during_the_start_ends_it) {
  const temporary_folder folder;
  const std::string mark = folder.path() + "/mark";
  running one({"--ssh", fake_ssh, "--hosts", "silent", application, "describe"}, {"FAKE_MARK=" + mark});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(mark); })) << one.err();
  ::kill(one.pid(), SIGTERM);
  EXPECT_EQ(one.wait(), 128 + SIGTERM);
}

TEST_F(ham_run_remote, another_signal_ends_the_clean_up_after_a_start_that_failed) {
  const temporary_folder folder;
  const std::string mark = folder.path() + "/mark";
  running one({"--ssh", fake_ssh, "--hosts", "stubborn", "--timeout", "1", application, "describe"},
              {"FAKE_MARK=" + mark});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(mark); })) << one.err();
  ::kill(one.pid(), SIGINT);
  EXPECT_EQ(one.wait(), 125) << one.err();
  EXPECT_TRUE(contains(one.err(), "no answer within 1 s")) << one.err();
}

TEST_F(ham_run_remote, the_key_is_in_no_list_of_processes) {
  running one({"--ssh", fake_ssh, "--hosts", "127.0.0.2", application, "wait"},
              {"HAM_TEST_VARIABLE=" + std::string(63, 'a')});
  ASSERT_FALSE(one.line("processes").empty()) << one.err();
  const std::string seen = all_processes_below(one.pid());
  ASSERT_TRUE(contains(seen, "--ham-key=fd:3") && contains(seen, "HAM_KEY=fd:")) << "not all of them were looked at";
  EXPECT_EQ(max_hexadecimal(seen), 63u) << "only what is in the variable";
  ::kill(one.pid(), SIGTERM);
  one.wait();
}

}  // namespace
