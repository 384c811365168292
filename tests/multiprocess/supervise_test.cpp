// Nodes that are started again when they die: calls that wait, preparation, limits, removal, what is left behind.
// link: ham::ham
// timeout: 300
// serial: no
#include "ham/offload/graph.hpp"
#include "ham/offload/retry.hpp"
#include "ham/offload/senders.hpp"
#include "holdings.hpp"
#include "supervised_node.hpp"
#include "tcp_server.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <set>

using namespace ham;
using namespace ham::test;
using offload::event;
using offload::event_kind;

namespace {

void leave(int status) { std::exit(status); }
std::string& state() {
  static std::string text;
  return text;
}
void set_state(const std::string& text) { state() = text; }
std::string get_state() { return state(); }
node_t own_number() { return offload::number_of(offload::this_node()); }

TEST(supervise, a_node_that_dies_is_called_under_the_same_number) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  pid_t before = offload::sync(1, fn<&my_pid>);
  for (int i = 0; i < 4; ++i) {
    kill_node(1);
    const pid_t after = offload::sync(1, fn<&my_pid>);
    EXPECT_NE(before, after);
    before = after;
    EXPECT_EQ(offload::sync(1, fn<&own_number>), 1);
    EXPECT_TRUE(offload::alive(1));
  }
  EXPECT_EQ(offload::sync(2, fn<&echo>, 3), 3);
  EXPECT_EQ(offload::number_of(offload::process_of(1)), 1);
  EXPECT_NE(offload::process_of(1), 1);
}

TEST(supervise, a_continuation_waits_for_a_start_while_nodes_are_added) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, {.max_restarts = 100});
  for (int ms = 0; ms < 16; ms += 2) {  // the addition of a node takes some
    std::atomic<bool> reached{false};
    auto chain = offload::async(2, fn<&sleep_ms>, ms).then([&] {
      kill_node(1);
      static_cast<void>(pid_through(1));
      reached = true;
    });
    const node_t added = offload::add_node("shm:1");
    chain.get();
    EXPECT_TRUE(reached);
    EXPECT_EQ(offload::sync(added, fn<&echo>, ms), ms);
    offload::remove_node(added);
  }
}

TEST(supervise, all_ways_to_call_reach_it) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  kill_node(1);
  offload::ping(1, fn<&set_state>, std::string("pinged"));
  EXPECT_EQ(offload::sync(1, fn<&get_state>), "pinged");
  offload::batch several(1);
  auto first = several.add(fn<&echo>, 1);
  auto second = several.add(fn<&echo>, 2);
  several.submit();
  EXPECT_EQ(first.get() + second.get(), 3);
  EXPECT_EQ(offload::sync(offload::within(1, 10s), fn<&echo>, 4), 4);
  const offload::context ordered(1);
  EXPECT_EQ(offload::sync(ordered, fn<&echo>, 5), 5);
  offload::buffer<int> numbers(1, 4);
  const std::vector<int> values{1, 2, 3, 4};
  offload::put(values.data(), numbers.ptr(), 4).get();
  std::vector<int> back(4);
  offload::get(numbers.ptr(), back.data(), 4).get();
  EXPECT_EQ(back, values);
  EXPECT_EQ(numbers.node(), offload::process_of(1));
  const auto object = offload::make<counter>(1);
  EXPECT_EQ(object.call<&counter::add>(2), 2);
}

TEST(supervise, a_program_that_leaves_is_started_again_too) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  const pid_t before = offload::sync(1, fn<&my_pid>);
  auto left = offload::async(1, fn<&leave>, 3);
  EXPECT_THROW(left.get(), node_failure);
  EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
}

TEST(supervise, state_is_rebuilt_before_calls_arrive) {
  runtime rt(nodes("shm:2"));
  std::vector<offload::respawned> seen;
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    seen.push_back(fresh);
    std::this_thread::sleep_for(50ms);
    offload::sync(fresh.node, fn<&set_state>, "epoch " + std::to_string(fresh.epoch));
    EXPECT_EQ(offload::sync(fresh.process, fn<&own_number>), 1);
  };
  offload::supervise(1, how);
  kill_node(1);
  EXPECT_EQ(offload::sync(1, fn<&get_state>), "epoch 1");
  kill_node(1);
  EXPECT_EQ(offload::sync(1, fn<&get_state>), "epoch 2");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].node, 1);
  EXPECT_NE(seen[0].reason.find("signal 9"), std::string::npos) << seen[0].reason;
}

