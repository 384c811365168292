// Tests of the lists of machines that ham-run reads: --hosts, hostfiles, Slurm's variables.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "../../tools/run/hostfile.hpp"
#include "../../tools/run/machines.hpp"
#include "../../tools/run/problem.hpp"
#include "../../tools/run/slurm.hpp"

namespace {

using namespace ham::run;
using names = std::vector<std::string>;
using counts = std::vector<std::size_t>;

TEST(run_machines, names_and_counts) {
  EXPECT_EQ(parse_machines("a"), (std::vector<machine>{{"a", 1}}));
  EXPECT_EQ(parse_machines("a,b:2,pi@board.local:3"),
            (std::vector<machine>{{"a", 1}, {"b", 2}, {"pi@board.local", 3}}));
  EXPECT_EQ(parse_machines("10.0.0.7:4,[fe80::7]:2,fe80::8,user@[::1]:3"),
            (std::vector<machine>{{"10.0.0.7", 4}, {"fe80::7", 2}, {"fe80::8", 1}, {"user@::1", 3}}));
  EXPECT_TRUE(parse_machine("localhost:2").is_this_one());
}

TEST(run_machines, what_is_no_machine) {
  for (const char* const text :
       {"",    ",",   "a,",   ",a",  "a:", "a:0", "a:-1",  "a:b", "a:4001", "a:2x",   ":2",     "-oProxyCommand=x",
        "a b", "a;b", "$(x)", "a/b", "@a", "a@",  "a@b@c", "[a]", "[::1",   "[::1]2", "[::1]:", "a[1]"}) {
    EXPECT_THROW(static_cast<void>(parse_machines(text)), problem) << text;
  }
}

TEST(run_machines, numbers) {
  EXPECT_EQ(parse_number("7", 0, 9), 7);
  for (const char* const text : {"", "10", "-1", "1x", " 1", "99999999999999999999"}) {
    EXPECT_EQ(parse_number(text, 0, 9), -1) << text;
  }
}

std::vector<machine> hostfile(const std::string& text) {
  std::istringstream in(text);
  return parse_hostfile(in, "hosts");
}

std::string hostfile_problem(const std::string& text) {
  try {
    static_cast<void>(hostfile(text));
  } catch (const problem& what) {
    return what.what();
  }
  return "";
}

TEST(run_hostfile, lines_counts_and_comments) {
  EXPECT_EQ(hostfile("# all of them\n\na\n  b:2  # the big one\nc slots=3\n\td\tslots=1\r\n"),
            (std::vector<machine>{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}}));
  EXPECT_EQ(hostfile("last:2"), (std::vector<machine>{{"last", 2}}));
}

TEST(run_hostfile, problems_name_file_and_line) {
  for (const char* const bad :
       {"a b", "a slots=", "a slots=0", "a slots=x", "a slots=2 max=3", "a:2 slots=2", "a:x", "-a"}) {
    const std::string why = hostfile_problem("# one\ngood\n" + std::string(bad) + "\n");
    EXPECT_NE(why.find("hostfile hosts, line 3: "), std::string::npos) << bad << ": " << why;
  }
  EXPECT_NE(hostfile_problem(std::string(5000, 'a')).find("line 1"), std::string::npos);
  EXPECT_NE(hostfile_problem("# nothing\n").find("names no machine"), std::string::npos);
  EXPECT_THROW(static_cast<void>(read_hostfile("/no/such/file")), problem);
}

TEST(run_slurm, lists_of_nodes) {
  EXPECT_EQ(expand_nodes("a"), names{"a"});
  EXPECT_EQ(expand_nodes("a[01-03,7],b"), (names{"a01", "a02", "a03", "a7", "b"}));
  EXPECT_EQ(expand_nodes("n[9-11]"), (names{"n9", "n10", "n11"}));
  EXPECT_EQ(expand_nodes("r[1-2]n[08-09]-ib,login"), (names{"r1n08-ib", "r1n09-ib", "r2n08-ib", "r2n09-ib", "login"}));
  EXPECT_EQ(expand_nodes("n[0-99999]").size(), 100'000u);
}

TEST(run_slurm, what_is_no_list_of_nodes) {
  for (const char* const text : {"", ",", "a,", "a[", "a]", "a[]", "a[1", "a[2-1]", "a[x]", "a[1,]", "a[1-]", "a[[1]]",
                                 "a[0-999999999]", "a[0-999][0-999]", "a:2", "a b"}) {
    EXPECT_THROW(static_cast<void>(expand_nodes(text)), problem) << text;
  }
}

TEST(run_slurm, tasks_per_node) {
  EXPECT_EQ(expand_tasks("2(x3),1"), (counts{2, 2, 2, 1}));
  EXPECT_EQ(expand_tasks("16"), counts{16});
  for (const char* const text : {"", "x", "2(x", "2(x)", "2(x0)", "2(y3)", "2,", "0", "2(x999999999)"}) {
    EXPECT_THROW(static_cast<void>(expand_tasks(text)), problem) << text;
  }
}

TEST(run_slurm, allocation_from_the_environment) {
  for (const char* const name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"}) ::unsetenv(name);
  EXPECT_TRUE(slurm_allocation().empty());
  ::setenv("SLURM_JOB_ID", "1", 1);
  ::setenv("SLURM_JOB_NODELIST", "a[1-2]", 1);
  EXPECT_EQ(slurm_allocation(), (std::vector<machine>{{"a1", 1}, {"a2", 1}}));
  ::setenv("SLURM_TASKS_PER_NODE", "4,2", 1);
  EXPECT_EQ(slurm_allocation(), (std::vector<machine>{{"a1", 4}, {"a2", 2}}));
  ::setenv("SLURM_JOB_ID", "", 1);
  EXPECT_TRUE(slurm_allocation().empty());
  ::setenv("SLURM_JOB_ID", "1", 1);
  ::setenv("SLURM_TASKS_PER_NODE", "4", 1);
  EXPECT_THROW(static_cast<void>(slurm_allocation()), problem);
  for (const char* const name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"}) ::unsetenv(name);
}

}  // namespace
