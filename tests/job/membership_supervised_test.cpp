// Which nodes of a job can be started again.
#include <gtest/gtest.h>

#include "job/members.hpp"

namespace ham::inline v1::detail {
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
  EXPECT_EQ(why_not(1),
            "node 1 cannot be supervised (it has left the job, and how it was started is not known any more); "
            "supervise a node before it dies, or add another one with offload::add_node");
  EXPECT_EQ(why_not(2),
            "node 2 cannot be supervised (the job has no such node); offload::targets() lists those that it has");
}

/// A node that is known: its record says who it is.
void introduce_member(engine& host, node_t node) {
  ASSERT_TRUE(host.peers.grow_to(static_cast<std::size_t>(node) + 1));
  peer* const who = host.peers.claim(node);
  ASSERT_NE(who, nullptr);
  peer_identity::info about;
  about.name = "there";
  about.pid = 77;
  who->about.introduce(about, {});
}

TEST_F(supervised_members, are_not_ranks) {
  silent<wire::transport> ranks;
  directory_.use_ranks(ranks, 1, 3);
  introduce_member(*host_, 2);
  EXPECT_EQ(why_not(2),
            "node 2 cannot be supervised (it is a rank, process 77 on there: HAM starts no rank again, "
            "and most MPIs end the job when one dies); supervise targets beside the ranks, as in "
            "HAM_NODES=mpi,shm:2+restart, or add some with offload::add_node");
}

TEST_F(supervised_members, are_not_those_that_others_have_started_nor_those_others) {
  introduce_member(*host_, 1);
  introduce_member(*host_, 2);
  host_->ways.add(2, 1);
  EXPECT_EQ(why_not(2),
            "node 2 cannot be supervised (process 77 on there was started by node 1, and the host starts again only "
            "what it has started or reached itself); leave each: away in HAM_NODES, or reach a waiting program on that "
            "machine, as in tcp://HOST:PORT+restart");
  EXPECT_EQ(why_not(1),
            "node 1 cannot be supervised (process 77 on there has started other targets, which would be lost with it); "
            "let one waiting program have those targets, and reach another one that has none");
}

TEST_F(supervised_members, are_supervised_by_the_host) {
  node_job elsewhere(directory_);
  EXPECT_EQ(problem_with([&] { elsewhere.supervise(1, {}); }),
            "only the host, node 0, supervises nodes; call it there");
}

}  // namespace
}  // namespace ham::detail
