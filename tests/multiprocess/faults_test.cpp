// HAM_FAULT across processes: calls, replies, connections and nodes fail as the rules say, with the outcomes that real
// failures have; over shared memory and over tcp.
// link: ham::ham
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>

#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>
#include <ham/offload/pool.hpp>
#include <ham/offload/senders.hpp>

#include "fault_seeds.hpp"
#include "support.hpp"
#include "tcp_server.hpp"

// Rules name them as they are listed: not in a namespace without a name.
std::atomic<int> runs{0};
int solve(int x) {
  ++runs;
  return 2 * x;
}
int other(int x) { return x + 1; }
int throws(int) {
  ++runs;
  throw std::runtime_error("thrown");
}
int runs_so_far() { return runs; }
/// Until the process is ended.
int hang(int x) {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return x;
}
class counter {
 public:
  int add(int x) { return sum_ += x; }

 private:
  int sum_ = 0;
};
int ask(ham::node_t node, int x) { return ham::offload::sync(node, ham::fn<&solve>, x); }

namespace {

using namespace ham;
using namespace std::chrono_literals;
using offload::async;
using offload::sync;

enum class medium : std::uint8_t { shm, tcp };

class faults : public testing::TestWithParam<medium> {
 protected:
  static void SetUpTestSuite() { waiting().emplace(key().path(), 100); }
  static void TearDownTestSuite() { waiting().reset(); }
  static test::scratch_key& key() {
    static test::scratch_key only('7');
    return only;
  }
  static std::optional<test::server>& waiting() {
    static std::optional<test::server> one;
    return one;
  }
  static std::string one_target() { return GetParam() == medium::shm ? "shm:1" : waiting()->nodes(); }
  static runtime_options with(const std::string& rules, int targets = 1) {
    runtime_options options = test::with_key(one_target(), GetParam() == medium::tcp ? key().path() : "");
    for (int i = 1; i < targets; ++i) options.nodes += "," + one_target();
    options.fault = rules;
    return options;
  }
  /// How a call ends: its value, or how its node failed.
  template <class Value>
  static std::string end_of(offload::future<Value> result) {
    try {
      return std::to_string(result.get());
    } catch (const node_failure& why) {
      return to_string(why.outcome());
    } catch (const std::exception& why) {
      return why.what();
    }
  }
};

TEST_P(faults, at_the_request_has_never_run_and_the_node_goes_on) {
  runtime rt(with("solve:request:1"));
  EXPECT_EQ(end_of(async(1, fn<&solve>, 4)), to_string(call_outcome::not_run));
  EXPECT_THROW(offload::ping(1, fn<&solve>, 4), node_failure);
  EXPECT_EQ(sync(1, fn<&other>, 4), 5) << "another function";
  EXPECT_EQ(sync(1, fn<&runs_so_far>), 0);
  EXPECT_TRUE(offload::alive(1));
}

TEST_P(faults, at_the_reply_has_run_and_nobody_knows) {
  runtime rt(with("solve:reply:1;throws:reply:1"));
  EXPECT_EQ(end_of(async(1, fn<&solve>, 4)), to_string(call_outcome::may_have_run));
  EXPECT_EQ(end_of(async(1, fn<&throws>, 4)), to_string(call_outcome::may_have_run)) << "an exception is lost as well";
  EXPECT_EQ(sync(1, fn<&runs_so_far>), 2);
  EXPECT_TRUE(offload::alive(1));
  offload::ping(1, fn<&solve>, 4);
  EXPECT_EQ(sync(1, fn<&runs_so_far>), 3) << "a ping has no reply";
}

TEST_P(faults, error_says_what_it_was) {
  runtime rt(with("solve:request:1:3"));
  try {
    sync(1, fn<&solve>, 4);
    ADD_FAILURE();
  } catch (const node_failure& why) {
    EXPECT_EQ(why.node(), 1);
    EXPECT_EQ(why.function(), "solve(int)");
    EXPECT_NE(std::string(why.what()).find("rule solve:request:1:3"), std::string::npos) << why.what();
  }
}

std::string ends(int calls) {
  std::string text;
  for (int i = 0; i < calls; ++i) {
    try {
      text += sync(1, fn<&solve>, i) == 2 * i ? '.' : '?';
    } catch (const node_failure& why) {
      text += why.outcome() == call_outcome::not_run ? 'n' : 'm';
    }
  }
  return text;
}

TEST_P(faults, are_the_same_in_every_run_with_a_seed) {
  const auto run = [](const std::string& rules) {
    runtime rt(with(rules));
    const std::string text = ends(200);
    const auto expected = static_cast<int>(200 - std::count(text.begin(), text.end(), 'n'));
    EXPECT_EQ(sync(1, fn<&runs_so_far>), expected) << text;
    return text;
  };
  const std::string first = run("solve:request:0.2:11;solve:reply:0.2:12");
  for (const char one : {'.', 'n', 'm'}) EXPECT_NE(first.find(one), std::string::npos) << first;
  EXPECT_EQ(run("solve:request:0.2:11;solve:reply:0.2:12"), first);
  EXPECT_NE(run("solve:request:0.2:13;solve:reply:0.2:12"), first);
}

TEST_P(faults, strike_calls_of_batches_and_contexts) {
  runtime rt(with("solve:request:0.3:2;solve:reply:0.3:3"));
  offload::batch batch(1);
  std::vector<offload::future<int>> results;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      results.push_back(batch.add(fn<&solve>, 21));
    } catch (const node_failure& why) {
      EXPECT_EQ(why.outcome(), call_outcome::not_run);
      ++refused;
    }
  }
  batch.submit();
  int lost = 0;
  for (auto& one : results) {
    const std::string end = end_of(std::move(one));
    if (end == to_string(call_outcome::may_have_run))
      ++lost;
    else
      EXPECT_EQ(end, "42");
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(lost, 10);
  EXPECT_EQ(sync(1, fn<&runs_so_far>), 100 - refused);
  offload::context queue(1);
  int failed = 0;
  for (int i = 0; i < 100; ++i) failed += end_of(async(queue, fn<&solve>, 21)) == "42" ? 0 : 1;
  EXPECT_GT(failed, 20);
  EXPECT_LT(failed, 80);
}