TEST(supervise, a_continuation_does_not_reach_a_process_that_is_prepared) {
  runtime rt(nodes("shm:2"));
  std::atomic<bool> rebuilt{false};
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    offload::sync(fresh.node, fn<&sleep_ms>, 100);  // the thread that waits receives what others wait for
    offload::sync(fresh.node, fn<&set_state>, std::string("prepared"));
    rebuilt = true;
  };
  offload::supervise(1, how);
  const pid_t before = offload::sync(1, fn<&my_pid>);
  auto state = offload::async(2, fn<&sleep_ms>, 50).then([] {
    static_cast<void>(pid_through(1));
    return offload::sync(1, fn<&get_state>);
  });
  ::kill(before, SIGKILL);
  EXPECT_TRUE(eventually([&] { return rebuilt.load(); }));  // this thread executes nothing
  EXPECT_EQ(state.get(), "prepared");
}

/// What takes a stop token.
struct stopped_verb {
  const char* name;
  std::function<void(std::stop_token)> run;  ///< throws
};

struct token_env {
  std::stop_token token;
  [[nodiscard]] std::stop_token query(offload::execution::get_stop_token_t) const noexcept { return token; }
};
/// Of a sender that is to be stopped.
struct stopped_receiver {
  using receiver_concept = offload::execution::receiver_tag;
  std::stop_token token;
  bool* stopped;
  void set_value(int) const noexcept {}
  void set_error(const std::exception_ptr&) const noexcept {}
  void set_stopped() const noexcept { *stopped = true; }
  [[nodiscard]] token_env get_env() const noexcept { return {token}; }
};
/// Throws if it was not sent because of the stop.
void start_sender(const std::stop_token& token) {
  bool stopped = false;
  auto operation = offload::call(1, fn<&echo>, 1).connect(stopped_receiver{token, &stopped});
  operation.start();
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return stopped;
  }));
  throw operation_cancelled("the sender was stopped", call_outcome::not_run);
}

TEST(supervise, a_stop_ends_the_wait_for_a_process_that_is_prepared) {
  std::atomic<bool> go_on{false};
  runtime rt(nodes("shm:1"));
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) { EXPECT_TRUE(eventually([&] { return go_on.load(); })); };
  offload::supervise(1, how);
  offload::graph g;
  auto replayed = g.compile(g.call(1, fn<&echo>, g.input<int>()));
  EXPECT_EQ(replayed(3).get(), 3);
  kill_node(1);
  const auto at_node = [](std::stop_token token) { return offload::stoppable(1, std::move(token)); };
  const stopped_verb verbs[] = {
      {"async", [&](std::stop_token token) { offload::async(at_node(token), fn<&echo>, 1).get(); }},
      {"try_async", [&](std::stop_token token) { offload::try_async(at_node(token), fn<&echo>, 1)->get(); }},
      {"sender", start_sender},
      {"allocate", [&](std::stop_token token) { static_cast<void>(offload::allocate<int>(at_node(token), 4)); }},
      {"context", [&](std::stop_token token) { const offload::context opened(at_node(token)); }},
      {"make", [&](std::stop_token token) { static_cast<void>(offload::make<std::string>(at_node(token))); }},
      {"retry",
       [&](std::stop_token token) {
         offload::async(offload::retry(at_node(token), 3), idempotent(fn<&echo>), 1).get();
       }},
      {"replay", [&](std::stop_token token) { replayed.stoppable(token)(1).get(); }},
  };
  for (const auto& [name, verb] : verbs) {
    SCOPED_TRACE(name);
    std::stop_source source;
    const std::jthread stops([&] {
      std::this_thread::sleep_for(20ms);
      source.request_stop();
    });
    try {
      verb(source.get_token());
      ADD_FAILURE() << "it has run";
    } catch (const operation_cancelled& why) {
      EXPECT_EQ(why.outcome(), call_outcome::not_run);
    } catch (const std::exception& other) {
      ADD_FAILURE() << other.what();
    }
    EXPECT_FALSE(go_on);
  }
  go_on = true;
  EXPECT_EQ(offload::sync(1, fn<&echo>, 2), 2);
  EXPECT_EQ(replayed(4).get(), 4);
}

TEST(supervise, a_process_is_started_while_the_host_computes) {
  runtime rt(nodes("shm:1"));
  std::atomic<bool> rebuilt{false};
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) { rebuilt = true; };
  offload::supervise(1, how);
  const pid_t before = offload::sync(1, fn<&my_pid>);
  ::kill(before, SIGKILL);
  EXPECT_TRUE(eventually([&] { return rebuilt.load(); }));
  EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
}

