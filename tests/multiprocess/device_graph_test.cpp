// Recorded graphs, batches and nested calls with functions that run on emulated GPUs.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>
#include <ham/offload/batch.hpp>
#include <ham/offload/counters.hpp>
#include <ham/offload/graph.hpp>

#include "some_attempt.hpp"
#include "support.hpp"
#include "transport/cuda/emulated_lane.hpp"

#include <numeric>

using namespace ham;
using namespace ham::test;

namespace device_graph_test {

bool on_device() { return device::detail::this_lane() != nullptr; }

HAM_DEVICE double scaled_by(offload::buffer_ptr<double> x, std::size_t n, double factor) {
  for (std::size_t i = device::rank(); i < n; i += device::size()) x[i] *= factor;
  device::sync();
  return on_device() ? x[0] : -1;
}
HAM_DEVICE double sum_of(offload::buffer_ptr<double> x, std::size_t n, double after) {
  double result = on_device() && after > 0 ? 0 : -1;
  for (std::size_t i = 0; i < n; ++i) result += x[i];
  return result;
}
HAM_DEVICE double newton(double x) { return on_device() ? 0.5 * (x + 2 / x) : 0; }
HAM_DEVICE std::uint32_t threads_of_grid() { return device::size(); }
HAM_DEVICE int next_of(int value) { return on_device() ? value + 1 : -1; }
HAM_DEVICE int failing(int value) {
  if (value == 3) throw value;
  return value;
}

HAM_DEVICE int faulting(int value) {
  if (value == 5) device::trap("no");
  return value;
}

/// What the device has done before it has given this.
transport::cuda::link_counts work_of_device() {
  return static_cast<transport::cuda::emulated_lane*>(device::detail::this_lane())->link().counts();
}

}  // namespace device_graph_test

HAM_DEVICE_FUNCTION(device_graph_test::scaled_by, block)
HAM_DEVICE_FUNCTION(device_graph_test::sum_of, thread)
HAM_DEVICE_FUNCTION(device_graph_test::newton, thread)
HAM_DEVICE_FUNCTION(device_graph_test::threads_of_grid, grid)
HAM_DEVICE_FUNCTION(device_graph_test::next_of, thread)
HAM_DEVICE_FUNCTION(device_graph_test::failing, thread)
HAM_DEVICE_FUNCTION(device_graph_test::faulting, thread)
HAM_DEVICE_FUNCTION(device_graph_test::work_of_device, thread)

namespace {

using namespace device_graph_test;

double halved(double value) { return value / 2; }
bool converged(double x) { return std::abs(x * x - 2) < 1e-12; }
/// On the host's side of a target: it calls the device of its own node, or of another one.
int through(node_t gpu, int value) { return offload::sync(gpu, fn<&next_of>, value) + 100; }

TEST(device_graph, has_stages_on_devices_and_on_processes) {
  const runtime rt(nodes("cuda-emulated:2/linger=100000,shm:1"));
  constexpr std::size_t n = 100;
  const std::vector<double> ones(n, 1.0);
  const offload::buffer<double> x{1, n};
  offload::put(ones.data(), x.ptr(), n).get();
  offload::graph g;
  auto factor = g.input<double>();
  auto grown = g.call(1, fn<&scaled_by>, x.ptr(), n, factor).name("grown");
  auto total = g.call(1, fn<&sum_of>, x.ptr(), n, grown);
  auto half = g.call(3, fn<&halved>, total);
  auto root = g.call(2, fn<&newton>, half);
  auto step = g.compile(root);
  double value = 1;
  for (int i = 0; i < 20; ++i) {
    value *= 1.5;
    const double expected = value * n / 2;
    ASSERT_DOUBLE_EQ(step(1.5).get(), 0.5 * (expected + 2 / expected)) << i;
  }
}

TEST(device_graph, repeats_stages_on_devices_without_the_host) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::graph g;
  auto start = g.input<double>();
  auto root = g.repeat(
      start, [&](offload::graph_value<double> guess) { return g.call(2, fn<&newton>, g.call(1, fn<&newton>, guess)); },
      fn<&converged>);
  auto iterate = g.compile(root);
  const auto before = offload::stats().calls_sent;
  for (int i = 1; i <= 10; ++i) EXPECT_NEAR(iterate(static_cast<double>(i)).get(), std::sqrt(2.0), 1e-11);
  EXPECT_LE(offload::stats().calls_sent - before, 10U) << "one message for each replay";
}