TEST_P(faults, delay_calls_and_replies_and_deadlines_count_meanwhile) {
  runtime rt(with("solve:request=300ms:1;other:reply=300ms:1"));
  const auto time_of = [](const std::function<void()>& act) {
    const auto before = std::chrono::steady_clock::now();
    act();
    return std::chrono::steady_clock::now() - before;
  };
  EXPECT_GE(time_of([] { EXPECT_EQ(sync(1, fn<&solve>, 4), 8); }), 300ms);
  EXPECT_GE(time_of([] { EXPECT_EQ(sync(1, fn<&other>, 4), 5); }), 300ms);
  const auto outcome_of = [](auto call) {
    try {
      call();
    } catch (const deadline_exceeded& why) {
      return std::string(to_string(why.outcome()));
    }
    return std::string("in time");
  };
  EXPECT_EQ(outcome_of([] { sync(offload::within(1, 10ms), fn<&solve>, 4); }), to_string(call_outcome::not_run));
  EXPECT_EQ(outcome_of([] { sync(offload::within(1, 10ms), fn<&other>, 4); }), to_string(call_outcome::may_have_run));
  EXPECT_EQ(outcome_of([] { sync(offload::within(1, 20s), fn<&other>, 4); }), "in time");
  // Two replies that are held back at once.
  auto first = async(1, fn<&other>, 1);
  auto second = async(1, fn<&other>, 2);
  EXPECT_EQ(second.get(), 3);
  EXPECT_EQ(first.get(), 2);
}

TEST_P(faults, drop_a_node) {
  runtime rt(with("solve:request=drop:1;other:reply=drop:1", 2));
  EXPECT_EQ(end_of(async(1, fn<&other>, 4)), to_string(call_outcome::may_have_run));
  EXPECT_FALSE(offload::alive(1));
  EXPECT_THROW(sync(1, fn<&runs_so_far>), node_failure);
  try {
    sync(2, fn<&solve>, 4);
    ADD_FAILURE();
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
    EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
  }
  EXPECT_FALSE(offload::alive(2));
  const node_t fresh = offload::add_node(one_target());
  EXPECT_EQ(sync(fresh, fn<&runs_so_far>), 0);
}

