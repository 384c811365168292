// Reading of HAM_NODES and of lists of cores.
#include "job/node_list.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"
#include "transport/emulated/settings.hpp"
#include "transport/network_factory.hpp"

namespace ham::inline v1::detail {
namespace {

namespace emulated = transport::emulated;

using words = std::vector<std::string>;

const emulated::medium& medium_of(const target_group& group) {
  return dynamic_cast<const emulated::group_medium&>(*group.settings).costs;
}
std::string address_of(const target_group& group) {
  return dynamic_cast<const transport::network_group&>(*group.settings).at.text();
}

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
  const auto groups = parse_nodes("emulated,emulated:2/initiator=host/read=900@1+2,veo:2,vedma");
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_TRUE(groups[0].by->name() == "emulated" && groups[0].count == 1 &&
              medium_of(groups[0]).by == emulated::initiator::target);
  EXPECT_TRUE(groups[1].count == 2 && medium_of(groups[1]).by == emulated::initiator::host &&
              medium_of(groups[1]).read_ns == 900);
  EXPECT_EQ(groups[1].cores, (std::vector<int>{1, 2}));
  EXPECT_TRUE(groups[2].by->name() == "veo" && groups[2].count == 2);
  EXPECT_TRUE(groups[3].by->name() == "vedma" && groups[3].count == 1);
  for (const char* wrong : {"shm/read=1", "veo:1/read=1", "veo@1", "emulated:x", "emulated:1:2", "emulated:1/reed=1"})
    problem_of(wrong);
}

TEST(parse_nodes, settings_that_are_said_twice_or_are_missing) {
  for (const char* twice : {"cuda-emulated/linger=5/linger=7", "shm,cuda:2/blocks=4/linger=1/blocks=4@0",
                            "cuda-emulated/memory=shared/memory=device+restart", "emulated/read=1/write=1/read=1",
                            "tcp://a:1/each:cuda-emulated/linger=1/linger=2"}) {
    const std::string what = problem_of(twice);
    EXPECT_NE(what.find("\" twice, as \""), std::string::npos) << what;
    EXPECT_NE(what.find("HAM_NODES=\"" + std::string(twice) + "\""), std::string::npos) << what;
  }
  for (const char* empty : {"cuda-emulated/", "cuda:2/@0", "emulated:2/read=1/", "cuda-emulated//linger=5",
                            "mpi,each:cuda-emulated/", "cuda-emulated/+restart"}) {
    const std::string what = problem_of(empty);
    EXPECT_NE(what.find("no setting follows a \"/\""), std::string::npos) << what;
  }
}

TEST(parse_nodes, groups) {
  const auto one = parse_nodes("shm");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].by->name(), "shm");
  EXPECT_EQ(one[0].count, 1U);
  EXPECT_TRUE(one[0].cores.empty());
  const auto several = parse_nodes("shm:2,shm:3@1+3-5,shm@7");
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(several[0].count, 2U);
  EXPECT_EQ(several[1].count, 3U);
  EXPECT_EQ(several[1].cores, (std::vector<int>{1, 3, 4, 5}));
  EXPECT_EQ(several[2].count, 1U);
  EXPECT_EQ(several[2].cores, (std::vector<int>{7}));
  EXPECT_EQ(parse_nodes("loopback:4,loopback:1").size(), 2U);
  EXPECT_EQ(parse_nodes("shm:0")[0].count, 0U);
}

TEST(parse_nodes, groups_that_are_started_again) {
  const auto several = parse_nodes("shm:2@1+2+restart,shm,exec:'./a+restart',tcp://h:1*2+restart,emulated+restart");
  ASSERT_EQ(several.size(), 5U);
  EXPECT_TRUE(several[0].restarts);
  EXPECT_EQ(several[0].cores, (std::vector<int>{1, 2}));
  EXPECT_FALSE(several[1].restarts);
  EXPECT_FALSE(several[2].restarts) << "quoted, it is part of a name";
  EXPECT_TRUE(several[3].restarts);
  EXPECT_EQ(several[3].count, 2U);
  EXPECT_TRUE(several[4].restarts);
  EXPECT_NE(problem_of("loopback:2+restart").find("threads of this one end with it"), std::string::npos);
  EXPECT_NE(problem_of("mpi+restart").find("not for ranks"), std::string::npos);
  EXPECT_NE(problem_of("mpi,each:shm:2+restart").find("so not with each:"), std::string::npos);
  EXPECT_NE(problem_of("tcp://h:1/each:shm:2+restart").find("so not with each:"), std::string::npos);
  problem_of("shm:2+restarts");
}

