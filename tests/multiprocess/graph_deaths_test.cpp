// A thousand deaths of the targets of recorded graphs, in every stage of a chain, of branches and of a repeat: each
// replay settles once, and the same graph works when the process was started again.
// HAM_TEST_ROUNDS: so many deaths instead.
// link: ham::ham
// env: HAM_LOG=error
// timeout: 300
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ham/offload/graph.hpp>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// Which stages end their process, as bits; of a repeat, in which turn.
struct victims {
  unsigned stages;
  int turn;
};
constexpr victims nobody{0, 0};

void die_if(const victims& who, unsigned stage, int turn = 0) {
  if ((who.stages >> stage & 1U) != 0 && who.turn == turn) ::raise(SIGKILL);
}
int pass_or_die(int value, unsigned stage, victims who) {
  die_if(who, stage);
  return value + 1;
}
int join_or_die(int left, int right, unsigned stage, victims who) {
  die_if(who, stage);
  return left + right;
}

/// What goes from turn to turn.
struct turns {
  int done;
  int value;
  victims who;
};
constexpr int last_turn = 4;
turns first_turn(int value, victims who) { return {0, value, who}; }
turns half_or_die(turns now, unsigned stage) {
  die_if(now.who, stage, now.done);
  return {now.done, now.value + 1, now.who};
}
turns other_half_or_die(turns now, unsigned stage) {
  die_if(now.who, stage, now.done);
  return {now.done + 1, now.value + 1, now.who};
}
bool was_last_turn(turns now) {
  die_if(now.who, 2, now.done);
  return now.done >= last_turn;
}
int value_of(turns now) { return now.value; }

using replay = offload::compiled_graph<int, int, victims>;

replay make_chain() {
  offload::graph g;
  auto in = g.input<int>();
  auto who = g.input<victims>();
  auto at = g.call(1, fn<&pass_or_die>, in, 0U, who);
  for (unsigned stage = 1; stage < 4; ++stage)
    at = g.call(static_cast<node_t>(1 + stage % 2), fn<&pass_or_die>, at, stage, who);
  return g.compile(at, in, who);
}

replay make_branches() {
  offload::graph g;
  auto in = g.input<int>();
  auto who = g.input<victims>();
  auto fork = g.call(2, fn<&pass_or_die>, in, 0U, who);
  auto left = g.call(1, fn<&pass_or_die>, fork, 1U, who);
  auto right = g.call(2, fn<&pass_or_die>, fork, 2U, who);
  return g.compile(g.call(1, fn<&join_or_die>, left, right, 3U, who), in, who);
}

replay make_repeat() {
  offload::graph g;
  auto in = g.input<int>();
  auto who = g.input<victims>();
  auto last = g.repeat(
      g.call(1, fn<&first_turn>, in, who),
      [&](offload::graph_value<turns> now) {
        return g.call(2, fn<&other_half_or_die>, g.call(1, fn<&half_or_die>, now, 0U), 1U);
      },
      fn<&was_last_turn>);
  return g.compile(g.call(1, fn<&value_of>, last), in, who);
}

struct shape {
  const char* name;
  replay graph;
  std::function<int(int)> expected;
  std::vector<victims> deaths;  ///< one after the other
};

/// The stage `until` of the repeat asks behind a turn: it counts that one.
std::vector<shape> all_shapes() {
  std::vector<shape> result;
  result.push_back({"chain", make_chain(), [](int x) { return x + 4; }, {{1, 0}, {2, 0}, {4, 0}, {8, 0}}});
  result.push_back({"branches",
                    make_branches(),
                    [](int x) { return 2 * (x + 2); },
                    {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {2 | 4, 0}}});  // the last one: both nodes at once
  result.push_back({"repeat",
                    make_repeat(),
                    [](int x) { return x + 2 * last_turn; },
                    {{1, 0}, {2, 0}, {4, 1}, {1, 2}, {2, 2}, {4, 3}, {1, 3}, {2, 3}, {4, 4}}});
  return result;
}

/// Counts how often each replay settles.
class settlements {
 public:
  void watch(offload::future<int>& one) {
    one.on_ready([times = times_.emplace_back(std::make_shared<std::atomic<int>>(0))] { ++*times; });
  }
  /// Whether all have settled once by now.
  [[nodiscard]] bool one_each() const {
    return std::ranges::all_of(times_, [](const auto& times) { return *times == 1; });
  }

 private:
  std::vector<std::shared_ptr<std::atomic<int>>> times_;
};

