// Calls of device functions on a real GPU beside what the machine can do without HAM: prints one JSON object. Started
// by tools/gpu-check; HAM_NODES is cuda unless it says otherwise.
#include <ham/device.hpp>
#include <ham/offload.hpp>

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "floor.hpp"
#include "timing.hpp"

HAM_DEVICE void benchmark_nothing() noexcept {}
HAM_DEVICE_FUNCTION(benchmark_nothing, thread)
HAM_DEVICE void benchmark_trap(int) { ham::device::trap("as asked"); }
HAM_DEVICE_FUNCTION(benchmark_trap, thread)
HAM_DEVICE std::uint32_t benchmark_wait(std::uint32_t rounds) {
  while (!ham::device::stop_requested()) ++rounds;
  return rounds;
}
HAM_DEVICE_FUNCTION(benchmark_wait, thread)

namespace {

using namespace ham;
using namespace gpu_benchmark;
constexpr node_t gpu = 1;
constexpr std::size_t bulk_bytes = std::size_t{256} << 20;

bool first_value = true;
void print(const char* name, double value) {
  std::printf("%s\n  \"%s\": %.6g", first_value ? "{" : ",", name, value);
  first_value = false;
  std::fflush(stdout);
}

void measure_calls() {
  constexpr int rounds = 20'000;
  print("empty_call_us", median_us(rounds, [] { offload::sync(gpu, fn<&benchmark_nothing>); }));
  constexpr int together = 1000;
  const double all_us = median_us(101, [] {
    std::vector<offload::future<void>> calls;
    calls.reserve(together);
    for (int i = 0; i < together; ++i) calls.push_back(offload::async(gpu, fn<&benchmark_nothing>));
    for (auto& one : calls) one.get();
  });
  print("pipelined_calls_per_s", together * 1e6 / all_us);
}

void measure_copies(const char* kind, char* host) {
  const offload::buffer<char> there{gpu, bulk_bytes};
  constexpr int rounds = 9;
  constexpr double bytes_per_us_of_gb = 1e3;
  const double put = median_us(rounds, [&] { offload::put_sync(host, there.ptr(), bulk_bytes); });
  const double get = median_us(rounds, [&] { offload::get_sync(there.ptr(), host, bulk_bytes); });
  print((std::string("put_") + kind + "_gb_s").c_str(), bulk_bytes / put / bytes_per_us_of_gb);
  print((std::string("get_") + kind + "_gb_s").c_str(), bulk_bytes / get / bytes_per_us_of_gb);
}

/// The processor time that a process has used, in ticks of the kernel.
long ticks_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream rest(all.substr(all.rfind(')') + 1));
  std::string word;
  for (int field = 3; field < 14; ++field) rest >> word;
  long user = 0;
  long system = 0;
  rest >> user >> system;
  return user + system;
}

void measure_idleness() {
  offload::sync(gpu, fn<&benchmark_nothing>);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the kernel leaves
  const std::int64_t pid = offload::get_node_descriptor(gpu).pid();
  const long before = ticks_of(pid);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  print("idle_core_percent", static_cast<double>(ticks_of(pid) - before));  // a tick is 10 ms
}

/// A call that fails: when the host knows, and whether it knows of what.
template <class Start>
void measure_failure(const char* name, const char* function, Start start) {
  using clock = std::chrono::steady_clock;
  auto begin = clock::now();
  bool named = false;
  try {
    start(begin);
  } catch (const node_failure& problem) {
    named = problem.function().find(function) != std::string::npos;
    std::fprintf(stderr, "%s: %s\n", name, problem.what());
  }
  const std::chrono::duration<double, std::milli> took = clock::now() - begin;
  print((std::string(name) + "_ms").c_str(), took.count());
  print((std::string(name) + "_names_function").c_str(), named ? 1 : 0);
}

void measure_failures(runtime_options options) {
  {
    const runtime up(options);
    offload::sync(gpu, fn<&benchmark_nothing>);
    measure_failure("fault", "benchmark_trap", [](const auto&) { offload::sync(gpu, fn<&benchmark_trap>, 1); });
  }
  const runtime up(options);
  auto call = offload::async(gpu, fn<&benchmark_wait>, std::uint32_t{0});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::int64_t pid = offload::get_node_descriptor(gpu).pid();
  measure_failure("kill", "benchmark_wait", [&](auto& begin) {
    begin = std::chrono::steady_clock::now();
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    static_cast<void>(call.get());
  });
}

void measure_floors() {
  constexpr int rounds = 20'000;
  print("flag_ping_pong_us", flag_ping_pong_us(rounds));
  print("launch_sync_spin_us", launch_and_sync_us(rounds, true));
  print("launch_sync_block_us", launch_and_sync_us(2000, false));
  print("cuda_graph_8_us", graph_of_kernels_us(5000, 8));
  for (const bool pinned : {true, false}) {
    const copy_rates rates = copy_gb_per_s(bulk_bytes, pinned);
    print(pinned ? "memcpy_put_pinned_gb_s" : "memcpy_put_pageable_gb_s", rates.put);
    print(pinned ? "memcpy_get_pinned_gb_s" : "memcpy_get_pageable_gb_s", rates.get);
  }
}

}  // namespace

int main() {
  runtime_options options;
  const char* const nodes = std::getenv("HAM_NODES");
  options.nodes = nodes == nullptr ? "cuda" : nodes;
  try {
    {
      const runtime up(options);  // in target processes this does not return
      measure_floors();
      measure_calls();
      std::vector<char> pageable(bulk_bytes, 1);
      measure_copies("pageable", pageable.data());
      measure_copies("pinned", static_cast<char*>(pinned_memory(bulk_bytes)));
      measure_idleness();
    }
    measure_failures(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gpu_calls: %s\n", problem.what());
    std::puts(first_value ? "{}" : "\n}");
    return 1;
  }
  std::puts("\n}");
}