TEST(supervise, one_that_dies_while_it_is_rebuilt_is_replaced) {
  runtime rt(nodes("shm:1"));
  std::atomic<int> tries{0};
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned& fresh) {
    if (++tries == 1) offload::sync(offload::retry(fresh.node, 3), idempotent(fn<&crash>));
  };
  offload::supervise(1, how);
  kill_node(1);
  EXPECT_EQ(offload::sync(1, fn<&echo>, 4), 4);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(offload::process_of(1), 3);
}

void begin_and_sleep(buffer_ptr<int> begun) {
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  sleep_ms(60'000);
}

/// What prepares it sees that as the loss of the process, and is waited for.
TEST(supervise, the_job_may_end_while_a_process_is_prepared) {
  std::atomic<bool> prepares{false};
  const int zero = 0;
  std::string why;
  {
    runtime rt(nodes("shm:1"));
    offload::supervision how;
    how.on_respawn = [&](const offload::respawned& fresh) {
      const offload::buffer<int> begun(fresh.node, 1);
      offload::put_sync(&zero, begun.ptr(), 1);
      auto call = offload::async(fresh.node, fn<&begin_and_sleep>, begun.ptr());
      for (int word = 0; word == 0;) offload::get_sync(begun.ptr(), &word, 1);
      prepares = true;
      why = message_of<node_failure>([&] { call.get(); });
    };
    offload::supervise(1, how);
    kill_node(1);
    EXPECT_TRUE(eventually([&] { return prepares.load(); }));
  }
  EXPECT_NE(why.find("this node's runtime has ended"), std::string::npos) << why;
}

TEST(supervise, other_targets_find_it_as_well) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  const pid_t before = offload::sync(2, fn<&pid_through>, 1);
  kill_node(1);
  const pid_t after = offload::sync(2, fn<&pid_through>, 1);
  EXPECT_NE(before, after);
  EXPECT_EQ(after, offload::sync(1, fn<&my_pid>));
  kill_node(1);  // now the other target calls first, and waits for the host's word
  EXPECT_NE(offload::sync(2, fn<&pid_through>, 1), after);
}

TEST(supervise, calls_that_wait_have_deadlines) {
  runtime rt(nodes("shm:1"));
  std::atomic<bool> go{false};
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  offload::supervise(1, how);
  kill_node(1);
  try {
    offload::sync(offload::within(1, 100ms), fn<&echo>, 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const deadline_exceeded& late) {
    EXPECT_EQ(late.outcome(), call_outcome::not_run);
  }
  EXPECT_THROW((offload::buffer<int>(offload::within(1, 20ms), 1)), deadline_exceeded);
  EXPECT_FALSE(offload::alive(1));
  go = true;
  EXPECT_EQ(offload::sync(1, fn<&echo>, 2), 2);
}

TEST(supervise, crash_loops_stop_with_the_reasons) {
  runtime rt(nodes("shm:2"));
  std::vector<event> seen;
  offload::on_event([&](const event& what) { seen.push_back(what); });
  offload::supervise(1, {.max_restarts = 2, .within = 1min});
  for (int i = 0; i < 2; ++i) {
    kill_node(1);
    offload::sync(1, fn<&echo>, i);
  }
  testing::internal::CaptureStderr();
  kill_node(1);
  const std::string said = message_of<node_failure>([] { offload::sync(1, fn<&echo>, 1); });
  EXPECT_NE(said.find("given up"), std::string::npos) << said;
  EXPECT_NE(said.find("3. its process was killed by signal 9"), std::string::npos) << said;
  static_cast<void>(testing::internal::GetCapturedStderr());
  EXPECT_EQ(offload::sync(2, fn<&echo>, 1), 1);
  int respawned = 0, given_up = 0;
  for (const event& one : seen) {
    respawned += one.kind == event_kind::respawned && one.node == 1 ? 1 : 0;
    given_up += one.kind == event_kind::given_up && one.node == 1 ? 1 : 0;
  }
  EXPECT_EQ(respawned, 2);
  EXPECT_EQ(given_up, 1);
  offload::supervise(1);  // the program has found out, and mended it
  EXPECT_EQ(offload::sync(1, fn<&echo>, 7), 7);
}

TEST(supervise, a_removal_while_it_is_prepared_says_so_to_who_waits) {
  std::atomic<bool> prepares{false}, removed{false};
  runtime rt(nodes("shm:1"));
  offload::supervision how;
  how.on_respawn = [&](const offload::respawned&) {
    prepares = true;
    EXPECT_TRUE(eventually([&] { return removed.load(); }));
  };
  offload::supervise(1, how);
  kill_node(1);
  EXPECT_TRUE(eventually([&] { return prepares.load(); }));
  std::string said;
  std::thread waiting([&] { said = message_of<node_failure>([] { offload::sync(1, fn<&echo>, 1); }); });
  std::this_thread::sleep_for(20ms);
  offload::remove_node(1);
  waiting.join();
  removed = true;
  EXPECT_NE(said.find("was removed from the job"), std::string::npos) << said;
}

TEST(supervise, a_removed_node_stays_away) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  kill_node(1);
  offload::sync(1, fn<&echo>, 1);
  offload::remove_node(1);
  const std::string said = message_of<node_failure>([] { offload::sync(1, fn<&echo>, 1); });
  EXPECT_NE(said.find("it was removed from the job"), std::string::npos) << said;
  EXPECT_FALSE(offload::alive(1));
  EXPECT_EQ(offload::targets(), std::vector<node_t>{2});
}