TEST_P(faults, kill_a_process) {
  runtime rt(with("solve:reply=kill:1;other:request=kill:1", 2));
  const auto pid = static_cast<pid_t>(offload::get_node_descriptor(1).pid());
  EXPECT_EQ(end_of(async(1, fn<&solve>, 4)), to_string(call_outcome::may_have_run));
  EXPECT_TRUE(test::eventually([] { return !offload::alive(1); }));
  if (GetParam() == medium::shm) {
    EXPECT_TRUE(test::eventually([&] { return !test::alive(pid); }));
  }
  std::string end;
  try {
    end = end_of(async(2, fn<&other>, 4));
  } catch (const node_failure& why) {  // by tcp: dropped before it is sent
    end = to_string(why.outcome());
  }
  EXPECT_TRUE(end == to_string(call_outcome::not_run) || end == to_string(call_outcome::may_have_run)) << end;
  EXPECT_TRUE(test::eventually([] { return !offload::alive(2); }));
}

TEST_P(faults, make_connections_fail) {
  const std::string end = [] {
    try {
      runtime rt(with("*:connect:1"));
      return std::string("it started");
    } catch (const config_error& why) {
      return std::string(why.what());
    }
  }();
  EXPECT_NE(end.find("HAM_FAULT"), std::string::npos) << end;
  runtime rt(with("2:connect:1"));
  EXPECT_EQ(sync(1, fn<&other>, 1), 2);
  EXPECT_THROW(offload::add_node(one_target()), config_error);
  EXPECT_EQ(sync(1, fn<&other>, 1), 2);
  EXPECT_EQ(sync(offload::add_node(one_target()), fn<&other>, 1), 2) << "the next one";
}

TEST_P(faults, spare_what_a_node_asks_of_itself) {
  runtime rt(with("*:request:1"));
  EXPECT_EQ(sync(0, fn<&solve>, 4), 8);
}

// ---- calls that are more than one message to one node

std::string outcome_in(const std::exception_ptr& why) {
  const auto about = describe_error(why);
  if (!about) return "none";
  EXPECT_NE(about.message.find("HAM_FAULT"), std::string::npos) << about.message;
  return std::to_string(about.node) + " " + to_string(about.outcome);
}

/// Of nine nodes the first one answers for the second one: both have the failure of the one message.
TEST_P(faults, of_a_group_strike_the_message_to_a_part_of_it) {
  constexpr std::size_t size = 9;
  const auto expect = [&](const std::string& outcome, int runs_before) {
    const offload::group all;
    const auto results = offload::async_all(all, fn<&solve>, 4).get();
    ASSERT_EQ(results.size(), size);
    for (const std::size_t i : {0, 1}) EXPECT_EQ(outcome_in(results.error(i)), "1 " + outcome);
    for (std::size_t i = 2; i < size; ++i) EXPECT_EQ(results.value(i), 8);
    EXPECT_EQ(sync(1, fn<&runs_so_far>), runs_before);
    EXPECT_EQ(sync(2, fn<&runs_so_far>), runs_before);
  };
  {
    runtime rt(with(test::striking_once("solve:request"), size));
    expect(to_string(call_outcome::not_run), 0);
    EXPECT_EQ(offload::sync_all(offload::group(), fn<&solve>, 4), std::vector<int>(size, 8)) << "no node was lost";
  }
  runtime rt(with(test::striking_once("solve:reply"), size));
  expect(to_string(call_outcome::may_have_run), 1);
  EXPECT_EQ(offload::reduce_all(offload::group(), fn<&solve>, std::plus<>(), 4).get(), 8 * 9);
}

TEST_P(faults, of_a_group_lose_a_node_and_the_next_one_takes_its_place) {
  constexpr std::size_t size = 9;
  runtime rt(with(test::striking_once("solve:request=drop"), size));
  const auto results = offload::async_all(offload::group(), fn<&solve>, 4).get();
  ASSERT_EQ(results.size(), size);
  EXPECT_EQ(outcome_in(results.error(0)), std::string("1 ") + to_string(call_outcome::not_run));
  for (std::size_t i = 1; i < size; ++i) EXPECT_EQ(results.value(i), 8);
  EXPECT_FALSE(offload::alive(1));
}

TEST_P(faults, of_a_group_leave_no_value_of_a_reduction) {
  runtime rt(with("solve:request:1", 2));
  try {
    offload::reduce_all(offload::group(), fn<&solve>, std::plus<>(), 4).get();
    ADD_FAILURE();
  } catch (const offload::group_error& why) {
    ASSERT_EQ(why.failures().size(), 2U);
    EXPECT_EQ(outcome_in(why.failures()[1].error), std::string("2 ") + to_string(call_outcome::not_run));
  }
}

