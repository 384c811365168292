// What nodes hold of compiled graphs.
#include <ham/offload/graph.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "ham/msg/handler_table.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/engine.hpp"

namespace graph_install_test {

using namespace ham;
using namespace ham::test;

int once_more(int value) { return value + 1; }
std::uint64_t parts_here() { return offload::detail::current().graphs.installed(); }

using graph_install = two_targets;

TEST_F(graph_install, nodes_of_a_graph_have_a_part_as_long_as_it_is_compiled) {
  offload::graph g;
  auto result = g.call(1, fn<&once_more>, g.input<int>());
  {
    auto step = g.compile(result);
    auto again = g.compile(result);
    EXPECT_EQ(parts_here(), 2U);
    EXPECT_EQ(offload::sync(1, fn<&parts_here>), 2U);
    EXPECT_EQ(offload::sync(2, fn<&parts_here>), 0U);
    EXPECT_EQ(step(1).get() + again(2).get(), 5);
  }
  EXPECT_EQ(parts_here(), 0U);
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&parts_here>) == 0; }));
}

TEST_F(graph_install, a_graph_that_is_refused_leaves_nothing) {
  offload::graph g;
  auto result = g.call(1, fn<&once_more>, g.call(9, fn<&once_more>, 1));
  EXPECT_THROW(static_cast<void>(g.compile(result)), call_error);
  EXPECT_EQ(parts_here(), 0U);
  EXPECT_EQ(offload::sync(1, fn<&parts_here>), 0U);
}

struct kernel_of_library {};

TEST_F(graph_install, a_function_whose_library_was_unloaded_here_is_told) {
  using namespace offload::detail;
  static constinit msg::handler_entry kernel{typeid(kernel_of_library), msg::handler_kind::call, nullptr,
                                             [] { return std::string(); }, 0};
  const std::vector<msg::handler_entry*> entries = msg::handler_table::linked_by([] { kernel.enlist(); });
  msg::handler_table::add_library(nullptr, nullptr);
  const auto graph = make_graph_recording();
  const std::uint32_t stage = record_call(*graph, 1, kernel, {});
  msg::handler_table::remove_library(entries);
  const std::string why = message_of<call_error>([&] {
    static_cast<void>(compile_graph(*graph, stage, {&slot_value<int>::decode, 1, {}}));
  });
  EXPECT_NE(why.find("kernel_of_library"), std::string::npos) << why;
  EXPECT_NE(why.find("was unloaded"), std::string::npos) << why;
}

TEST_F(graph_install, graphs_may_be_moved) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&once_more>, g.input<int>()));
  auto moved = std::move(step);
  EXPECT_EQ(moved(1).get(), 2);
  moved = g.compile(g.call(2, fn<&once_more>, 10));
}

TEST_F(graph_install, the_end_waits_for_transfers_of_replays_that_have_failed) {
  using namespace offload::detail;
  const auto graph = make_graph_recording();
  call_slot* moving = nullptr;  // what the transfer would be
  const std::uint32_t stage = record_transfer(*graph, "get", [&moving] { return moving = make_local_slot(current()); });
  const auto step = compile_graph(*graph, stage, {&slot_value<void>::decode, 1, {}});
  offload::future<void> replay = start_replay<void>(*step, {});
  ASSERT_NE(moving, nullptr);
  EXPECT_TRUE(replay.request_stop());
  EXPECT_EQ(replays_in_flight(*step), 0U);
  std::atomic<bool> ended{false};
  std::thread transport([&] {
    std::this_thread::sleep_for(20ms);
    ended = true;
    settle_local(*moving, slot_state::value);
  });
  close_graph(*step);
  EXPECT_TRUE(ended);
  transport.join();
  EXPECT_THROW(replay.get(), operation_cancelled);
}

// ---- a number of the graph has another process, which gets its part with the next replay

std::function<void()> meanwhile;
void act_meanwhile() { meanwhile(); }
void have_host_act() { offload::sync(0, fn<&act_meanwhile>); }

/// Node 1 is lost; node 2 takes its place.
class graph_installed_again : public two_targets {
 protected:
  using phase = detail::replacements::phase;
  void lose_first(phase now) {
    node_.part_with(1, "for a test");
    node_.numbers.set(1, now == phase::up ? 2 : 1, now);
  }
  /// On another thread, which is waited for.
  template <class What>
  static auto elsewhere(What what) {
    return std::async(std::launch::async, what).get();
  }

  detail::engine& node_ = offload::detail::current();
  offload::graph recording_;
  offload::compiled_graph<int> step_ =
      recording_.compile(recording_.call(1, fn<&once_more>, recording_.input<int>()), {.in_flight = 4});
};

/// Node 2 calls back before it comes to its part: that call arrives while this thread waits for the part.
TEST_F(graph_installed_again, within_a_call_that_comes_while_parts_are_given_out) {
  lose_first(phase::up);
  int runs = 0;
  meanwhile = [&] {
    ++runs;
    EXPECT_EQ(elsewhere([&] { return step_.within(10s)(5).get(); }), 6);
    EXPECT_EQ(step_(6).get(), 7);
  };
  auto calls_back = offload::async(2, fn<&have_host_act>);
  EXPECT_EQ(step_(1).get(), 2);
  calls_back.get();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(parts_here(), 1U);
  EXPECT_TRUE(eventually([] { return offload::sync(2, fn<&parts_here>) == 1; })) << "the one that came too late goes";
}

/// As on_respawn does, while another thread waits for the process that is prepared.
TEST_F(graph_installed_again, by_who_prepares_the_process_that_another_replay_waits_for) {
  lose_first(phase::restarting);
  int runs = 0;
  meanwhile = [&] {
    ++runs;
    EXPECT_EQ(elsewhere([&] {
                const detail::replacements::rebuilding scope(node_.numbers, 1, 2);
                return step_.within(10s)(5).error();
              }),
              nullptr);
    node_.locked([&] {
      node_.numbers.set(1, 2, phase::up);
      node_.waits.wake_finished();
    });
  };
  auto calls_back = offload::async(2, fn<&have_host_act>);
  EXPECT_EQ(step_(1).get(), 2);
  calls_back.get();
  EXPECT_EQ(runs, 1);
}

}  // namespace graph_install_test
