#include "device_calls.hpp"

#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <vector>

#include "device_functions.hpp"
#include "timing.hpp"

namespace gpu_benchmark {

using namespace ham;
using namespace gpu_benchmark_device;

double empty_call_us(node_t gpu, int rounds) {
  return median_us(rounds, [gpu] { offload::sync(gpu, fn<&nothing>); });
}

double pipelined_calls_per_s(node_t gpu, int together) {
  constexpr int rounds = 101;
  const double all_us = median_us(rounds, [=] {
    std::vector<offload::future<void>> calls;
    calls.reserve(static_cast<std::size_t>(together));
    for (int i = 0; i < together; ++i) calls.push_back(offload::async(gpu, fn<&nothing>));
    for (auto& one : calls) one.get();
  });
  return together * 1e6 / all_us;
}

double device_to_node_us(node_t gpu, node_t to, int rounds) {
  constexpr std::uint32_t at_once = 100;
  bool right = true;
  const double with_calls =
      median_us(rounds, [&] { right = offload::sync(gpu, fn<&asks>, to, at_once) == at_once && right; });
  const double without = median_us(rounds, [&] { static_cast<void>(offload::sync(gpu, fn<&asks>, to, 0U)); });
  if (!right) throw call_error("a call of the device was not answered");
  return (with_calls - without) / at_once;
}

double graph_replay_us(node_t gpu, int stages, int rounds) {
  offload::graph g;
  auto value = g.input<std::uint32_t>();
  auto last = g.call(gpu, fn<&passed_on>, value);
  for (int i = 1; i < stages; ++i) last = g.call(gpu, fn<&passed_on>, last);
  auto replay = g.compile(last);
  bool right = true;
  const double result = median_us(rounds, [&] { right = replay(7U).get() == 7U && right; });
  if (!right) throw call_error("a replay of the graph gave another value");
  return result;
}

}  // namespace gpu_benchmark
