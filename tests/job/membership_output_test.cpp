// Whose output a host captures.
#include <gtest/gtest.h>

#include "job/captured_output.hpp"
#include "job/members.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

class output_of_members : public played_members {
 protected:
  std::string why_not(node_t node) {
    return problem_with([&] { job_.on_output(node, [](node_t, offload::output_stream, std::string_view) {}); });
  }
};

TEST_F(output_of_members, is_not_that_of_the_host) {
  EXPECT_EQ(why_not(0), "node 0 is the host, whose output is the program's own");
}

TEST_F(output_of_members, is_that_of_children_only) {
  starts_log log;
  log.why_lost = "it stumbled";
  const starting_played by(log);
  problem_with([&] { members_.start({target_group(by)}); });
  for (const node_t node : {1, 2})
    EXPECT_EQ(why_not(node), "the output of node " + std::to_string(node) +
                                 " cannot be captured (only that of processes which the host itself has started on its "
                                 "machine can be captured: shm, exec, emulated, cuda, cuda-emulated); redirect it "
                                 "where its process is started");
}

TEST_F(output_of_members, is_said_to_be_missing_in_the_folder_where_it_cannot_be_captured) {
  starts_log log;
  log.why_lost = "it stumbled";
  const starting_played by(log);
  const auto said_of_start = [&] {
    const redirected_descriptor err(STDERR_FILENO);
    problem_with([&] { members_.start({target_group(by, 2)}); });
    return err.text();
  };
  EXPECT_EQ(said_of_start().find("HAM_OUTPUT"), std::string::npos) << "nobody has asked for it";
  const output_folder folder;
  const auto line_of = [](int node) {
    return "ham: node " + std::to_string(node) +
           " keeps its own output, of which HAM_OUTPUT gets nothing (only that of processes which the host itself has "
           "started on its machine can be captured: shm, exec, emulated, cuda, cuda-emulated)\n";
  };
  const std::string said = said_of_start();
  EXPECT_NE(said.find(line_of(3) + line_of(4)), std::string::npos) << said;
}

TEST_F(output_of_members, is_captured_by_the_host) {
  node_job elsewhere(directory_);
  EXPECT_EQ(problem_with([&] { elsewhere.on_output(1, {}); }),
            "only the host, node 0, captures the output of nodes; call it there");
}

}  // namespace
}  // namespace ham::detail
