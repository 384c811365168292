// Who answers what an engine asks of its job.
#include "job/node_job.hpp"

#include <gtest/gtest.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

TEST(node_job, asks_the_directory_on_every_node) {
  lone_node node(1, 3);
  node_directory directory(*node, {});
  silent_transport local;
  directory.use_local(local, true);
  node_job job(directory);
  job.connect(2);
  EXPECT_EQ(local.connected, (std::vector<node_t>{2}));
  EXPECT_THROW(job.on_notice(0, {}), protocol_error);
}

TEST(node_job, changes_membership_on_the_host_only) {
  lone_node node(1, 3);
  node_directory directory(*node, {});
  node_job job(directory);
  const std::string adds = "only the host, node 0, adds nodes; call it there";
  EXPECT_EQ(problem_with([&] { job.add("shm:1"); }), adds);
  EXPECT_EQ(problem_with([&] { job.add(offload::target_program{}); }), adds);
  EXPECT_EQ(problem_with([&] { job.spawn("shm:1", "./app"); }), adds);
  EXPECT_EQ(problem_with([&] { job.remove(1, std::chrono::milliseconds(1)); }),
            "only the host, node 0, removes nodes; call it there");
}

TEST(node_job, asks_the_membership_on_the_host) {
  lone_node host;
  node_directory directory(*host, {});
  membership members(*host, directory, {}, {{"./app"}, {}});
  node_job job(directory, &members);
  EXPECT_NE(problem_with([&] { job.add("none"); }).find("there is no node to add"), std::string::npos);
  EXPECT_NE(problem_with([&] { job.remove(0, std::chrono::milliseconds(1)); }).find("the host cannot be removed"),
            std::string::npos);
}

}  // namespace
}  // namespace ham::detail
