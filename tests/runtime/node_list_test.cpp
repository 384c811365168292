// Reading of HAM_NODES and of lists of cores.
#include "runtime/node_list.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::detail {
namespace {

using words = std::vector<std::string>;

std::string problem_of(const std::string& text) {
  try {
    (void)parse_nodes(text);
  } catch (const config_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << "\"" << text << "\" was taken";
  return {};
}

TEST(parse_nodes, targets_behind_one_sided_media) {
  const auto groups = parse_nodes("emulated,emulated:2/initiator=host/read=1200@1+2,veo:2,vedma");
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_TRUE(groups[0].transport == "emulated" && groups[0].count == 1 && groups[0].settings.empty());
  EXPECT_TRUE(groups[1].count == 2 && groups[1].settings == "initiator=host/read=1200");
  EXPECT_EQ(groups[1].cpus, (std::vector<int>{1, 2}));
  EXPECT_TRUE(groups[2].transport == "veo" && groups[2].count == 2);
  EXPECT_TRUE(groups[3].transport == "vedma" && groups[3].count == 1);
  for (const char* wrong : {"shm/read=1", "veo:1/read=1", "veo@1", "emulated:x", "emulated:1:2"}) problem_of(wrong);
}

TEST(parse_nodes, groups) {
  const auto one = parse_nodes("shm");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].transport, "shm");
  EXPECT_EQ(one[0].count, 1U);
  EXPECT_TRUE(one[0].cpus.empty());
  const auto several = parse_nodes("shm:2,shm:3@1+3-5,shm@7");
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(several[0].count, 2U);
  EXPECT_EQ(several[1].count, 3U);
  EXPECT_EQ(several[1].cpus, (std::vector<int>{1, 3, 4, 5}));
  EXPECT_EQ(several[2].count, 1U);
  EXPECT_EQ(several[2].cpus, (std::vector<int>{7}));
  EXPECT_EQ(parse_nodes("loopback:4,loopback:1").size(), 2U);
  EXPECT_EQ(parse_nodes("shm:0")[0].count, 0U);
}

TEST(parse_nodes, ranks_come_first) {
  const auto both = parse_nodes("mpi,shm:2");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].transport, "mpi");
  EXPECT_EQ(both[0].count, 0U) << "as many as there are";
  EXPECT_EQ(parse_nodes("mpi:3")[0].count, 3U);
  EXPECT_NE(problem_of("shm:2,mpi").find("mpi comes first"), std::string::npos);
  EXPECT_NE(problem_of("mpi,mpi").find("mpi comes first"), std::string::npos);
  EXPECT_NE(problem_of("mpi@1").find("cores"), std::string::npos);
}

TEST(parse_nodes, damaged_texts_are_shown_with_the_place) {
  for (const char* text : {"",
                           ",",
                           "shm,",
                           ",shm",
                           "shm,,shm",
                           "shm:",
                           "shm:x",
                           "shm:-1",
                           "shm: 1",
                           " shm",
                           "shm:1 ",
                           "SHM",
                           "shm:1:2",
                           "shm:0x2",
                           "shm:1e3",
                           "shm:4001",
                           "shm:4000,shm:1",
                           "shm:99999999999999",
                           "shm:99999999999999999999999999",
                           "shm,loopback",
                           "loopback@1",
                           "shm;shm"}) {
    const std::string what = problem_of(text);
    EXPECT_NE(what.find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << what;
  }
  for (const char* text :
       {"shm@", "shm@x", "shm@1+", "shm@+1", "shm@3-1", "shm@-1", "shm@4096", "shm@1,2", "shm@0-99999"}) {
    EXPECT_FALSE(problem_of(text).empty()) << text;
  }
  EXPECT_NE(problem_of("shm:2,smh:1").find("\"smh:1\""), std::string::npos);
  EXPECT_NE(problem_of("shm:2x").find("\"x\" is left over"), std::string::npos);
}

TEST(parse_cores, lists_and_ranges) {
  EXPECT_EQ(parse_cores("0", ','), (std::vector<int>{0}));
  EXPECT_EQ(parse_cores("3,1-2,4095", ','), (std::vector<int>{3, 1, 2, 4095}));
  for (const char* text :
       {"", ",", "1,", ",1", "a", "1-", "-1", "2-1", "4096", "0-4096", "1+2", "1 ", "99999999999999999999"}) {
    EXPECT_THROW((void)parse_cores(text, ','), config_error) << text;
  }
}

TEST(parse_nodes, exec_groups) {
  const auto one = parse_nodes("exec:./app.aarch64");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].transport, "exec");
  EXPECT_EQ(one[0].command, (words{"./app.aarch64"}));
  EXPECT_EQ(one[0].count, 1U);
  EXPECT_TRUE(one[0].cpus.empty());

  const auto wrapped = parse_nodes("shm:2,exec:qemu-aarch64-static  -L /usr/aarch64-linux-gnu ./app*3@0+2-3,shm");
  ASSERT_EQ(wrapped.size(), 3U);
  EXPECT_EQ(wrapped[1].command, (words{"qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", "./app"}));
  EXPECT_EQ(wrapped[1].count, 3U);
  EXPECT_EQ(wrapped[1].cpus, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(parse_nodes("exec:app -v *2")[0].command, (words{"app", "-v"}));
  EXPECT_EQ(parse_nodes("exec:app -v *2")[0].count, 2U);
  EXPECT_EQ(parse_nodes("exec:app@7")[0].cpus, (std::vector<int>{7}));
  EXPECT_EQ(parse_nodes("exec: app*0")[0].count, 0U);
}