/// The node of a task that fails goes on, and so nothing is repeated.
TEST_P(faults, of_tasks_of_pools_are_errors_of_the_task) {
  runtime rt(with(test::striking_once("solve:request"), 2));
  offload::pool workers;
  EXPECT_EQ(end_of(workers.async(idempotent(fn<&solve>), 4)), to_string(call_outcome::not_run));
  EXPECT_EQ(workers.living(), 2U);
  EXPECT_EQ(end_of(workers.async(fn<&solve>, 4)), "8");
}

TEST_P(faults, of_pools_repeat_the_tasks_of_nodes_that_are_lost) {
  for (const char* const rule : {"solve:request=drop", "solve:reply=drop", "solve:reply=kill"}) {
    runtime rt(with(test::striking_once(rule), 2));
    offload::pool workers;
    EXPECT_EQ(end_of(workers.async(idempotent(fn<&solve>), 4)), "8") << rule;
    EXPECT_EQ(workers.living(), 1U) << rule;
  }
  runtime rt(with(test::striking_once("solve:reply=drop"), 2));
  offload::pool workers;
  EXPECT_EQ(end_of(workers.async(fn<&solve>, 4)), to_string(call_outcome::may_have_run)) << "it may not be repeated";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(end_of(workers.async(fn<&solve>, i)), std::to_string(2 * i));
}

TEST_P(faults, strike_chunks_of_maps) {
  const auto named_halve = named<"halve">([](int x) { return x / 2; });
  std::vector<int> elements(12);
  std::iota(elements.begin(), elements.end(), 0);
  const auto end_of_map = [&](auto callable) {
    try {
      const std::vector<int> results = offload::pool().map(elements, callable, {.chunk = 4});
      return std::to_string(std::accumulate(results.begin(), results.end(), 0));
    } catch (const node_failure& why) {
      EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
      return std::string(to_string(why.outcome())) + ": " + why.function();
    }
  };
  const std::string not_run = to_string(call_outcome::not_run);
  const std::string may_have_run = to_string(call_outcome::may_have_run);
  {
    runtime rt(with("solve:request:1;halve:reply:1", 2));
    EXPECT_EQ(end_of_map(fn<&solve>), not_run + ": solve(int) [map]");
    EXPECT_EQ(end_of_map(idempotent(fn<&solve>)), not_run + ": solve(int) [map]") << "no node was lost";
    EXPECT_EQ(end_of_map(pooled(fn<&solve>)), not_run + ": solve(int) [map] [pooled]");
    EXPECT_EQ(end_of_map(named_halve), may_have_run + ": \"halve\" [map]");
    EXPECT_EQ(end_of_map(fn<&other>), "78");
  }
  {
    runtime rt(with(test::striking_once("solve:reply=drop"), 2));
    EXPECT_EQ(end_of_map(idempotent(fn<&solve>)), "132") << "the chunk of the node that is lost is repeated";
    EXPECT_EQ(offload::alive(1) + offload::alive(2), 1);
  }
  runtime rt(with(test::striking_once("solve:reply=drop"), 2));
  EXPECT_EQ(end_of_map(fn<&solve>), may_have_run + ": solve(int) [map]");
}

TEST_P(faults, of_graphs_are_those_of_their_nodes_not_of_stages) {
  const auto replay_of = [](auto function) {
    offload::graph recorded;
    const auto x = recorded.input<int>();
    return recorded.compile(recorded.call(2, fn<&other>, recorded.call(1, function, x)), x);
  };
  const auto expect_loss_of = [](offload::future<int> replay, const char* stage) {
    try {
      replay.get();
      ADD_FAILURE() << stage;
    } catch (const node_failure& why) {
      EXPECT_EQ(why.node(), 1);
      EXPECT_EQ(why.outcome(), call_outcome::may_have_run);
      EXPECT_NE(why.function().find(stage), std::string::npos) << why.function();
      EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
    }
  };
  {
    runtime rt(with("solve:request:1;throws:request=drop:1", 2));
    auto hangs = replay_of(fn<&hang>);
    EXPECT_EQ(replay_of(fn<&solve>)(4).get(), 9) << "a stage is no call";
    auto replay = hangs(4);
    EXPECT_THROW(sync(1, fn<&throws>, 1), node_failure);
    expect_loss_of(std::move(replay), "hang");
  }
  runtime rt(with("*start_graph_part*:request=drop:1", 2));
  auto solves = replay_of(fn<&solve>);
  expect_loss_of(solves(4), "solve");
  EXPECT_THROW(static_cast<void>(solves(4).get()), node_failure) << "the node is not started again";
}

