// Which nodes of a job can be started again.
#include <gtest/gtest.h>

#include "job/members.hpp"

namespace ham::inline v0::detail {
namespace {

using namespace ham::test;

class supervised_members : public played_members {
 protected:
  std::string why_not(node_t node) {
    return problem_with([&] { job_.supervise(node, {}); });
  }
};

TEST_F(supervised_members, are_not_the_host) {
  EXPECT_EQ(why_not(0), "the host cannot be supervised; whoever starts the program can start it again");
}

TEST_F(supervised_members, are_those_that_can_be_started_again) {
  starts_log log;
  log.why_lost = "it stumbled";
  const starting_played by(log);
  problem_with([&] { members_.start({target_group(by)}); });
  for (const node_t never_there : {1, 2})
    EXPECT_EQ(why_not(never_there),
              "node " + std::to_string(never_there) +
                  " cannot be supervised (only targets that the host has started on this machine, or reached over "
                  "tcp://, can be started again; ranks, and what they or waiting programs have started, cannot)");
}

TEST_F(supervised_members, are_supervised_by_the_host) {
  node_job elsewhere(directory_);
  EXPECT_EQ(problem_with([&] { elsewhere.supervise(1, {}); }),
            "only the host, node 0, supervises nodes; call it there");
}

}  // namespace
}  // namespace ham::detail