TEST(parse_nodes, ranks_come_first) {
  const auto both = parse_nodes("mpi,shm:2");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].by->name(), "mpi");
  EXPECT_EQ(both[0].count, 0U) << "as many as there are";
  EXPECT_EQ(parse_nodes("mpi:3")[0].count, 3U);
  EXPECT_NE(problem_of("shm:2,mpi").find("mpi comes first"), std::string::npos);
  EXPECT_NE(problem_of("mpi,mpi").find("mpi comes first"), std::string::npos);
  EXPECT_NE(problem_of("mpi@1").find("cores"), std::string::npos);
}

TEST(parse_nodes, groups_of_each_rank) {
  const auto groups = parse_nodes("mpi:3,each:shm:2,each:exec:./a each:b*3,emulated");
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_FALSE(groups[0].each_rank);
  EXPECT_TRUE(groups[1].each_rank && groups[1].count == 2);
  EXPECT_TRUE(groups[2].each_rank && groups[2].count == 3);
  EXPECT_EQ(groups[2].program.command, (std::vector<std::string>{"./a", "each:b"}));
  EXPECT_FALSE(groups[3].each_rank);
  const auto gpus = parse_nodes("mpi:3,each:cuda@0-1,each:cuda-emulated");
  EXPECT_TRUE(gpus[1].each_rank && gpus[1].count == 2);
  EXPECT_TRUE(gpus[2].each_rank && gpus[2].count == 1);
  EXPECT_NE(problem_of("mpi,each:shm:2@1").find("leave the @ away"), std::string::npos);
  for (const char* without : {"each:shm", "shm:1,each:shm", "loopback,each:shm"})
    EXPECT_NE(problem_of(without).find("write mpi,each:"), std::string::npos) << without;
  for (const char* none : {"mpi,each:tcp://host:1", "mpi,each:mpi", "mpi,each:loopback"})
    EXPECT_NE(problem_of(none).find("a rank can start: shm, exec, emulated"), std::string::npos) << none;
  for (const char* unknown : {"mpi,each:", "mpi,each:each:shm", "mpi,each"})
    EXPECT_NE(problem_of(unknown).find("a group begins with shm"), std::string::npos) << unknown;
}

TEST(parse_nodes, targets_behind_a_waiting_program) {
  const auto groups = parse_nodes("tcp://a:1*2/each:shm:3@1/each:emulated,shm:1,tcp://[::1]:2");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].by->name(), "tcp");
  EXPECT_EQ(groups[0].count, 2U);
  EXPECT_EQ(groups[0].text, "tcp://a:1*2");
  ASSERT_EQ(groups[0].behind.size(), 2U);
  EXPECT_EQ(groups[0].behind[0].by->name(), "shm");
  EXPECT_EQ(groups[0].behind[0].count, 3U);
  EXPECT_EQ(groups[0].behind[0].text, "shm:3@1");
  EXPECT_EQ(groups[0].behind[1].text, "emulated");
  EXPECT_TRUE(groups[1].behind.empty() && groups[2].behind.empty());
  EXPECT_EQ(groups[1].text, "shm:1");
  EXPECT_EQ(parse_nodes("exec:./a/each:shm")[0].program.command.front(), "./a/each:shm") << "a file's name";
  EXPECT_NE(problem_of("tcp://a:1/each:tcp://b:2").find("a waiting program can start: shm"), std::string::npos);
  EXPECT_NE(problem_of("tcp://a:1/each:exec:./b").find("starts itself as target"), std::string::npos);
  for (const char* damaged : {"tcp://a:1/each:", "tcp://a:1/each", "tcp://a:1/each:shm/each:", "tcp://a:1/each:shm*2",
                              "tcp:///each:shm", "tcp://a:1*4000/each:shm", "shm:1/each:shm"})
    EXPECT_NE(problem_of(damaged), "") << damaged;
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

