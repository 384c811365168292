// What nodes hold of compiled graphs.
#include <ham/offload/graph.hpp>

#include <atomic>
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

}  // namespace graph_install_test