class graph_deaths : public testing::Test {
 protected:
  graph_deaths() : job_(nodes("shm:2")) {
    offload::supervision how{.max_restarts = 1'000'000, .within = 1min, .on_respawn = {}};
    how.on_respawn = [this](const offload::respawned&) { ++deaths_; };
    for (const node_t node : {1, 2}) offload::supervise(node, how);
  }

  /// Whether the replay gives the value; else a node of it was lost. All else fails the test.
  static bool ends_well(offload::future<int> one, int value) {
    try {
      EXPECT_EQ(one.get(), value);
      return true;
    } catch (const node_failure& loss) {
      EXPECT_TRUE(loss.node() >= 1) << loss.what();
      return false;
    }
  }

  /// A replay that dies; before it one that may end in time.
  void kill(shape& one, victims who) {
    auto before = one.graph(5, nobody);
    auto doomed = one.graph(6, who);
    settled_.watch(before);
    settled_.watch(doomed);
    static_cast<void>(ends_well(std::move(before), one.expected(5)));
    EXPECT_FALSE(ends_well(std::move(doomed), one.expected(6)))
        << one.name << ", stages " << who.stages << " in turn " << who.turn;
  }
  /// The graph works again: the next replay waits for the new process. Where two have died, the second death may be
  /// noticed only then.
  void use_again(shape& one, victims who) {
    const bool two_deaths = (who.stages & (who.stages - 1)) != 0;
    for (int tries = two_deaths ? 100 : 1; tries > 0; --tries) {
      auto again = one.graph(7, nobody);
      settled_.watch(again);
      if (ends_well(std::move(again), one.expected(7))) return;
    }
    ADD_FAILURE() << one.name << " is not usable behind a death in stages " << who.stages << " in turn " << who.turn;
  }
  /// Continuations run when a thread makes progress.
  void expect_one_settlement_each() {
    EXPECT_TRUE(eventually([this] {
      offload::progress();
      return settled_.one_each();
    }));
  }

  std::atomic<int> deaths_{0};  ///< of processes that were replaced
  settlements settled_;

 private:
  runtime job_;
};

TEST_F(graph_deaths, in_every_stage_settle_each_replay_once_and_leave_the_graph_usable) {
  const int wanted = rounds(sanitized() ? 40 : 1000);
  std::vector<shape> shapes = all_shapes();
  for (std::size_t round = 0; deaths_ < wanted && !HasFailure(); ++round) {
    shape& one = shapes[round % shapes.size()];
    const victims who = one.deaths[round / shapes.size() % one.deaths.size()];
    kill(one, who);
    use_again(one, who);
  }
  expect_one_settlement_each();
  for (const shape& one : shapes) EXPECT_EQ(one.graph.in_flight(), 0U) << one.name;
  EXPECT_GE(deaths_, wanted);
}

/// So many processes are replaced as stages end theirs, and no others.
TEST_F(graph_deaths, end_the_processes_of_their_stages_only) {
  std::vector<shape> shapes = all_shapes();
  for (shape& one : shapes) {
    for (const victims who : one.deaths) {
      if ((who.stages & (who.stages - 1)) != 0) continue;  // of two nodes one may be lost before its stage begins
      const int before = deaths_;
      kill(one, who);
      use_again(one, who);
      EXPECT_EQ(deaths_, before + 1) << one.name << ", stages " << who.stages << " in turn " << who.turn;
    }
  }
  expect_one_settlement_each();
}

int first_of(offload::buffer_ptr<int> where) { return *where; }
void die() { ::raise(SIGKILL); }

/// The next process would take the address for one of its own.
TEST_F(graph_deaths, make_errors_of_recorded_memory) {
  const auto old = offload::allocate<int>(1, 1);
  const int three = 3;
  offload::put(&three, old, 1).get();
  offload::graph g;
  auto recorded = g.compile(g.call(1, fn<&first_of>, old));
  offload::graph other;
  auto on_another_node = other.compile(other.call(2, fn<&first_of>, old));
  offload::graph of_input;
  auto given = of_input.compile(of_input.call(1, fn<&first_of>, of_input.input<offload::buffer_ptr<int>>()));
  EXPECT_EQ(recorded().get(), 3);
  EXPECT_THROW(offload::sync(1, fn<&die>), node_failure);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(static_cast<void>(recorded()), buffer_error);
    EXPECT_THROW(static_cast<void>(on_another_node()), buffer_error);
  }
  const auto fresh = offload::allocate<int>(1, 1);
  offload::put(&three, fresh, 1).get();
  EXPECT_EQ(given(fresh).get(), 3);
  EXPECT_EQ(recorded.in_flight(), 0U);
  EXPECT_EQ(deaths_, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
