// One part of a graph by itself: frames, replays that are given up, messages that come late.
#include "runtime/graph_part.hpp"

#include <map>

#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

namespace graph_part_test {

using namespace ham;
using namespace ham::test;
using namespace ham::offload::detail;

int half_of(int value) {
  if (value < 0) throw std::out_of_range("negative");
  return value / 2;
}

struct observed final : ham::detail::replay_observer {
  void on_result(std::uint32_t replay, std::span<const std::byte> value) noexcept override {
    msg::reader from(value);
    results[replay] = msg::decode<int>(from);
  }
  void on_failed(std::uint32_t replay, std::uint32_t stage, std::exception_ptr why) noexcept override {
    failures[replay] = stage;
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& thrown) {
      reason = thrown.what();
    }
  }
  void on_lost(node_t node, const std::string&) noexcept override { losses.push_back(node); }
  std::map<std::uint32_t, int> results;
  std::map<std::uint32_t, std::uint32_t> failures;
  std::vector<node_t> losses;
  std::string reason;  ///< of the last one
};

/// half_of(input) on this very node, with two frames.
class graph_part : public two_targets {
 protected:
  graph_part() {
    graph_recording graph;
    const auto in = record_input(graph, typeid(int));
    auto& function = call_of<std::decay_t<decltype(fn<&half_of>)>, int>::message::entry();
    stage = record_call(graph, 0, function, {{in, {}}});
    graph_plan plan = divide_graph(finish_recording(graph, stage, {}), 0, 2);
    plan.parts[0].stages[0].key = function.resolve();
    plan.parts[0].parts = {{0, 1}};
    part = std::make_shared<ham::detail::graph_part>(current(), 0, plan.parts[0], seen);
  }
  static std::vector<std::byte> input(int value) {
    std::vector<std::byte> bytes(8);
    msg::writer to(bytes.data(), bytes.size());
    to.number(std::uint32_t{4});
    msg::encode(to, value);
    return bytes;
  }

  std::uint32_t stage = 0;
  std::shared_ptr<observed> seen = std::make_shared<observed>();
  std::shared_ptr<ham::detail::graph_part> part;
};

TEST_F(graph_part, executes_what_is_started) {
  part->start(1, input(8));
  part->start(2, input(20));
  EXPECT_EQ(seen->results, (std::map<std::uint32_t, int>{{1, 4}, {2, 10}}));
}

TEST_F(graph_part, a_frame_serves_later_replays_and_drops_earlier_ones) {
  part->start(3, input(8));
  part->start(5, input(10));
  part->start(1, input(12));  // of the same frame, and long over
  EXPECT_EQ(seen->results, (std::map<std::uint32_t, int>{{3, 4}, {5, 5}}));
}

TEST_F(graph_part, numbers_wrap_around) {
  part->start(0xffffffff, input(8));
  part->start(1, input(10));
  EXPECT_EQ(seen->results.count(1), 1U);
}

TEST_F(graph_part, a_part_of_later_replays_takes_their_numbers) {
  part_plan later = part->of();
  later.before = 0x90000000;
  const auto with = std::make_shared<ham::detail::graph_part>(current(), 0, later, seen);
  with->start(0x90000001, input(8));
  with->start(0x90000002, input(20));
  EXPECT_EQ(seen->results, (std::map<std::uint32_t, int>{{0x90000001, 4}, {0x90000002, 10}}));
}

TEST_F(graph_part, a_start_that_comes_twice_runs_nothing_twice) {
  part->start(1, input(8));
  seen->results.clear();
  part->start(1, input(8));
  EXPECT_TRUE(seen->results.empty());
}

TEST_F(graph_part, a_replay_that_was_given_up_does_not_begin) {
  part->abort(1);
  part->start(1, input(8));
  EXPECT_TRUE(seen->results.empty());
  part->start(3, input(8));
  EXPECT_EQ(seen->results.count(3), 1U);
}

TEST_F(graph_part, tells_which_stage_has_failed) {
  part->start(1, input(-1));
  EXPECT_EQ(seen->failures, (std::map<std::uint32_t, std::uint32_t>{{1, stage}}));
  EXPECT_TRUE(seen->results.empty());
}

