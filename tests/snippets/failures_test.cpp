// The blocks of docs/richer-calls.md and docs/debugging.md on nodes that die, events, and libraries that are loaded
// later; those of docs/running.md, docs/tracing.md, docs/python.md and docs/c-api.md.
#include <gtest/gtest.h>

#include <ham/ham.h>
#include <ham/mpi.hpp>
#include <ham/offload.hpp>
#include <ham/offload/function_by_name.hpp>
#include <ham/offload/library.hpp>
#include <ham/offload/trace.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace failures_page {

using namespace ham;
using namespace std::chrono_literals;

static double solve(double input) { return input + 1; }
static void crash() { std::raise(SIGKILL); }
static void work() { crash(); }

TEST(debugging_page, wakes_another_event_loop) {
  const double input = 41;
  double used = 0;
  const auto use = [&](double result) { used = result; };
#include "debugging/event_loop.inc"
  EXPECT_EQ(used, 42);
  eventfd_t rung = 0;
  EXPECT_EQ(eventfd_read(bell, &rung), 0);
  EXPECT_EQ(rung, 1U);
  close(bell);
}

TEST(debugging_page, a_target_died) {
  const node_t node = offload::add_node("shm:1");
  std::string logged;
  const auto log = [&](const std::string& text) { logged = text; };
  const auto repeat_elsewhere = [] { FAIL() << "the call has run"; };
  const auto before = offload::num_nodes();
#include "debugging/node_failure.inc"
  EXPECT_NE(logged.find("signal 9"), std::string::npos) << logged;
  EXPECT_EQ(offload::num_nodes(), before + 1);
}

namespace event_parts {

static std::vector<std::string> logged;
static void log(const std::string& kind, node_t, const std::string&) { logged.push_back(kind); }

}  // namespace event_parts

TEST(richer_calls_page, events) {
  using event_parts::log;
#include "richer_calls/events.inc"
  const node_t added = offload::add_node("shm:1");
  for (int i = 0; i < 1000 && event_parts::logged.empty(); ++i) offload::progress_for(10ms);
  offload::on_event({});
  offload::remove_node(added);
  ASSERT_FALSE(event_parts::logged.empty());
  EXPECT_EQ(event_parts::logged.front(), "joined");
}

TEST(richer_calls_page, supervision_and_retry) {
  static const std::vector<double> weights{1, 2, 3};
  static offload::buffer<double> model;
  const double problem = 1;
#include "richer_calls/supervise.inc"
  EXPECT_THROW(offload::sync(1, fn<&crash>), node_failure);
#include "richer_calls/retry.inc"
  EXPECT_EQ(result.get(), 2);
  double there = 0;
  offload::get_sync(model.ptr() + 2, &there, 1);
  EXPECT_EQ(there, 3);
  model = {};
}

// What the page loads is not there: each line is refused as the header says.
static void load_and_unload() {
#include "richer_calls/library.inc"
  static_cast<void>(mine);
}
TEST(richer_calls_page, library) { EXPECT_THROW(load_and_unload(), call_error); }

static double piece(int part) { return part * 1.5; }
namespace below_parts {
#include "running/below.inc"
}

TEST(running_page, targets_below_a_rank) {
  below_parts::start_below();
  EXPECT_EQ(below_parts::work(3), 4.5);
  below_parts::below.reset();
  EXPECT_EQ(offload::sync(2, fn<&solve>, 1.0), 2);
}

// Collective over an MPI's communicator: compiled only, without an MPI.
static double f(double x) { return x; }
template <class Communicator>
double call_a_rank(Communicator comm, double x) {
  double r = 0;
#include "running/communicator.inc"
  return r;
}
template double call_a_rank<int>(int, double);

TEST(tracing_page, spans_and_counters) {
  const double residual = 0.5;
#include "tracing/spans.inc"
  EXPECT_EQ(offload::sync(2, fn<&solve>, residual), 1.5);
}

// Stands in for the function in Python, which python/tests/test_pages.py offers.
static double total(const std::vector<double>& values, double factor) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum * factor;
}
static const bool total_is_offered = offload::offer(
    named<"my.total">([](const std::vector<double>& values, double factor) { return total(values, factor); }));

static double total_by_name(const std::vector<double>& values) {
#include "python/total.inc"
  return sum;
}
TEST(python_page, a_function_by_its_name) {
  EXPECT_TRUE(total_is_offered);
  EXPECT_EQ(total_by_name({1, 2}), 6);
}

static std::vector<double> ramp_of_page(double first, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}
static double total_of_page(const std::vector<double>& values) { return total(values, 1); }
static const bool graph_is_offered =
    offload::offer(named<"ramp">(fn<&ramp_of_page>)) && offload::offer(named<"total">(fn<&total_of_page>));

TEST(c_api_page, graphs) {
  EXPECT_TRUE(graph_is_offered);
  const std::int32_t count = 4;
  const double value = 1.5;
  double result = 0;
  ham_graph* graph = nullptr;
  ham_compiled_graph* step = nullptr;
  ham_future* future = nullptr;
  ham_stage x, a, b;
#include "c_api/graph.inc"
  EXPECT_EQ(result, 12);
  ham_compiled_graph_release(&step);
  ham_graph_release(&graph);
}

}  // namespace failures_page