TEST(supervise, in_the_list_of_nodes) {
  runtime rt(nodes("shm:2+restart,shm:1"));
  for (const node_t node : {1, 2}) {
    kill_node(node);
    EXPECT_EQ(offload::sync(node, fn<&echo>, node), node);
  }
  kill_node(3);
  EXPECT_THROW(offload::sync(3, fn<&echo>, 1), node_failure);
  const node_t added = offload::add_node("shm:1+restart");
  kill_node(added);
  EXPECT_EQ(offload::sync(added, fn<&echo>, 5), 5);
}

TEST(supervise, a_target_behind_tcp_is_invited_again) {
  const scratch_key key('c');
  server waiting(key.path());
  runtime_options how = nodes("tcp://" + waiting.address() + ",shm:1");
  how.key = key.path();
  runtime rt(how);
  offload::supervise(1);
  for (int i = 0; i < 2; ++i) {
    const pid_t before = offload::sync(1, fn<&my_pid>);
    kill_node(1);
    EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
    EXPECT_NE(offload::sync(2, fn<&pid_through>, 1), before);
  }
}

/// Of the host, of the one that is started again and has been called by the others, and of two that stay: one of them
/// has a connection with it, the other one learns of its deaths only.
constexpr node_t nodes_of_the_job[] = {0, 1, 2, 3};

/// Prints how long it takes from the kill to the answer of the next call.
TEST(supervise, restarts_leave_nothing_behind) {
  const std::set<pid_t> children_before = children();  // those of tests before may still end
  const auto new_children = [&] {
    const std::set<pid_t> now = children();
    return std::ranges::count_if(now, [&](pid_t one) { return !children_before.contains(one); });
  };
  std::vector<double> times_ms;
  {
    runtime rt(nodes("shm:3"));
    offload::supervise(1, {.max_restarts = 1000});
    const int warm_up = 20;  // as many processes of a number as a node remembers
    const int count = rounds(40) + warm_up;
    std::vector<holdings> before;
    for (int i = 0; i < count; ++i) {
      const offload::buffer<double> memory(1, 1000);
      EXPECT_EQ(offload::sync(2, fn<&pid_through>, 1), offload::sync(1, fn<&my_pid>));
      if (i == warm_up) {
        for (const node_t node : nodes_of_the_job) before.push_back(settled(node));
      }
      const auto begin = std::chrono::steady_clock::now();
      kill_node(1);
      offload::sync(1, fn<&echo>, i);
      times_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    const offload::buffer<double> memory(1, 1000);
    EXPECT_EQ(offload::sync(2, fn<&pid_through>, 1), offload::sync(1, fn<&my_pid>));
    for (const node_t node : nodes_of_the_job) expect_flat(node, before[static_cast<std::size_t>(node)]);
    EXPECT_EQ(new_children(), 3);
  }
  EXPECT_TRUE(eventually([&] { return new_children() == 0; }));
  const std::size_t count = times_ms.size();
  std::printf("from kill to answer: median %.1f ms, p99 %.1f ms, of %zu\n", quantile(times_ms, 0.5),
              quantile(times_ms, 0.99), count);
}

TEST(supervise, what_cannot_be_started_again_is_refused) {
  {
    runtime rt(nodes("shm:1"));
    EXPECT_THROW(offload::supervise(0), config_error);
    EXPECT_THROW(offload::supervise(5), config_error);
  }
  runtime threads(nodes("loopback:1"));
  EXPECT_THROW(offload::supervise(1), config_error);
}

TEST(supervise, the_job_may_end_while_a_node_is_started) {
  for (int i = 0; i < rounds(5); ++i) {
    runtime rt(nodes("shm:2+restart"));
    kill_node(1 + i % 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * i));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
