// Supervision of targets of every kind that this machine can have; and what cannot be started again is an error that
// says why. Ranks of MPI: tests/mpi/job_test.cpp.
// link: ham::ham
// timeout: 300
// env: HAM_LOG=error
#include <csignal>
#include <optional>
#include <string>

#include "holdings.hpp"
#include "target_kinds.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t pid_here() { return ::getpid(); }
std::string& state() {
  static std::string of_this_process;
  return of_this_process;
}
void set_state_here(const std::string& to) { state() = to; }
std::string state_here() { return state(); }
pid_t pid_seen_from_here(node_t node) { return offload::sync(node, fn<&pid_here>); }

/// Ends the process with the call still pending.
void end_process_of(node_t node) {
  auto doomed = offload::async(node, [] { ::raise(SIGKILL); });
  EXPECT_THROW(doomed.get(), node_failure);
}

std::string refusal_of(node_t node) {
  try {
    offload::supervise(node);
  } catch (const config_error& why) {
    return why.what();
  }
  return "it is supervised";
}
void expect_said(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not say: " << part;
}

/// One target of the kind, and one of shared memory.
class supervised_over : public over_every_kind {
 protected:
  runtime_options job_with(const std::string& behind_the_first = "") {
    return job.options(job.targets(1, behind_the_first) + ",shm:1");
  }
};

TEST_P(supervised_over, processes_take_the_number_one_after_the_other) {
  if (job.has_threads()) {
    const runtime rt(job.options(1));
    expect_said(refusal_of(1), "(they are threads of one process, and end with it); use targets that are processes");
    return;
  }
  runtime rt(job_with());
  offload::supervise(1, {.on_respawn = [](const offload::respawned& fresh) {
                       offload::sync(fresh.node, fn<&set_state_here>, "epoch " + std::to_string(fresh.epoch));
                     }});
  pid_t before = offload::sync(1, fn<&pid_here>);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    end_process_of(1);
    EXPECT_EQ(offload::sync(1, fn<&state_here>), "epoch " + std::to_string(epoch));
    const pid_t now = offload::sync(1, fn<&pid_here>);
    EXPECT_NE(now, before);
    EXPECT_EQ(offload::sync(2, fn<&pid_seen_from_here>, 1), now) << "another target finds it";
    EXPECT_EQ(offload::number_of(offload::process_of(1)), 1);
    before = now;
  }
  offload::buffer<int> there(1, 3);
  const std::vector<int> sent{1, 2, 3};
  std::vector<int> back(3);
  offload::put(sent.data(), there.ptr(), 3).get();
  offload::get(there.ptr(), back.data(), 3).get();
  EXPECT_EQ(back, sent);
}

/// Neither in the host nor in a target that has called each of the processes.
TEST_P(supervised_over, restarts_leave_nothing_behind) {
  if (job.has_threads()) GTEST_SKIP() << "threads of one process end with it";
  runtime rt(job_with());
  offload::supervise(1, {.max_restarts = 1000});
  constexpr int warm_up = 20;  // as many processes of a number as a node remembers
  constexpr int counted = 20;
  holdings host, other;
  for (int i = 0; i < warm_up + counted; ++i) {
    const offload::buffer<double> there(1, 1000);
    ASSERT_EQ(offload::sync(2, fn<&pid_seen_from_here>, 1), offload::sync(1, fn<&pid_here>)) << i;
    if (i == warm_up) {
      host = settled(0);
      other = settled(2);
    }
    end_process_of(1);
  }
  ASSERT_EQ(offload::sync(2, fn<&pid_seen_from_here>, 1), offload::sync(1, fn<&pid_here>));
  expect_flat(0, host);
  expect_flat(2, other);
}

TEST_P(supervised_over, the_list_of_nodes_may_ask_for_it) {
  if (job.has_threads()) {
    try {
      const runtime rt(job.options(job.targets(1, "+restart")));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const config_error& why) {
      expect_said(why.what(), "+restart is for processes: threads of this one end with it");
    }
    return;
  }
  runtime rt(job_with("+restart"));
  const pid_t before = offload::sync(1, fn<&pid_here>);
  end_process_of(1);
  EXPECT_NE(offload::sync(1, fn<&pid_here>), before);
  end_process_of(2);
  EXPECT_THROW(offload::sync(2, fn<&pid_here>), node_failure) << "of the group before only";
}

INSTANTIATE_TEST_SUITE_P(all, supervised_over, testing::ValuesIn(target_kinds), kind_name);

TEST(not_supervised, are_targets_that_a_waiting_program_has_started_nor_that_program) {
  const server waiting("");
  runtime_options options = nodes(waiting.nodes() + "/each:shm:1");
  options.tcp_security = "off";
  runtime rt(options);
  EXPECT_EQ(offload::sync(2, fn<&offload::this_node>), 2);
  expect_said(refusal_of(2), "node 2 cannot be supervised (process ");
  expect_said(refusal_of(2), " was started by node 1, ");
  expect_said(refusal_of(1), " has started other targets, which would be lost with it)");
  expect_said(refusal_of(7), "node 7 cannot be supervised (the job has no such node)");
  EXPECT_EQ(offload::sync(2, fn<&offload::this_node>), 2) << "nothing has changed";
}

TEST(not_supervised, is_a_target_whose_waiting_program_has_gone) {
  std::optional<server> waiting;
  runtime_options options = nodes(waiting.emplace("", 8).nodes());
  options.tcp_security = "off";
  runtime rt(options);
  offload::supervise(1, {.max_restarts = 2});
  ::kill(waiting->pid(), SIGKILL);
  try {
    end_process_of(1);
  } catch (const node_failure&) {  // it has ended with that program, and was given up already
  }
  try {
    offload::sync(1, fn<&pid_here>);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& given_up) {
    expect_said(given_up.what(), "node 1 is given up");
    expect_said(given_up.what(), waiting->address());
    EXPECT_EQ(given_up.outcome(), call_outcome::not_run);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
