// The blocks of docs/richer-calls.md on calls: event loops, captures, pools, groups, stops, senders, graphs.
#include <gtest/gtest.h>

#include <ham/offload.hpp>
#include <ham/offload/compiled_graph.hpp>
#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>
#include <ham/offload/pool.hpp>
#include <ham/offload/senders.hpp>

#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace richer_calls_page {

using namespace ham;
using namespace std::chrono_literals;

namespace loop_parts {

static double shown = 0;
static bool running = true;
static double solve(double problem) { return problem + 1; }
static void show(double result) {
  shown = result;
  running = false;
}

}  // namespace loop_parts

TEST(richer_calls_page, event_loop) {
  using loop_parts::running;
  using loop_parts::show;
  using loop_parts::solve;
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  const double problem = 41;
#include "richer_calls/event_fd.inc"
  EXPECT_EQ(loop_parts::shown, 42);
  close(loop);
}

TEST(richer_calls_page, captures) {
  using offload::async;
#include "richer_calls/captures.inc"
  EXPECT_EQ(name, "pressure");
}

namespace pool_parts {

static double solve(double problem) { return problem * 2; }

}  // namespace pool_parts

TEST(richer_calls_page, pool) {
  using pool_parts::solve;
  const double problem = 4;
  const std::vector<double> problems{1, 2, 3, 4, 5};
#include "richer_calls/pool.inc"
  EXPECT_EQ(one.get(), 8);
  EXPECT_EQ(all, (std::vector<double>{2, 4, 6, 8, 10}));
}

namespace group_parts {

static double solve(double dt) { return dt * offload::this_node(); }
static double local_sum(double dt) { return dt + offload::this_node(); }

}  // namespace group_parts

TEST(richer_calls_page, group) {
  using group_parts::local_sum;
  using group_parts::solve;
  const double dt = 0.5;
  const std::size_t n = 100;
  const std::vector<double> host_data(n, 1.5);
#include "richer_calls/group.inc"
  EXPECT_EQ(results.values(), values);
  EXPECT_EQ(values[1], dt * all.nodes()[1]);
  double expected = 0;
  for (const node_t node : all.nodes()) expected += dt + node;
  EXPECT_EQ(sum, expected);
  ASSERT_EQ(buffers.size(), values.size());
  double there = 0;
  offload::get_sync(buffers.back() + (n - 1), &there, 1);
  EXPECT_EQ(there, 1.5);
  for (const auto& one : buffers) offload::free(one);
}

namespace stop_parts {

struct problem {
  double value;
  int steps;
};
static bool converged(const problem& p) { return p.steps == 0; }
static void improve(problem& p) {
  std::this_thread::sleep_for(1ms);
  p.value += 1;
  --p.steps;
}
#include "richer_calls/stop_function.inc"

static double stopped(offload::future<double>& call) {
  try {
    return call.get();
  } catch (const operation_cancelled&) {
    return 0;
  }
}

}  // namespace stop_parts

TEST(richer_calls_page, stopping) {
  using stop_parts::solve;
  const stop_parts::problem problem{0, 1'000'000};
#include "richer_calls/stop.inc"
  source.request_stop();
  EXPECT_LT(stop_parts::stopped(result), 1e6);
  EXPECT_LT(stop_parts::stopped(other), 1e6);
  EXPECT_EQ(offload::sync(1, fn<&solve>, stop_parts::problem{0, 3}), 3);
}

namespace sender_parts {

static double solve(double problem) { return problem * problem; }
static int load() { return 20; }
static int reduce(int loaded) { return loaded + 1; }

}  // namespace sender_parts

TEST(richer_calls_page, senders) {
  using sender_parts::load;
  using sender_parts::reduce;
  using sender_parts::solve;
  const double problem = 7;
#include "richer_calls/senders.inc"
  EXPECT_EQ(result, 49);
  EXPECT_EQ(std::get<0>(*offload::sync_wait(std::move(there))), 21);
}

namespace graph_parts {

static double assemble(double dt) { return 2 * dt; }
static double solve(double system, offload::buffer_ptr<double> rhs) { return system + rhs[0]; }
static double update(double solution) { return solution * 3; }

}  // namespace graph_parts

TEST(richer_calls_page, graph) {
  using graph_parts::assemble;
  using graph_parts::solve;
  using graph_parts::update;
  std::vector<double> host_data{10};
  offload::buffer<double> memory(2, 1);
  offload::buffer<double> target_buffer(1, 1);
  offload::put_sync(host_data.data(), memory.ptr(), 1);
  const auto rhs = memory.ptr();
#include "richer_calls/graph.inc"
  EXPECT_DOUBLE_EQ(r, (2 * 0.1 + 10) * 3);
}

}  // namespace richer_calls_page
