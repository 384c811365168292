// Event loops, continuations, events, libraries, kill_call and heartbeats over every kind of transport that targets of
// this machine can have. Ranks of MPI: tests/mpi/job_test.cpp.
// link: ham::ham
// timeout: 600
// serial: no
// env: HAM_LOG=error
#include <csignal>
#include <optional>
#include <set>

#include "offload/job_verbs.hpp"
#include "some_attempt.hpp"
#include "target_kinds.hpp"
#include "thrown_message.hpp"

using namespace ham;
using namespace ham::test;
using namespace ham::test::job_verbs;

namespace {

void expect_said(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not say: " << part;
}

class job_verbs_over : public over_every_kind {};

TEST_P(job_verbs_over, do_what_they_promise) {
  const runtime rt(job.options(2));
  expect_all_but_deaths({1, 2});
}

TEST_P(job_verbs_over, tell_who_comes_and_goes) {
  const runtime rt(job.options(1));
  const told_events told;
  const auto add = [&] { return offload::add_node(job.targets(1)); };
  if (job.has_threads()) {
    const std::string why =
        "the nodes of this job cannot change (they live in one process); start it with other HAM_NODES";
    EXPECT_EQ(message_of<config_error>(add), why);
    EXPECT_EQ(message_of<config_error>([] { offload::remove_node(1); }), why);
    return;
  }
  const node_t added = add();
  EXPECT_EQ(told.first(event_kind::joined, added).node, added);
  EXPECT_EQ(offload::sync(added, fn<&echo>, 3), 3);
  offload::remove_node(added);
  EXPECT_TRUE(told.first(event_kind::lost, added).orderly);

  const pid_t process = offload::sync(1, fn<&pid_here>);
  auto pending = offload::async(1, fn<&hang>);
  ASSERT_EQ(::kill(process, SIGKILL), 0);
  EXPECT_THROW(pending.get(), node_failure);
  const event lost = told.first(event_kind::lost, 1);
  EXPECT_FALSE(lost.orderly);
  EXPECT_FALSE(lost.reason.empty());
}

TEST_P(job_verbs_over, a_lost_target_wakes_an_event_loop) {
  if (job.has_threads()) return;  // which are not lost
  const runtime rt(job.options(2));
  const pid_t process = offload::sync(1, fn<&pid_here>);
  const event_loop loop;
  bool settled = false;
  auto lost = offload::async(1, fn<&hang>);
  lost.on_ready([&] { settled = true; });
  ASSERT_EQ(::kill(process, SIGKILL), 0);
  EXPECT_TRUE(loop.run([&] { return settled; }));
  EXPECT_THROW(lost.get(), node_failure);
  EXPECT_EQ(offload::sync(2, fn<&echo>, 3), 3);
}

TEST_P(job_verbs_over, kill_call_ends_the_process_or_says_why_not) {
  const runtime rt(job.options(2));
  if (job.has_threads()) {
    expect_not_killed(1, [](const std::string& why) {
      expect_said(why, "the process of node 1 cannot be ended by node 0 (");
      expect_said(why, "; use targets that are processes");
    });
    return;
  }
  const told_events told;
  const pid_t process = offload::sync(1, fn<&pid_here>);
  expect_said(offload::sync(2, fn<&killed_from_here>, 1), "cannot be ended by node 2");
  auto call = offload::async(1, fn<&hang>);
  EXPECT_TRUE(offload::kill_call(call));
  try {
    call.get();
    ADD_FAILURE() << "it has returned";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 1);
  }
  EXPECT_FALSE(told.first(event_kind::lost, 1).orderly);
  EXPECT_TRUE(eventually([&] { return ::kill(process, 0) != 0; })) << "it is still there";
  EXPECT_FALSE(offload::kill_call(call));
  EXPECT_EQ(offload::sync(2, fn<&echo>, 3), 3);
  auto removed = offload::async(2, fn<&hang>);  // what the error advises where it cannot
  offload::remove_node(2, 0ms);
  EXPECT_THROW(removed.get(), node_failure);
}

TEST_P(job_verbs_over, kill_call_leaves_the_number_to_the_next_process) {
  if (job.has_threads()) return;
  const runtime rt(job.options(1));
  const told_events told;
  offload::supervise(1);
  const pid_t before = offload::sync(1, fn<&pid_here>);
  auto call = offload::async(1, fn<&hang>);
  EXPECT_TRUE(offload::kill_call(call));
  EXPECT_THROW(call.get(), node_failure);
  EXPECT_NE(offload::sync(1, fn<&pid_here>), before);
  EXPECT_FALSE(told.first(event_kind::respawned, 1).reason.empty());
}

/// A busy machine may give it no core for long.
TEST_P(job_verbs_over, a_process_that_gives_signs_of_life_is_not_replaced) {
  if (job.has_threads()) return;
  EXPECT_TRUE(in_some_attempt([&] {
    const runtime rt(job.options(1));
    const pid_t before = offload::sync(1, fn<&pid_here>);
    offload::supervise(1, {.hang_after = 1s});
    try {
      offload::sync(1, fn<&work>, 1500);
      return offload::sync(1, fn<&pid_here>) == before;
    } catch (const node_failure&) {
      return false;
    }
  }));
}

TEST_P(job_verbs_over, a_process_that_hangs_is_replaced) {
  const runtime rt(job.options(1));
  if (job.has_threads()) {
    expect_said(message_of<config_error>([] { offload::supervise(1, {.hang_after = 1s}); }),
                "(they are threads of one process, and end with it); use targets that are processes");
    return;
  }
  const told_events told;
  const pid_t before = offload::sync(1, fn<&pid_here>);
  offload::supervise(1, {.max_restarts = 1, .hang_after = 1s});
  EXPECT_THROW(offload::sync(1, fn<&hang>), node_failure);
  EXPECT_NE(offload::sync(1, fn<&pid_here>), before);
  expect_said(told.first(event_kind::hang, 1).reason, "no answer to ham::test::job_verbs::hang() for 1 s");
  expect_said(told.first(event_kind::respawned, 1).reason, "it hung: no answer to ");
  EXPECT_THROW(offload::sync(1, fn<&hang>), node_failure);
  const std::string given_up = message_of<node_failure>([] { offload::sync(1, fn<&echo>, 1); });
  expect_said(given_up, "node 1 is given up");
  expect_said(told.first(event_kind::given_up, 1).reason, "it hung: no answer to ");
}

INSTANTIATE_TEST_SUITE_P(all, job_verbs_over, testing::ValuesIn(target_kinds), kind_name);

TEST(job_verbs, are_tested_over_every_transport) {
  std::set<std::string> tested{"mpi", "cuda"};  // tests/mpi; a GPU of which the other one is an emulation
  for (const target_kind& kind : target_kinds) tested.insert(kind.medium);
  for (const transport_info& one : list_transports()) EXPECT_TRUE(tested.contains(one.name)) << one.name;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
