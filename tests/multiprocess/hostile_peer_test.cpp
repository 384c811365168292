// A target that was taken over, among others that were not: it writes into everything that it shares with them. Host
// and other targets go on, at most slower.
// link: ham::ham
// timeout: 600
#include <cstdlib>
#include <future>
#include <optional>

#include <ham/offload/counters.hpp>
#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>

#include "multiprocess/hostile_attacker.hpp"
#include "multiprocess/support.hpp"
#include "stall_meter.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// HAM_TEST_HOSTILE_SECONDS asks for a run of that length which has the machine for itself.
const bool runs_alone = std::getenv("HAM_TEST_HOSTILE_SECONDS") != nullptr;

/// Beyond that a call to an honest node hangs. The attacker keeps the cores busy, and so do other tests.
const std::chrono::milliseconds bar = runs_alone ? 3s : 10s;
const std::chrono::milliseconds start_or_end_bar =
    runs_alone ? 3s : 15s;                           // of a process, which waits for cores as well
constexpr std::chrono::milliseconds given_up = 30s;  // by the test
constexpr std::size_t shared_numbers = 40'000;       // in a buffer of the node that is taken over

// ---- what honest targets do

int add_one(int x) { return x + 1; }
std::vector<std::uint32_t> twice(std::vector<std::uint32_t> of) {
  for (std::uint32_t& one : of) one *= 2;
  return of;
}
int ask(node_t other, int x) { return offload::sync(other, fn<&add_one>, x) + 1; }
pid_t my_pid() { return ::getpid(); }
/// In a context: which call this is.
int count_up(int number) {
  static std::atomic<int> calls{0};
  const int before = calls.exchange(number);
  return before + 1 == number || number == 1 ? number : -1;
}
int until_stopped() {
  while (!this_call::stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
  return 7;
}
void work_for_ever() {
  for (;;) ::pause();
}
void print_a_line() { std::printf("honest target %d goes on\n", offload::this_node()); }

// ---- what a target does that was taken over

/// From now on, beside what its runtime does, or `alone`: its runtime does not go on.
void take_over(std::uint64_t seed, bool alone) {
  const auto attack = [seed] {
    const auto self = static_cast<std::uint32_t>(offload::this_node());
    const std::vector<std::uint32_t> victims{0,    1,        2,        3,
                                             self, self + 1, self + 2, self + 3};  // and those that come next
    std::optional<attacker> worst(std::in_place, seed);
    worst->aim_at(victims);
    for (int i = 0;; ++i) {
      worst->act();
      if (i % 8 == 0) std::this_thread::sleep_for(2ms);  // others need the cores of this machine, too
      if (i % 64 != 63) continue;
      worst.emplace(seed + static_cast<std::uint64_t>(i));  // there may be more to be found
      worst->aim_at(victims);
    }
  };
  const base::unique_fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nowhere.get(), STDERR_FILENO);  // nobody cares for its death
  if (alone) attack();
  std::thread(attack).detach();
}
/// One move of it, so many times.
void do_one_move(int which, int times) {
  attacker one(1);
  for (int i = 0; i < times; ++i) {
    switch (which) {
      case 0: one.forge_death_of(0); break;
      case 1: one.forge_death_of(1); break;
      case 2: one.jam_events(); break;
      case 3: one.drain_events(); break;
      case 4: one.silence_bells(); break;
      case 5: one.grow_files(); break;
      case 6: one.send_descriptors(); break;
      case 7: one.trap_who_wakes(); break;
      default: one.keep_output_lock(); break;
    }
  }
}
attacker::findings look_around() { return attacker(1).found(); }
void silence_for_ever() {
  std::thread([] {
    attacker one(1);
    for (;;) one.silence_bells();
  }).detach();
}

// ---- the honest host

int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

class hostile_peer : public testing::Test {
 protected:
  hostile_peer() : job_(nodes("shm:2")) {}