TEST_F(graph_part, inputs_that_cannot_be_read_fail_the_replay) {
  const std::vector<std::byte> short_of_it(3);
  part->start(1, short_of_it);
  EXPECT_EQ(seen->failures.count(1), 1U);
  part->deliver(2, 7, {});  // there is no such port
  EXPECT_EQ(seen->failures.size(), 1U);
}

/// The error names the supervised number, which another process may have by now, or had first.
TEST_F(graph_part, tells_which_process_it_cannot_send_to) {
  graph_recording graph;
  auto& function = call_of<std::decay_t<decltype(fn<&half_of>)>, int>::message::entry();
  const std::uint32_t first = record_call(graph, 0, function, {{record_input(graph, typeid(int)), {}}});
  const std::uint32_t second = record_call(graph, 2, function, {{first, {}}});
  graph_plan plan = divide_graph(finish_recording(graph, second, {}), 0, 2);
  plan.parts[0].stages[0].key = function.resolve();
  plan.parts[0].parts = {{0, 1}, {2, 1}};
  const auto sender = std::make_shared<ham::detail::graph_part>(current(), 0, plan.parts[0], seen);
  using phase = ham::detail::replacements::phase;
  current().numbers.set(7, 7, phase::restarting);
  current().numbers.set(7, 2, phase::up);
  current().part_with(2, "for a test");
  sender->start(1, input(8));
  EXPECT_EQ(seen->losses, std::vector<node_t>{2});
  current().numbers.forget(7);
}

TEST_F(graph_part, loads_no_library_whoever_has_recorded_that) {
  const msg::handler_table& functions = msg::handler_table::local();
  part_plan bad = part->of();
  auto& key = bad.stages[0].key = 0;
  while (key < functions.size() && functions.name(key).find("load_here") == std::string::npos) ++key;
  ASSERT_LT(key, functions.size());
  std::make_shared<ham::detail::graph_part>(current(), 0, bad, seen)->start(1, input(8));
  EXPECT_NE(seen->reason.find("may not load libraries"), std::string::npos) << seen->reason;
}

struct kernel_of_library {};
void run_kernel(void*) {}

TEST_F(graph_part, tells_that_the_library_of_a_function_was_unloaded) {
  static constinit msg::handler_entry kernel{typeid(kernel_of_library), msg::handler_kind::call, &run_kernel,
                                             [] { return std::string(); }, 0};
  const std::vector<msg::handler_entry*> entries = msg::handler_table::linked_by([] { kernel.enlist(); });
  msg::handler_table::add_library(&run_kernel, nullptr);
  part_plan of_library = part->of();
  of_library.stages[0].key = kernel.key();
  const auto with = std::make_shared<ham::detail::graph_part>(current(), 0, of_library, seen);
  msg::handler_table::remove_library(entries);
  with->start(1, input(8));
  EXPECT_EQ(seen->failures, (std::map<std::uint32_t, std::uint32_t>{{1, stage}}));
  EXPECT_NE(seen->reason.find("was unloaded"), std::string::npos) << seen->reason;
}

/// Of a graph that goes.
struct closed final : ham::detail::replay_observer {
  void on_result(std::uint32_t, std::span<const std::byte>) noexcept override { ++told; }
  void on_failed(std::uint32_t, std::uint32_t, std::exception_ptr) noexcept override { ++told; }
  void on_lost(node_t, const std::string&) noexcept override { ++told; }
  bool begin_transfer() noexcept override { return false; }
  int told = 0;
};

TEST_F(graph_part, begins_no_transfer_of_a_graph_that_goes) {
  graph_recording graph;
  bool begun = false;
  const std::uint32_t move = record_transfer(graph, "put", [&begun] {
    begun = true;
    return make_local_slot(current());
  });
  graph_plan plan = divide_graph(finish_recording(graph, move, {}), 0, 2);
  plan.parts[0].parts = {{0, 1}};
  const auto observer = std::make_shared<closed>();
  const auto one =
      std::make_shared<ham::detail::graph_part>(current(), 0, plan.parts[0], observer, std::move(plan.transfers));
  one->start(1, {});
  EXPECT_FALSE(begun);
  EXPECT_EQ(observer->told, 0);
}

TEST_F(graph_part, refuses_functions_that_the_node_does_not_have) {
  part_plan bad = part->of();
  bad.stages[0].key = 0xfffffff0;
  EXPECT_THROW(ham::detail::graph_part(current(), 0, bad, seen), call_error);
}

}  // namespace graph_part_test