TEST(device_graph, names_the_stage_that_fails) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(1, fn<&next_of>, g.call(1, fn<&failing>, in).name("risky")));
  EXPECT_EQ(step(1).get(), 2);
  try {
    static_cast<void>(step(3).get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& failure) {
    EXPECT_NE(std::string(failure.what()).find("risky"), std::string::npos) << failure.what();
  }
  EXPECT_EQ(step(4).get(), 5) << "the graph goes on";
}

TEST(device_graph, has_calls_that_the_device_executes_one_behind_the_other) {
  const runtime rt(nodes("cuda-emulated:1/linger=10000000"));
  const auto calls = [] { return read_counters(::getpid()).at(0).nodes.at(1).device.calls; };
  offload::graph g;
  auto last = g.input<int>();
  for (int i = 0; i < 8; ++i) last = g.call(1, fn<&next_of>, last);
  auto step = g.compile(last);
  for (int i = 0; i < 5; ++i) {
    const auto before = calls();
    EXPECT_EQ(step(i).get(), i + 8);
    EXPECT_EQ(calls() - before, 8U) << "each of them counts";
  }
}

TEST(device_graph, of_eight_stages_crosses_the_link_twice_and_is_answered_once) {
  const runtime rt(nodes("cuda-emulated:1/blocks=1/read=20000000/linger=10000000"));
  offload::graph g;
  auto last = g.input<int>();
  for (int i = 0; i < 8; ++i) last = g.call(1, fn<&next_of>, last);
  auto step = g.compile(last);
  EXPECT_EQ(step(0).get(), 8);
  EXPECT_TRUE(in_some_attempt([&] {  // a machine that is so slow that the device asks for stops
    const auto before = offload::sync(1, fn<&work_of_device>);
    EXPECT_EQ(step(1).get(), 9);
    const auto after = offload::sync(1, fn<&work_of_device>);
    EXPECT_EQ(after.fences - before.fences, 1U + 1U) << "a reply, and that which has said what was before";
    return after.reads - before.reads <= 2 + 1;
  })) << "the beginning of the chain, its arguments, and the question how many there were";
}

TEST(device_graph, names_the_stage_whose_function_faults) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::graph g;
  auto in = g.input<int>();
  auto before = g.call(1, fn<&faulting>, g.call(1, fn<&next_of>, in)).name("before");
  auto risky = g.call(1, fn<&faulting>, g.call(1, fn<&next_of>, before)).name("risky");
  auto step = g.compile(g.call(1, fn<&next_of>, risky));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(0).get(), 3);
  try {
    static_cast<void>(step(3).get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("risky"), std::string::npos) << text;
    EXPECT_NE(text.find("faulting"), std::string::npos) << text;
  }
}

TEST(device_graph, names_the_stage_that_faults_while_the_reply_before_it_is_on_its_way) {
  const runtime rt(nodes("cuda-emulated:1/blocks=1/write=100000000"));
  offload::graph g;
  auto first = g.call(1, fn<&next_of>, g.input<int>());
  auto step = g.compile(g.call(1, fn<&next_of>, g.call(1, fn<&faulting>, first).name("risky")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(step(0).get(), 2);
  auto before = step(0);
  auto faults = step(4);
  try {
    static_cast<void>(faults.get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("risky"), std::string::npos) << text;
    EXPECT_NE(text.find("in device_graph_test::faulting"), std::string::npos) << text;
  }
  try {
    EXPECT_EQ(before.get(), 2);
  } catch (const stage_error&) {  // its reply had not come
  }
}

TEST(device_graph, has_many_replays_in_flight) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(1, fn<&next_of>, g.call(1, fn<&next_of>, g.call(1, fn<&next_of>, in))));
  std::vector<offload::future<int>> running;
  for (int i = 0; i < 200; ++i) running.push_back(step(i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(running[static_cast<std::size_t>(i)].get(), i + 3);
}

TEST(device_batch, runs_on_the_device_in_order) {
  const runtime rt(nodes("cuda-emulated:1"));
  for (int round = 0; round < 5; ++round) {
    offload::batch several(1);
    std::vector<offload::future<int>> results;
    for (int i = 0; i < 50; ++i) results.push_back(several.add(fn<&next_of>, i));
    auto all = several.add(fn<&threads_of_grid>);
    several.submit();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i + 1);
    EXPECT_EQ(all.get(), 8U);
  }
}

TEST(device_nested_calls, reach_devices_from_targets) {
  const runtime rt(nodes("cuda-emulated:2,shm:1"));
  for (const node_t from : {1, 2, 3}) {
    for (const node_t gpu : {1, 2}) EXPECT_EQ(offload::sync(from, fn<&through>, gpu, 7), 108) << from << " to " << gpu;
  }
}

}  // namespace