TEST_P(faults, strike_remote_objects) {
  runtime rt(with("*call_method<&counter::add*:request:0.5:4"));
  const auto object = offload::make<counter>(1);
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string end = end_of(object.async<&counter::add>(1));
    if (end == to_string(call_outcome::not_run))
      ++refused;
    else
      EXPECT_EQ(end, std::to_string(i + 1 - refused)) << "the object has seen no other call";
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 45);
}

TEST_P(faults, strike_the_making_of_remote_objects_and_their_replies) {
  {
    runtime rt(with("*construct_object<counter>*:request:1"));
    try {
      static_cast<void>(offload::make<counter>(1));
      ADD_FAILURE();
    } catch (const node_failure& why) {
      EXPECT_EQ(why.outcome(), call_outcome::not_run);
    }
  }
  runtime rt(with(test::striking_once("*call_method<&counter::add*:reply")));
  const auto object = offload::make<counter>(1);
  EXPECT_EQ(end_of(object.async<&counter::add>(5)), to_string(call_outcome::may_have_run));
  EXPECT_EQ(object.call<&counter::add>(2), 7) << "the call before has run";
}

TEST_P(faults, strike_senders) {
  runtime rt(with("solve:request:1;throws:reply:1"));
  const auto end_of_sender = [](auto sender) {
    try {
      return std::to_string(std::get<0>(*offload::sync_wait(std::move(sender))));
    } catch (const node_failure& why) {
      EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
      return std::string(to_string(why.outcome()));
    }
  };
  EXPECT_EQ(end_of_sender(offload::call(1, fn<&solve>, 4)), to_string(call_outcome::not_run));
  EXPECT_EQ(end_of_sender(offload::call(1, fn<&throws>, 4)), to_string(call_outcome::may_have_run));
  EXPECT_EQ(end_of_sender(offload::schedule(1) | offload::then([] { return 3; })), "3");
  EXPECT_EQ(sync(1, fn<&runs_so_far>), 1);
}

INSTANTIATE_TEST_SUITE_P(over, faults, testing::Values(medium::shm, medium::tcp),
                         [](const auto& one) { return one.param == medium::shm ? "shm" : "tcp"; });

/// Targets that are started here read the variable as well.
int environment_reaches_targets() {
  runtime rt(test::nodes("shm:2"));
  try {
    sync(1, fn<&ask>, 2, 4);
  } catch (const node_failure& why) {
    std::printf("%d %s\n", why.node(), to_string(why.outcome()));
  }
  return 0;
}
const test::scenario reaches_targets("environment_reaches_targets", environment_reaches_targets);

TEST(fault_variable, holds_in_targets_that_are_started_here) {
  test::host_process host("environment_reaches_targets", {"HAM_FAULT=solve:request:1"});
  EXPECT_EQ(host.rest(), std::string("2 ") + to_string(call_outcome::not_run) + "\n");
  EXPECT_EQ(host.wait(), 0);
}

int starts() {
  try {
    const runtime rt(test::nodes("shm:1"));
    std::puts("it started");
  } catch (const config_error& why) {
    std::puts(why.what());
  }
  return 0;
}
const test::scenario start_scenario("starts", starts);

TEST(fault_variable, that_cannot_be_read_fails_the_start) {
  test::host_process host("starts", {"HAM_FAULT=solve:answer:1"});
  EXPECT_NE(host.rest().find("HAM_FAULT: the rule \"solve:answer:1\" has \"answer\""), std::string::npos);
}

TEST(fault_variable, that_names_nothing_is_said_once) {
  test::host_process host("starts", {"HAM_FAULT=solv:request:1"});
  const std::string text = host.rest();
  EXPECT_NE(text.find("no function of this program is named \"solv\""), std::string::npos) << text;
  EXPECT_NE(text.find("it started"), std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const ham::runtime target(ham::runtime_options{});  // does not come back
  return ham::test::run(argc, argv);
}
