// HAM_FAULT and supervised numbers: rules strike whichever process a number has, also of calls by handles, and name the
// number.
// link: ham::ham
// env: HAM_LOG=error
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>
#include <ham/offload/pool.hpp>
#include <ham/offload/retry.hpp>
#include <ham/offload/senders.hpp>

#include "fault_seeds.hpp"
#include "support.hpp"

// Rules name them as they are listed: not in a namespace without a name.
int faulty_double(int x) { return 2 * x; }
class faulty_counter {
 public:
  int add(int x) { return sum_ += x; }

 private:
  int sum_ = 0;
};

namespace {

using namespace ham;
using namespace ham::test;
using offload::async;
using offload::sync;

std::int64_t own_pid() { return ::getpid(); }
int of_host() { return 7; }
int ask_host() { return sync(0, fn<&of_host>); }
int ask_by_way_of(node_t node) { return sync(node, fn<&ask_host>); }

/// One supervised target, perhaps others that are not, and what the host does to its calls.
class supervised_faults : public testing::Test {
 protected:
  void start(const std::string& rules, int targets = 1) {
    respawns_.clear();
    job_.reset();
    runtime_options options = nodes("shm:" + std::to_string(targets));
    options.fault = rules;
    job_ = std::make_unique<runtime>(options);
    offload::supervision how{.max_restarts = 100, .within = 1min, .on_respawn = {}};
    how.on_respawn = [this](const offload::respawned& fresh) {
      const std::lock_guard guard(mutex_);
      respawns_.push_back(fresh);
    };
    offload::supervise(1, how);
  }
  /// The process that has the number, when it answers.
  static std::int64_t process() {
    std::int64_t pid = 0;
    EXPECT_TRUE(eventually([&] {
      try {
        pid = sync(1, fn<&own_pid>);
        return true;
      } catch (const node_failure&) {  // it was sent to the one that has died
        return false;
      }
    }));
    return pid;
  }
  static bool another_than(std::int64_t before) {
    return eventually([&] { return process() != before; });
  }
  /// From now on the number has the second process.
  static void replace() {
    const std::int64_t before = process();
    ::kill(static_cast<pid_t>(before), SIGKILL);
    EXPECT_TRUE(another_than(before));
    EXPECT_NE(offload::process_of(1), 1);
  }
  std::vector<offload::respawned> respawns() {
    const std::lock_guard guard(mutex_);
    return respawns_;
  }

 private:
  std::mutex mutex_;
  std::vector<offload::respawned> respawns_;
  std::unique_ptr<runtime> job_;
};

TEST_F(supervised_faults, kill_each_process_of_the_number) {
  start("faulty_double:request=kill:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    try {
      EXPECT_EQ(sync(1, fn<&faulty_double>, round), 2 * round);  // where the next process was there already
    } catch (const node_failure&) {
    }
    EXPECT_TRUE(another_than(before)) << "round " << round;
  }
  EXPECT_GE(respawns().size(), 3U);
}

TEST_F(supervised_faults, drop_each_process_and_the_call_goes_to_the_next_one) {
  start("faulty_double:request=drop:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    EXPECT_EQ(sync(1, fn<&faulty_double>, round), 2 * round);
    EXPECT_NE(process(), before) << "round " << round;
  }
  ASSERT_EQ(respawns().size(), 3U);
  for (const offload::respawned& one : respawns())
    EXPECT_NE(one.reason.find("HAM_FAULT asks for it (rule faulty_double:request=drop:1)"), std::string::npos)
        << one.reason;
}

TEST_F(supervised_faults, a_number_that_is_given_up_leaves_no_process_that_others_call_in_vain) {
  start("faulty_double:request=drop:1", 2);
  const std::int64_t last = process();
  EXPECT_EQ(sync(2, fn<&ask_by_way_of>, 1), 7);
  offload::supervise(1, {.max_restarts = 0});
  EXPECT_THROW(sync(1, fn<&faulty_double>, 1), node_failure);
  EXPECT_TRUE(eventually([&] { return ::kill(static_cast<pid_t>(last), 0) != 0; }));
  EXPECT_THROW(sync(2, fn<&ask_by_way_of>, 1), node_failure);
}

TEST_F(supervised_faults, drop_behind_the_reply_of_each_process) {
  start("faulty_double:reply=drop:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    try {
      sync(1, fn<&faulty_double>, round);
      ADD_FAILURE() << "round " << round;
    } catch (const node_failure& why) {
      EXPECT_EQ(why.outcome(), call_outcome::may_have_run);
    }
    EXPECT_TRUE(another_than(before)) << "round " << round;
  }
}

template <class Call>
void expect_no_run(Call call, const char* what) {
  try {
    call();
    ADD_FAILURE() << what;
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run) << what;
    EXPECT_EQ(why.node(), offload::process_of(1)) << what;
    EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
  }
}

TEST_F(supervised_faults, strike_calls_by_number_by_handle_and_of_batches) {
  start("faulty_double:request:1");
  for (int round = 0; round < 2; ++round) {
    expect_no_run([] { sync(1, fn<&faulty_double>, 1); }, "by number");
    const offload::context queue(1);
    expect_no_run([&] { sync(queue, fn<&faulty_double>, 1); }, "by handle");
    expect_no_run([] { offload::ping(1, fn<&faulty_double>, 1); }, "ping");
    offload::batch several(1);
    expect_no_run([&] { static_cast<void>(several.add(fn<&faulty_double>, 1)); }, "in a batch");
    if (round == 0) replace();
  }
}