TEST(parse_nodes, exec_groups) {
  const auto one = parse_nodes("exec:./app.aarch64");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].by->name(), "exec");
  EXPECT_EQ(one[0].program.command, (words{"./app.aarch64"}));
  EXPECT_EQ(one[0].count, 1U);
  EXPECT_TRUE(one[0].cores.empty());

  const auto wrapped = parse_nodes("shm:2,exec:qemu-aarch64-static  -L /usr/aarch64-linux-gnu ./app*3@0+2-3,shm");
  ASSERT_EQ(wrapped.size(), 3U);
  EXPECT_EQ(wrapped[1].program.command, (words{"qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", "./app"}));
  EXPECT_EQ(wrapped[1].count, 3U);
  EXPECT_EQ(wrapped[1].cores, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(parse_nodes("exec:app -v *2")[0].program.command, (words{"app", "-v"}));
  EXPECT_EQ(parse_nodes("exec:app -v *2")[0].count, 2U);
  EXPECT_EQ(parse_nodes("exec:app@7")[0].cores, (std::vector<int>{7}));
  EXPECT_EQ(parse_nodes("exec: app*0")[0].count, 0U);
}

TEST(parse_nodes, quotes_and_at_signs_in_exec_groups) {
  EXPECT_EQ(parse_nodes("exec:'/a b/c,d' -x'y z'w ''")[0].program.command, (words{"/a b/c,d", "-xy zw", ""}));
  EXPECT_EQ(parse_nodes("exec:'it''s, here'*2")[0].program.command, (words{"it's, here"}));
  EXPECT_EQ(parse_nodes("exec:'it''s, here'*2,shm")[0].count, 2U);
  EXPECT_EQ(parse_nodes("exec:'''' 'a''' '''b'")[0].program.command, (words{"'", "a'", "'b"}));
  EXPECT_EQ(parse_nodes("exec:'./app*2'*3")[0].program.command, (words{"./app*2"}));
  EXPECT_EQ(parse_nodes("exec:'./app*2'*3")[0].count, 3U);
  EXPECT_EQ(parse_nodes("exec:/opt/gcc@12/app")[0].program.command, (words{"/opt/gcc@12/app"}));
  EXPECT_EQ(parse_nodes("exec:'/opt/app@1'@2")[0].program.command, (words{"/opt/app@1"}));
  EXPECT_EQ(parse_nodes("exec:'/opt/app@1'@2")[0].cores, (std::vector<int>{2}));
  EXPECT_EQ(parse_nodes("exec:./app@1*2")[0].program.command, (words{"./app@1"})) << "cores come last";
}

TEST(parse_nodes, damaged_exec_groups) {
  for (const char* text : {"exec", "exec:", "exec: ", "exec:*2", "exec:@1", "exec:''", "exec:'./app", "exec:'it's'",
                           "exec:./app*", "exec:./app*x", "exec:./app*2x", "exec:./app*-1", "exec:./app*4001",
                           "exec:./app,", "exec:./app,loopback:1", "exec:a,exec:"}) {
    const std::string what = problem_of(text);
    EXPECT_NE(what.find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << what;
  }
  EXPECT_FALSE(problem_of("exec:./app@").empty());
  EXPECT_FALSE(problem_of("exec:./app@3-1").empty());
}

TEST(parse_nodes, tcp_groups) {
  const auto several = parse_nodes("tcp://10.0.0.7:7000,shm,tcp://[fe80::7]:7000*2,tcp://arm.example:1");
  ASSERT_EQ(several.size(), 4U);
  EXPECT_EQ(several[0].by->name(), "tcp");
  EXPECT_EQ(address_of(several[0]), "10.0.0.7:7000");
  EXPECT_EQ(several[0].count, 1U);
  EXPECT_EQ(address_of(several[2]), "[fe80::7]:7000");
  EXPECT_EQ(several[2].count, 2U);
  EXPECT_EQ(address_of(several[3]), "arm.example:1");
  for (const char* text :
       {"tcp", "tcp:", "tcp://", "tcp://host", "tcp://host:", "tcp://host:0", "tcp://host:65536", "tcp://host:7000x",
        "tcp://:7000", "tcp://fe80::7:7000", "tcp://[fe80::7:7000", "tcp://[host]:7000", "tcp://host:7000*",
        "tcp://host:7000*x", "tcp://host:7000@1", "tcp://a b:1", "tcp://host:7000/x", "tcp://host:1,loopback"}) {
    EXPECT_NE(problem_of(text).find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ham::detail