  static bool verbose() { return std::getenv("HAM_TEST_VERBOSE") != nullptr; }
  static void say_how_it_went(node_t node) {
    try {
      std::printf("node %d: %d\n", node, offload::async(offload::within(node, 1ms), fn<&add_one>, 1).get());
    } catch (const std::exception& problem) {
      std::printf("node %d: %s\n", node, problem.what());
    }
  }
  [[nodiscard]] static node_t add_target() { return offload::add_node("shm:1"); }
  /// The result of a call that is due within the bar.
  template <class Call>
  auto in_time(const char* what, Call call) {
    const moment began = now();
    auto result = call();
    const bool came = result.wait_for(given_up);
    EXPECT_TRUE(came) << what << " hangs";
    expect_short(what, began);
    if (!came) std::_Exit(1);  // its future would wait in its destructor
    return result.get();
  }
  /// A call that blocks, and ends by itself.
  template <class Call>
  void blocks_in_time(const char* what, Call call, std::chrono::milliseconds limit = bar) {
    const moment began = now();
    call();
    expect_short(what, began, limit);
  }
  /// The clock, and how much of it the machine kept.
  struct moment {
    std::chrono::steady_clock::time_point at;
    std::chrono::milliseconds stalled{0};
  };
  [[nodiscard]] moment now() const { return {std::chrono::steady_clock::now(), stalls_.so_far()}; }
  [[nodiscard]] std::chrono::milliseconds passed_since(const moment& began) const {
    const moment ended = now();
    return std::chrono::duration_cast<std::chrono::milliseconds>(ended.at - began.at) - (ended.stalled - began.stalled);
  }
  void expect_short(const char* what, const moment& began, std::chrono::milliseconds limit = bar) {
    const std::chrono::milliseconds took = passed_since(began);
    if (took > longest_) {
      longest_ = took;
      slowest_ = what;
    }
    EXPECT_LT(took, limit) << what;
  }
  using chain = offload::compiled_graph<int, int>;
  /// From one honest target to the other and back.
  [[nodiscard]] static chain record() {
    offload::graph recorded;
    const auto in = recorded.input<int>();
    const auto there = recorded.call(1, fn<&add_one>, in);
    const auto back = recorded.call(1, fn<&add_one>, recorded.call(2, fn<&add_one>, there));
    return recorded.compile(back, {.in_flight = 4}, in);
  }
  /// Groups, contexts and recorded graphs of the two honest targets: those that were made before the attack, and new
  /// ones.
  void expect_groups_contexts_and_graphs_go_on(int round) {
    try {
      const std::vector<int> both{round + 1, round + 1};
      EXPECT_EQ(in_time("a call of a group", [&] { return offload::async_all(all_, fn<&add_one>, round); }).values(),
                both);
      EXPECT_EQ(in_time("a reduction", [&] { return offload::reduce_all(all_, fn<&add_one>, std::plus<>(), round); }),
                2 * (round + 1));
      in_time("a barrier", [&] { return offload::barrier(all_); }).values();
      for (offload::context& one : contexts_) expect_order(one);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(in_time("a replay", [&] { return graph_(round + i); }), round + i + 3);
      if (round % 8 != 0) return;
      std::optional<offload::context> fresh;
      blocks_in_time("opening a context", [&] { fresh.emplace(offload::within(1 + round / 8 % 2, given_up)); });
      EXPECT_EQ(in_time("a call in a new context", [&] { return offload::async(*fresh, fn<&add_one>, round); }),
                round + 1);
      blocks_in_time("closing a context", [&] { fresh->close(given_up); });
      std::optional<chain> again;
      blocks_in_time("compiling a graph", [&] { again.emplace(record()); });
      EXPECT_EQ(in_time("the first replay", [&] { return (*again)(round); }), round + 3);
      blocks_in_time("the end of a graph", [&] { again.reset(); });
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "round " << round << ": " << problem.what();
    }
  }
  /// Calls of one context run in order, each once.
  void expect_order(offload::context& in) {
    std::vector<offload::future<int>> calls;
    for (int i = 1; i <= 8; ++i) calls.push_back(offload::async(in, fn<&count_up>, i));
    int number = 0;
    for (auto& one : calls) EXPECT_EQ(in_time("a call in a context", [&] { return std::move(one); }), ++number);
  }
  /// An honest target comes and goes. It may be kept from joining, but soon says so; when it is there it can be called.
  void expect_nodes_come_and_go(int round) {
    node_t node = -1;
    const auto add = [&] {
      try {
        node = offload::add_node("shm:1", given_up);
      } catch (const std::exception& problem) {
        ++kept_out_;
        if (verbose()) std::printf("add_node: %s\n", problem.what());
      }
    };
    blocks_in_time("add_node", add, start_or_end_bar);
    if (node < 0) return;
    ++joined_;
    try {
      EXPECT_EQ(in_time("a call to a new target", [&] { return offload::async(node, fn<&add_one>, round); }),
                round + 1);
      EXPECT_EQ(in_time("from a target to a new one", [&] { return offload::async(1, fn<&ask>, node, round); }),
                round + 2);
      blocks_in_time(
          "remove_node", [&] { offload::remove_node(node, given_up); }, start_or_end_bar);
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "round " << round << ", new node " << node << ": " << problem.what();
    }
  }
  /// Calls that are stopped, and a supervised node whose process is killed in a call. It may be kept from starting
  /// again for a while, but what waits for it ends.
  void expect_stops_kills_and_restarts_go_on(node_t supervised, int round) {
    try {
      auto stopped = offload::async(offload::stoppable(1 + round % 2), fn<&until_stopped>);
      stopped.request_stop();
      try {
        EXPECT_EQ(in_time("a call that is stopped", [&] { return std::move(stopped); }), 7);
      } catch (const operation_cancelled&) {
      }
      kill_in_call(supervised);
      if (is_back(supervised, round)) ++came_back_;
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "round " << round << ": " << problem.what();
    }
  }
  void kill_in_call(node_t supervised) {
    try {
      auto busy = offload::async(offload::within(supervised, given_up), fn<&work_for_ever>);
      while (!busy.wait_for(5ms)) {
        if (offload::kill_call(busy)) break;  // else it waits for a process that starts
      }
      in_time("a call whose process is killed", [&] { return std::move(busy); });
      ADD_FAILURE() << "a call that never ends has ended";
    } catch (const node_failure&) {
      ++killed_;
    } catch (const deadline_exceeded&) {  // no process could take the place of the one before
    }
  }
  [[nodiscard]] static bool is_back(node_t supervised, int round) {
    try {
      auto result =
          offload::async(offload::retry(offload::within(supervised, given_up), 100), idempotent(fn<&add_one>), round);
      return result.get() == round + 1;
    } catch (const node_failure&) {  // the processes that should have taken its place were kept from it
    } catch (const deadline_exceeded&) {
    }
    return false;
  }
  /// What tools see of a job that has a node with counters of its own making.
  void expect_counters_can_be_read() {
    std::vector<job_counters> jobs;
    try {
      blocks_in_time("reading the counters", [&] { jobs = read_counters(::getpid()); });
    } catch (const std::exception& problem) {
      ADD_FAILURE() << "reading the counters: " << problem.what();
    }
    EXPECT_TRUE(std::any_of(jobs.begin(), jobs.end(), [](const job_counters& job) {
      return job.pid == ::getpid() && job.nodes.size() >= 3 && job.nodes.front().pid == ::getpid();
    }));
  }
  /// All kinds of traffic between the host and the two honest targets.
  void expect_honest_nodes_go_on(int round) {
    for (const node_t node : {1, 2}) {
      const node_t other = 3 - node;
      try {
        EXPECT_EQ(in_time("a call", [&] { return offload::async(node, fn<&add_one>, round); }), round + 1);
        std::vector<std::uint32_t> numbers(static_cast<std::size_t>(1 + round * 7919 % 60'000), 21);
        const auto doubled = in_time("a long call", [&] { return offload::async(node, fn<&twice>, numbers); });
        EXPECT_EQ(doubled, std::vector<std::uint32_t>(numbers.size(), 42));
        EXPECT_EQ(in_time("a call between targets", [&] { return offload::async(node, fn<&ask>, other, round); }),
                  round + 2);
        // What a hostile node has asked for a connection with, it can write to: the bytes are not looked at.
        const auto there = offload::allocate<std::uint32_t>(node, numbers.size());
        const moment began = now();
        try {
          offload::put_sync(numbers.data(), there, numbers.size());
          offload::get_sync(there, numbers.data(), numbers.size());
        } catch (const buffer_error&) {  // it has damaged what peers see of the allocation
        }
        expect_short("put and get", began);
        offload::free(there);
      } catch (const std::exception& problem) {
        ADD_FAILURE() << "round " << round << ", node " << node << ": " << problem.what();
      }
    }
  }
  /// What the host does with a node that was taken over: all of it may fail, but it ends, and writes where it should.
  void deal_with(node_t node, offload::buffer_ptr<std::uint32_t> there, int round) {
    attempt("a call to the hostile node",
            [&] { static_cast<void>(offload::async(offload::within(node, 300ms), fn<&add_one>, round).get()); });
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(1 + round * 7919 % 60'000), 21);
    attempt("a long call to the hostile node",
            [&] { static_cast<void>(offload::async(offload::within(node, 300ms), fn<&twice>, numbers).get()); });
    constexpr std::size_t guard = 1024;
    constexpr std::uint32_t untouched = 0x5a5a5a5a;
    std::vector<std::uint32_t> local(guard + shared_numbers + guard, untouched);
    const std::span<std::uint32_t> middle(local.data() + guard, shared_numbers);
    attempt("put to the hostile node",
            [&] { offload::put(offload::within(node, 300ms), middle.data(), there, middle.size()).get(); });
    attempt("get from the hostile node",
            [&] { offload::get(offload::within(node, 300ms), there, middle.data(), middle.size()).get(); });
    attempt("copy within the hostile node",
            [&] { offload::copy(offload::within(node, 300ms), there, there + guard, shared_numbers - guard).get(); });
    for (const std::span<const std::uint32_t> around : {std::span(local).first(guard), std::span(local).last(guard)})
      EXPECT_EQ(std::count(around.begin(), around.end(), untouched), static_cast<std::ptrdiff_t>(guard));
  }
  template <class What>
  void attempt(const char* name, What what, std::chrono::milliseconds at_most = bar) {
    const moment began = now();
    try {
      what();
    } catch (const error&) {
    } catch (const std::exception& problem) {
      ADD_FAILURE() << name << ": " << problem.what();
    }
    EXPECT_LT(passed_since(began), at_most) << name;
  }
  void expect_both_alive() {
    for (const node_t node : {1, 2}) EXPECT_TRUE(offload::alive(node)) << node;
  }

  stall_meter stalls_;
  runtime job_;
  offload::group all_{{1, 2}};
  std::array<offload::context, 2> contexts_{offload::context(1), offload::context(2)};
  chain graph_ = record();
  std::chrono::milliseconds longest_{0};
  const char* slowest_ = "";
  int joined_ = 0;
  int kept_out_ = 0;
  int killed_ = 0;
  int came_back_ = 0;
};

}  // namespace

// ---- what it has to do its worst with

TEST_F(hostile_peer, finds_what_it_shares) {
  const node_t hostile = add_target();
  const attacker::findings alone = offload::sync(hostile, fn<&look_around>);
  for (const node_t peer : {1, 2}) offload::sync(hostile, fn<&ask>, peer, 1);  // it shares with them from now on
  const attacker::findings found = offload::sync(hostile, fn<&look_around>);
  EXPECT_EQ(alone.jobs, 1U);
  EXPECT_EQ(found.jobs, 1U);
  EXPECT_EQ(alone.pairs, 1U) << "with the host";
  EXPECT_EQ(found.pairs, 3U);
  EXPECT_EQ(found.areas, 2 * found.pairs) << "of both directions";
  EXPECT_GE(found.heaps, 1U);
  EXPECT_GE(found.recorders, 4U) << "of the host and three targets";
  EXPECT_EQ(found.counters, 1U) << "its own, which others read";
  EXPECT_EQ(found.others, 0U) << "memory that the attacker leaves alone, because it knows nothing of it";
  EXPECT_GE(found.files, found.jobs + found.pairs + found.heaps);
  EXPECT_GE(alone.events, 2U) << "its own and the host's";
  EXPECT_EQ(found.events, alone.events + 2) << "those of its peers";
  EXPECT_EQ(found.controls, 1U);
}

// ---- one attack each, which once succeeded

TEST_F(hostile_peer, cannot_end_the_job_in_the_name_of_the_host) {
  offload::sync(add_target(), fn<&do_one_move>, 0, 1);
  std::this_thread::sleep_for(100ms);
  expect_honest_nodes_go_on(1);
  expect_both_alive();
}

TEST_F(hostile_peer, cannot_declare_another_target_dead) {
  expect_honest_nodes_go_on(1);  // they know each other from now on
  const node_t hostile = add_target();
  auto running = offload::async(1, [] { std::this_thread::sleep_for(300ms); });
  offload::sync(hostile, fn<&do_one_move>, 1, 1);
  EXPECT_NO_THROW(running.get());
  expect_honest_nodes_go_on(2);
  expect_both_alive();
  // And a death is noticed although its word is damaged.
  const pid_t victim = offload::sync(1, fn<&my_pid>);
  ::kill(victim, SIGKILL);
  EXPECT_TRUE(eventually([] { return !offload::alive(1); }, 10s));
  EXPECT_TRUE(eventually([] { return !offload::sync(2, [] { return offload::alive(1); }); }, 10s))
      << "seen by its peer";
}

TEST_F(hostile_peer, cannot_block_who_wakes_or_sleeps) {
  expect_honest_nodes_go_on(1);
  const node_t hostile = add_target();
  for (const node_t peer : {1, 2}) offload::sync(hostile, fn<&ask>, peer, 1);  // it has their events now
  offload::sync(hostile, fn<&do_one_move>, 2, 1);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);  // all sleep
    expect_honest_nodes_go_on(i);
  }
  EXPECT_EQ(in_time("a call to it", [&] { return offload::async(hostile, fn<&add_one>, 1); }), 2);
  auto trap = offload::async(hostile, fn<&do_one_move>, 7, 1);
  std::this_thread::sleep_for(100ms);
  auto caller = std::async(std::launch::async, [hostile, &trap] {  // wakes it
    try {
      static_cast<void>(offload::async(offload::within(hostile, 500ms), fn<&add_one>, 1).get());
      EXPECT_TRUE(trap.test()) << "nothing was in its way";
    } catch (const deadline_exceeded&) {
    }
  });
  if (caller.wait_for(bar) != std::future_status::ready) {
    ADD_FAILURE() << "who wakes it hangs";
    std::_Exit(1);
  }
  for (int i = 0; i < 5; ++i) expect_honest_nodes_go_on(i);
  trap.get();
  offload::sync(hostile, fn<&do_one_move>, 3, 1);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);
    expect_honest_nodes_go_on(i);
  }
}