template <class Call>
void expect_loss_of_what_may_have_run(Call call) {
  try {
    call();
    ADD_FAILURE();
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::may_have_run) << why.what();
    EXPECT_EQ(offload::number_of(why.node()), 1) << why.what();
  }
}

TEST_F(supervised_faults, retry_repeats_calls_when_their_process_is_lost) {
  for (const char* const rule : {"faulty_double:request=drop", "faulty_double:request=kill", "faulty_double:reply=drop",
                                 "faulty_double:reply=kill"}) {
    start(striking_once(rule));
    const std::int64_t before = process();
    EXPECT_EQ(sync(offload::retry(1, 1), idempotent(fn<&faulty_double>), 4), 8) << rule;
    EXPECT_TRUE(another_than(before)) << rule;
  }
}

TEST_F(supervised_faults, retry_repeats_nothing_while_the_process_lives) {
  start(striking_once("faulty_double:reply"));
  const std::int64_t before = process();
  expect_loss_of_what_may_have_run([] { sync(offload::retry(1, 3), idempotent(fn<&faulty_double>), 4); });
  EXPECT_EQ(process(), before);
}

TEST_F(supervised_faults, tasks_of_a_pool_wait_for_the_next_process) {
  for (const char* const rule :
       {"faulty_double:request=drop", "faulty_double:reply=drop", "faulty_double:reply=kill"}) {
    start(striking_once(rule));
    const std::int64_t before = process();
    offload::pool workers({1});
    EXPECT_EQ(workers.async(idempotent(fn<&faulty_double>), 4).get(), 8) << rule;
    EXPECT_EQ(workers.living(), 1U) << rule;
    EXPECT_TRUE(another_than(before)) << rule;
  }
}

TEST_F(supervised_faults, chunks_of_a_map_wait_for_the_next_process) {
  for (const char* const rule :
       {"faulty_double:request=drop", "faulty_double:reply=drop", "faulty_double:reply=kill"}) {
    start(striking_once(rule));
    const std::int64_t before = process();
    const std::vector<int> results =
        offload::pool({1}).map(std::vector<int>(6, 4), idempotent(fn<&faulty_double>), {.chunk = 2});
    EXPECT_EQ(results, std::vector<int>(6, 8)) << rule;
    EXPECT_TRUE(another_than(before)) << rule;
  }
}

TEST_F(supervised_faults, a_group_has_the_loss_of_one_call_and_then_the_next_process) {
  start(striking_once("faulty_double:request=drop"), 2);
  EXPECT_EQ(offload::sync_all(offload::group({1, 2}), fn<&faulty_double>, 4), std::vector<int>(2, 8));
  EXPECT_EQ(respawns().size(), 1U) << "it went to the next process";

  start(striking_once("faulty_double:reply=drop"), 2);
  const offload::group all({1, 2});
  const auto results = offload::async_all(all, fn<&faulty_double>, 4).get();
  expect_loss_of_what_may_have_run([&] { static_cast<void>(results.value(0)); });
  EXPECT_EQ(results.value(1), 8);
  EXPECT_EQ(offload::sync_all(all, fn<&faulty_double>, 4), std::vector<int>(2, 8));
}

TEST_F(supervised_faults, a_graph_loses_a_replay_and_goes_on_with_the_next_process) {
  start(striking_once("*start_graph_part*:request=drop"));
  offload::graph recorded;
  const auto x = recorded.input<int>();
  auto step = recorded.compile(recorded.call(1, fn<&faulty_double>, x), x);
  try {
    step(4).get();
    ADD_FAILURE();
  } catch (const node_failure& why) {
    EXPECT_NE(why.function().find("faulty_double"), std::string::npos) << why.function();
  }
  EXPECT_EQ(step(4).get(), 8);
  EXPECT_EQ(respawns().size(), 1U);
}

TEST_F(supervised_faults, a_remote_object_goes_with_its_process) {
  start(striking_once("*call_method<&faulty_counter::add*:request=drop"));
  const auto object = offload::make<faulty_counter>(1);
  try {
    object.call<&faulty_counter::add>(1);
    ADD_FAILURE();
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run) << why.what();
  } catch (const object_error&) {  // the next process has said so
  }
  EXPECT_THROW(object.call<&faulty_counter::add>(1), object_error) << "the next process has not made it";
  const auto other = offload::make<faulty_counter>(1);
  EXPECT_EQ(other.call<&faulty_counter::add>(2), 2);
  EXPECT_EQ(respawns().size(), 1U);
}

TEST_F(supervised_faults, senders_go_to_the_next_process_or_have_the_loss) {
  start(striking_once("faulty_double:request=drop"));
  EXPECT_EQ(std::get<0>(*offload::sync_wait(offload::call(1, fn<&faulty_double>, 4))), 8);
  EXPECT_EQ(respawns().size(), 1U);
  start(striking_once("faulty_double:reply=kill"));
  const auto call = offload::call(1, fn<&faulty_double>, 4);
  expect_loss_of_what_may_have_run([&] { static_cast<void>(offload::sync_wait(call)); });
  EXPECT_EQ(std::get<0>(*offload::sync_wait(call)), 8);
}

TEST_F(supervised_faults, a_rule_for_connections_names_the_number) {
  start(deciding("1:connect", 0.5, {false, true, false}));
  replace();  // the first attempt fails
  ASSERT_EQ(respawns().size(), 1U);
  EXPECT_NE(respawns().front().reason.find("HAM_FAULT asks for it (rule 1:connect:"), std::string::npos)
      << respawns().front().reason;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
