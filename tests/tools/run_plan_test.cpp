// Tests of what ham-run makes of its options: who runs where, HAM_NODES, scripts for the remote end.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../tools/run/host.hpp"
#include "../../tools/run/options.hpp"
#include "../../tools/run/plan.hpp"
#include "../../tools/run/problem.hpp"
#include "../../tools/run/remote_script.hpp"
#include "../../tools/run/shell_text.hpp"

namespace {

using namespace ham::run;

run_options options_for(std::vector<machine> machines, std::size_t nodes = 0) {
  run_options options;
  options.machines = std::move(machines);
  options.nodes = nodes;
  options.program = {"/opt/app", "a b"};
  return options;
}

/// "machine first count" of each group.
std::string planned(const run_options& options, const std::string& this_node = "") {
  std::string text;
  for (const target_group& one : plan_targets(options, this_node)) {
    text += (one.is_local() ? "here" : one.machine) + " " + std::to_string(one.first) + " " +
            std::to_string(one.count) + ";";
  }
  return text;
}

TEST(run_plan, nodes_are_numbered_in_the_order_of_machines) {
  EXPECT_EQ(planned(options_for({})), "");
  EXPECT_EQ(planned(options_for({}, 4)), "here 1 3;");
  EXPECT_EQ(planned(options_for({}, 1)), "");
  EXPECT_EQ(planned(options_for({{"a", 1}, {"b", 2}})), "a 1 1;b 2 2;");
  EXPECT_EQ(planned(options_for({{"a", 2}, {"localhost", 1}, {"b", 2}})), "a 1 2;here 3 1;b 4 2;");
}

TEST(run_plan, a_number_of_nodes_limits_the_machines) {
  EXPECT_EQ(planned(options_for({{"a", 2}, {"b", 2}}, 4)), "a 1 2;b 3 1;");
  EXPECT_EQ(planned(options_for({{"a", 2}, {"b", 2}}, 2)), "a 1 1;");
  EXPECT_THROW(static_cast<void>(planned(options_for({{"a", 2}}, 4))), problem);
  EXPECT_THROW(static_cast<void>(planned(options_for({{"a", 3000}, {"b", 3000}}))), problem);
}

TEST(run_plan, the_host_takes_a_place_of_its_own_node_in_slurm) {
  run_options options = options_for({{"n1", 2}, {"n2", 3}});
  EXPECT_EQ(planned(options, "n1"), "n1 1 2;n2 3 3;") << "not in Slurm";
  options.slurm = true;
  EXPECT_EQ(planned(options, "n1"), "here 1 1;n2 2 3;");
  EXPECT_EQ(planned(options, "n2"), "n1 1 2;here 3 2;");
  EXPECT_EQ(planned(options, "login"), "n1 1 2;n2 3 3;");
}

TEST(run_plan, prefixes_want_a_connection_per_target) {
  run_options options = options_for({{"a", 2}, {"localhost", 2}});
  options.output_prefix = true;
  EXPECT_EQ(planned(options), "a 1 1;a 2 1;here 3 1;here 4 1;");
  options.slurm = true;
  EXPECT_EQ(planned(options), "a 1 2;here 3 1;here 4 1;");
  EXPECT_EQ((target_group{"a", 3, 1}.prefix()), "[3] ");
  EXPECT_EQ((target_group{"a", 3, 4}.prefix()), "[3-6] ");
}

TEST(run_plan, addresses) {
  EXPECT_EQ(address_of("board"), "board");
  EXPECT_EQ(address_of("pi@10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(address_of("pi@fe80::7"), "[fe80::7]");
}

TEST(run_host, list_of_nodes) {
  const auto address = [](std::size_t first) { return "10.0.0." + std::to_string(first) + ":70"; };
  const auto itself = [](std::size_t) { return std::vector<std::string>{}; };
  EXPECT_EQ(node_list({{"a", 1, 2}, {"", 3, 2}, {"b", 5, 1}}, address, itself),
            "tcp://10.0.0.1:70*2,shm:2,tcp://10.0.0.5:70*1");
  EXPECT_EQ(node_list({}, address, itself), "shm:0");
  const auto wrapped = [](std::size_t) { return redirected("/opt/my app", 7, 8); };
  EXPECT_EQ(node_list({{"", 1, 1}}, address, wrapped),
            "exec:'/bin/sh' '-c' 'exec \"$0\" \"$@\" >/proc/self/fd/7 2>/proc/self/fd/8' '/opt/my app' *1");
  const auto quote = [](std::size_t) { return redirected("/it's", 7, 8); };
  EXPECT_NE(node_list({{"", 1, 1}}, address, quote).find("'/it''s'"), std::string::npos);
}

TEST(run_options_text, files_for_instruction_sets) {
  EXPECT_EQ(parse_file_for("aarch64=./app").isa, "aarch64");
  EXPECT_EQ(parse_file_for("aarch64=./a=b").path, "./a=b");
  EXPECT_EQ(parse_file_for("./a=b").path, "./a=b");
  EXPECT_EQ(parse_file_for("app").isa, "");
  for (const char* const text : {"", "=x", "aarch64=", "a b=x", "*=x"}) {
    EXPECT_THROW(static_cast<void>(parse_file_for(text)), problem) << text;
  }
}

TEST(run_options_text, variables) {
  ::setenv("HAM_TEST_VARIABLE", "here", 1);
  ::unsetenv("HAM_TEST_ABSENT");
  EXPECT_EQ(parse_variable("A=b=c"), (std::pair<std::string, std::string>{"A", "b=c"}));
  EXPECT_EQ(parse_variable("A="), (std::pair<std::string, std::string>{"A", ""}));
  EXPECT_EQ(parse_variable("HAM_TEST_VARIABLE").second, "here");
  for (const char* const text : {"", "=x", "1A=x", "A B=x", "A;B", "HAM_TEST_ABSENT"}) {
    EXPECT_THROW(static_cast<void>(parse_variable(text)), problem) << text;
  }
}

TEST(run_options_text, words) {
  EXPECT_EQ(split_words(" ssh  -p 22 -o 'A b=c' ''"), (std::vector<std::string>{"ssh", "-p", "22", "-o", "A b=c", ""}));
  EXPECT_THROW(static_cast<void>(split_words("a 'b")), problem);
}

/// What a shell says that executes `script` with `input`, which ends after `hold`, a command, has ended.
std::string shell_says(const std::string& script, const std::string& input = "", const std::string& hold = ":") {
  const std::string command =
      "{ printf %s " + shell_word(input) + "; " + hold + "; } | sh -c " + shell_word(script) + " 2>&1";
  std::FILE* const from = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from)) text += static_cast<char>(c);
  ::pclose(from);
  return text;
}

/// A command that waits for the file, 20 s or longer.
std::string until_there_is(const std::string& file) {
  return "i=0; while ! [ -e " + file + " ] && [ $i -lt 2000 ]; do i=$((i+1)); sleep 0.01; done";
}

TEST(run_shell_text, words_arrive_as_they_are) {
  for (const std::string word : {"plain", "", "a b", "it's", "$HOME `x` \\ \"", "two\nlines", "*", "-n", "'", "\n"}) {
    EXPECT_EQ(shell_says("printf '<%s>' " + shell_word(word)), "<" + word + ">");
    const std::string on_one_line = shell_word_on_one_line(word);
    EXPECT_EQ(on_one_line.find('\n'), std::string::npos);
    EXPECT_EQ(shell_says("ham_newline=$(printf '\\nx'); ham_newline=${ham_newline%x}; printf '<%s>' " + on_one_line),
              "<" + word + ">");
  }
}

TEST(run_script, has_nothing_that_a_foreign_shell_would_take_apart) {
  EXPECT_EQ(remote_script().find_first_of("'\n"), std::string::npos);
  EXPECT_EQ(store_script().find_first_of("'\n"), std::string::npos);
}

TEST(run_script, greets_and_executes_lines) {
  const std::string said = shell_says(remote_script(), "echo one\necho two\n");
  const auto met = parse_greeting(said.substr(0, said.find('\n')));
  ASSERT_TRUE(met) << said;
  EXPECT_EQ(met->isa + "\n", shell_says("uname -m"));
  EXPECT_NE(said.find("\none\ntwo\n"), std::string::npos) << said;
}

TEST(run_script, greetings) {
  const auto through_ssh = parse_greeting("ham-run-end aarch64 - 10.0.0.1 5000 10.0.0.7 22");
  ASSERT_TRUE(through_ssh);
  EXPECT_EQ(through_ssh->isa, "aarch64");
  EXPECT_EQ(through_ssh->address, "10.0.0.7");
  EXPECT_EQ(through_ssh->slurm_node, "");
  const auto through_srun = parse_greeting("ham-run-end x86_64 n7 -");
  ASSERT_TRUE(through_srun);
  EXPECT_EQ(through_srun->slurm_node, "n7");
  EXPECT_EQ(through_srun->address, "");
  EXPECT_FALSE(parse_greeting("Welcome"));
  EXPECT_FALSE(parse_greeting("ham-run-end "));
  EXPECT_EQ(parse_waiting("ham: waiting for hosts at [::1]:7000"), "[::1]:7000");
  EXPECT_FALSE(parse_waiting("ham: cannot wait"));
  EXPECT_FALSE(parse_waiting("ham: waiting for hosts at 10.0.0.7:1,exec:/bin/sh")) << "nothing for HAM_NODES";
}

TEST(run_script, serves_until_its_input_ends) {
  std::string folder = "/tmp/ham-run-test.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string done = folder + "/done";
  run_options options = options_for({{"a", 2}});
  // Stands for an application: prints how it was started, the key, and waits.
  options.program = {"/bin/sh", "-c",
                     "echo \"got: $*\"; read -r key <&3; echo \"key: $key\"; : >" + done + "; exec sleep 600", "name",
                     "a\nb"};
  options.folder = "/usr";
  options.environment = {{"A", "it's"}};
  const server what{{{"a", 1, 2}}, "10.0.0.7", ""};
  const std::string line = serve_line(options, what);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const std::string said = shell_says(remote_script(), line + "\nsecret\n", until_there_is(done));
  std::filesystem::remove_all(folder);
  EXPECT_NE(said.find("got: a\nb --ham-serve=10.0.0.7:0 --ham-key=fd:3 --ham-jobs=2\n"), std::string::npos) << said;
  EXPECT_NE(said.find("key: secret\n"), std::string::npos) << said;
}

TEST(run_script, takes_the_key_from_a_file_or_says_that_there_is_none) {
  std::string folder = "/tmp/ham-run-test.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  run_options options = options_for({{"a", 1}});
  const std::string done = folder + "/done";
  options.program = {"/bin/sh", "-c", "read -r key <&3; echo \"key: $key\"; : >" + done, "name"};
  const std::string line = serve_line(options, {{{"a", 1, 1}}, "10.0.0.7", ""});
  std::ofstream(folder + "/the key") << "secret in a file\n";
  const std::string good =
      shell_says(remote_script(), line + "\n" + key_file_line(folder + "/the key") + "\n", until_there_is(done));
  EXPECT_NE(good.find("key: secret in a file\n"), std::string::npos) << good;
  std::filesystem::remove_all(folder);
  const std::string bad = shell_says(remote_script(), line + "\n" + key_file_line(folder + "/the key") + "\n");
  EXPECT_NE(bad.find("does not see the key of this run in " + folder + "/the key"), std::string::npos) << bad;
  EXPECT_EQ(bad.find("\nkey: "), std::string::npos) << "the program is not started: " << bad;
}

TEST(run_script, chooses_program_and_count) {
  run_options options = options_for({});
  options.binaries = {{"none", "/wrong"}, {"", "/no/such/program"}};
  server what{{{"a", 1, 2}, {"b", 3, 4}}, "0.0.0.0", ""};
  EXPECT_EQ(program_for(options, "none"), "/wrong");
  EXPECT_EQ(program_for(options, "x"), "/no/such/program");
  const std::string unknown =
      shell_says("SLURMD_NODENAME=c; " + remote_script(), serve_line(options, what) + "\nkey\n");
  EXPECT_NE(unknown.find("this node is not known"), std::string::npos) << unknown;
  const std::string absent = shell_says("SLURMD_NODENAME=b; " + remote_script(), serve_line(options, what) + "\nkey\n");
  EXPECT_NE(absent.find("no program /no/such/program"), std::string::npos) << absent;
}

}  // namespace