TEST_F(hostile_peer, cannot_silence_bells_for_long) {
  const node_t hostile = add_target();
  for (const node_t peer : {1, 2}) offload::sync(hostile, fn<&ask>, peer, 1);
  offload::sync(hostile, fn<&silence_for_ever>);
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(50ms);
    expect_honest_nodes_go_on(i);
  }
}

TEST_F(hostile_peer, cannot_keep_others_from_allocating) {
  const node_t hostile = add_target();
  for (const node_t peer : {1, 2}) offload::sync(hostile, fn<&ask>, peer, 1);
  offload::sync(hostile, fn<&do_one_move>, 5, 1);
  for (const node_t node : {0, 1, 2}) {
    const auto much = offload::allocate<char>(node, std::size_t{100} << 20);
    offload::free(much);
  }
  expect_honest_nodes_go_on(1);
}

TEST_F(hostile_peer, that_sends_descriptors_is_expelled) {
  const node_t hostile = add_target();
  auto call = offload::async(hostile, fn<&do_one_move>, 6, 1);
  EXPECT_TRUE(eventually([&] { return !offload::alive(hostile); }));
  expect_honest_nodes_go_on(1);
  const auto began = std::chrono::steady_clock::now();
  const node_t next = add_target();  // by the thread that has read them
  EXPECT_EQ(in_time("a call to a fresh target", [&] { return offload::async(next, fn<&add_one>, 1); }), 2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  try {
    call.get();
  } catch (const node_failure& why) {
    EXPECT_NE(std::string(why.what()).find("descriptors"), std::string::npos) << why.what();
  }
}

TEST_F(hostile_peer, cannot_stop_the_output_of_others) {
  const node_t hostile = add_target();
  offload::sync(hostile, fn<&do_one_move>, 8, 1);
  for (int i = 0; i < 3; ++i)
    in_time("output", [] {
      return offload::async(1, [] {
        print_a_line();
        return 0;
      });
    });
}

// ---- all of them, chosen by a seed

/// HAM_TEST_HOSTILE_SECONDS: how long; HAM_TEST_SEED: a seed that was printed.
TEST_F(hostile_peer, may_do_what_it_likes) {
  const int seconds = setting("HAM_TEST_HOSTILE_SECONDS", sanitized() ? 4 : 8);
  auto seed =
      static_cast<std::uint64_t>(setting("HAM_TEST_SEED", static_cast<int>(std::random_device{}() & 0x7fffffffU)));
  std::printf("HAM_TEST_SEED=%llu HAM_TEST_HOSTILE_SECONDS=%d\n", static_cast<unsigned long long>(seed), seconds);
  expect_honest_nodes_go_on(0);
  expect_groups_contexts_and_graphs_go_on(0);
  const node_t supervised = add_target();
  offload::supervise(supervised, {.max_restarts = 10'000});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::atomic<int> attackers{0};
  std::atomic<int> failed_starts{0};
  std::atomic<int> dealings{0};
  std::thread hostile([&] {
    while (std::chrono::steady_clock::now() < until) {
      node_t node = -1;
      pid_t process = -1;
      offload::buffer_ptr<std::uint32_t> there;
      try {
        node = add_target();
        process = offload::sync(node, fn<&my_pid>);
        there = offload::allocate<std::uint32_t>(node, shared_numbers);
        for (const node_t peer : {1, 2}) offload::sync(node, fn<&ask>, peer, 1);  // it shares with them as well
        offload::ping(node, fn<&take_over>, seed++, attackers % 2 == 1);
        ++attackers;
      } catch (const std::exception&) {  // the one before it is still at work
        ++failed_starts;
      }
      // It goes on when the others have closed their connections to it.
      const auto at_most = std::min(until, std::chrono::steady_clock::now() + 1s);
      while (process > 0 && std::chrono::steady_clock::now() < at_most && ::kill(process, 0) == 0) {
        if (there.get() != nullptr) deal_with(node, there, ++dealings);
        std::this_thread::sleep_for(10ms);
      }
      if (node > 0 && verbose()) say_how_it_went(node);
      if (node > 0)
        attempt(
            "remove_node", [&] { offload::remove_node(node, 0ms); }, start_or_end_bar);
    }
  });
  int rounds = 0;
  while (std::chrono::steady_clock::now() < until && !HasFailure()) {
    expect_honest_nodes_go_on(++rounds);
    expect_groups_contexts_and_graphs_go_on(rounds);
    if (rounds % 16 == 1) expect_nodes_come_and_go(rounds);
    if (rounds % 16 == 5) expect_stops_kills_and_restarts_go_on(supervised, rounds);
    if (rounds % 16 == 9) expect_counters_can_be_read();
    if (rounds % 500 == 0)
      in_time("output", [] {
        return offload::async(1, [] {
          print_a_line();
          return 0;
        });
      });
  }
  hostile.join();
  expect_honest_nodes_go_on(++rounds);
  expect_groups_contexts_and_graphs_go_on(8 * rounds);
  expect_both_alive();
  EXPECT_GT(attackers, 0);
  EXPECT_GT(joined_ + kept_out_, 0);
  const auto a_target_can_join = [] {
    try {
      return offload::sync(add_target(), fn<&add_one>, 1) == 2;
    } catch (const std::exception&) {
      return false;
    }
  };
  EXPECT_TRUE(eventually(a_target_can_join, given_up)) << "behind the last attacker";
  EXPECT_TRUE(eventually([&] { return is_back(supervised, rounds); }, given_up)) << "behind the last attacker";
  const std::chrono::milliseconds stalled = stalls_.so_far();
  if (runs_alone) {
    EXPECT_LT(stalled, seconds * 1s / 4) << "for which the attackers, or the machine, left no core";
  }
  std::printf(
      "%d rounds of traffic, %d with those taken over, %d attackers, %d starts failed, %d honest targets came and "
      "went, %d were kept out, %d processes were killed, of which %d have a successor, the longest wait took %lld ms: "
      "%s; %lld ms of stalls in all\n",
      rounds, dealings.load(), attackers.load(), failed_starts.load(), joined_, kept_out_, killed_, came_back_,
      static_cast<long long>(longest_.count()), slowest_, static_cast<long long>(stalled.count()));
}

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