TEST(parse_nodes, quotes_and_at_signs_in_exec_groups) {
  EXPECT_EQ(parse_nodes("exec:'/a b/c,d' -x'y z'w ''")[0].command, (words{"/a b/c,d", "-xy zw", ""}));
  EXPECT_EQ(parse_nodes("exec:'./app*2'*3")[0].command, (words{"./app*2"}));
  EXPECT_EQ(parse_nodes("exec:'./app*2'*3")[0].count, 3U);
  EXPECT_EQ(parse_nodes("exec:/opt/gcc@12/app")[0].command, (words{"/opt/gcc@12/app"}));
  EXPECT_EQ(parse_nodes("exec:'/opt/app@1'@2")[0].command, (words{"/opt/app@1"}));
  EXPECT_EQ(parse_nodes("exec:'/opt/app@1'@2")[0].cpus, (std::vector<int>{2}));
  EXPECT_EQ(parse_nodes("exec:./app@1*2")[0].command, (words{"./app@1"})) << "cores come last";
}

TEST(parse_nodes, damaged_exec_groups) {
  for (const char* text :
       {"exec", "exec:", "exec: ", "exec:*2", "exec:@1", "exec:''", "exec:'./app", "exec:./app*", "exec:./app*x",
        "exec:./app*2x", "exec:./app*-1", "exec:./app*4001", "exec:./app,", "exec:./app,loopback:1", "exec:a,exec:"}) {
    const std::string what = problem_of(text);
    EXPECT_NE(what.find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << what;
  }
  EXPECT_FALSE(problem_of("exec:./app@").empty());
  EXPECT_FALSE(problem_of("exec:./app@3-1").empty());
}

TEST(parse_nodes, tcp_groups) {
  const auto several = parse_nodes("tcp://10.0.0.7:7000,shm,tcp://[fe80::7]:7000*2,tcp://arm.example:1");
  ASSERT_EQ(several.size(), 4U);
  EXPECT_EQ(several[0].transport, "tcp");
  EXPECT_EQ(several[0].address, "10.0.0.7:7000");
  EXPECT_EQ(several[0].count, 1U);
  EXPECT_EQ(several[2].address, "[fe80::7]:7000");
  EXPECT_EQ(several[2].count, 2U);
  EXPECT_EQ(several[3].address, "arm.example:1");
  for (const char* text :
       {"tcp", "tcp:", "tcp://", "tcp://host", "tcp://host:", "tcp://host:0", "tcp://host:65536", "tcp://host:7000x",
        "tcp://:7000", "tcp://fe80::7:7000", "tcp://[fe80::7:7000", "tcp://[host]:7000", "tcp://host:7000*",
        "tcp://host:7000*x", "tcp://host:7000@1", "tcp://a b:1", "tcp://host:7000/x", "tcp://host:1,loopback"}) {
    EXPECT_NE(problem_of(text).find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << text;
  }
}

TEST(split_address, host_and_port) {
  using pair = std::pair<std::string, std::uint16_t>;
  EXPECT_EQ(split_address("host:7000"), pair("host", 7000));
  EXPECT_EQ(split_address("[::1]:65535"), pair("::1", 65535));
  for (const char* text : {"", ":", "host", "host:", ":1", "host:-1", "::1:1", "[]:1", "[::1]"}) {
    EXPECT_EQ(split_address(text), pair("", 0)) << text;
  }
}

}  // namespace
}  // namespace ham::detail
