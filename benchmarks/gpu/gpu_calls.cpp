// Calls of device functions on a real GPU beside what the machine can do without HAM: prints one JSON object. Started
// by tools/gpu-check; HAM_NODES is cuda unless it says otherwise. The most important figures come first: each is
// printed at once, so that they are there if the time is over.
#include <ham/offload.hpp>
#include <ham/offload/counters.hpp>
#include <ham/offload/pinned.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device_calls.hpp"
#include "device_functions.hpp"
#include "floor.hpp"
#include "random_frames.hpp"
#include "timing.hpp"

namespace {

using namespace ham;
using namespace gpu_benchmark;
using namespace gpu_benchmark_device;
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
  print("empty_call_us", empty_call_us(gpu, rounds));
  print("pipelined_calls_per_s", pipelined_calls_per_s(gpu, 1000));
  print("device_to_host_us", device_to_node_us(gpu, 0, 201));
  print("device_to_own_process_us", device_to_node_us(gpu, gpu, 201));
  print("graph_1_us", graph_replay_us(gpu, 1, rounds / 4));
  print("graph_8_us", graph_replay_us(gpu, 8, rounds / 4));
  print("graph_32_us", graph_replay_us(gpu, 32, rounds / 4));
}

/// What is fast must be right, too; and the pages of pinned memory are locked behind it.
void check_copies(char* host, const offload::buffer<char>& there) {
  for (std::size_t i = 0; i < bulk_bytes; ++i) host[i] = static_cast<char>(i * 7 + i / 256);
  offload::put_sync(host, there.ptr(), bulk_bytes);
  std::fill(host, host + bulk_bytes, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  offload::get_sync(there.ptr(), host, bulk_bytes);
  for (std::size_t i = 0; i < bulk_bytes; ++i)
    if (host[i] != static_cast<char>(i * 7 + i / 256)) throw std::runtime_error("put and get have changed bytes");
}

void measure_copies(const char* kind, char* host) {
  const offload::buffer<char> there{gpu, bulk_bytes};
  constexpr int rounds = 19;
  check_copies(host, there);
  constexpr double bytes_per_us_of_gb = 1e3;
  const double put = median_us(rounds, [&] { offload::put_sync(host, there.ptr(), bulk_bytes); });
  const double get = median_us(rounds, [&] { offload::get_sync(there.ptr(), host, bulk_bytes); });
  print((std::string("put_") + kind + "_gb_s").c_str(), bulk_bytes / put / bytes_per_us_of_gb);
  print((std::string("get_") + kind + "_gb_s").c_str(), bulk_bytes / get / bytes_per_us_of_gb);
}

/// The processor time that the threads of a process have used, in ns. Its ticks would say 0 or 10 ms.
double processor_ns_of(std::int64_t pid) {
  double all = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream file(thread.path() / "schedstat");
    double one = 0;
    if (file >> one) all += one;
  }
  return all;
}

/// Of the first GPU, as nvidia-smi says; negative: it says nothing.
double busy_percent() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen("nvidia-smi -i 0 --query-gpu=utilization.gpu --format=csv,noheader,nounits", "r"), &::pclose);
  double result = -1;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &result) != 1) return -1;
  return result;
}

/// Whether the resident kernel is there, as the node says of itself.
bool kernel_is_resident() {
  for (const job_counters& job : read_counters(::getpid()))
    for (const node_counters& node : job.nodes)
      if (node.number == gpu && node.device.there) return node.device.resident;
  throw config_error("the counters of the GPU's node cannot be read");
}

void measure_idleness() {
  offload::sync(gpu, fn<&nothing>);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the kernel leaves
  const std::int64_t pid = offload::get_node_descriptor(gpu).pid();
  const double before = processor_ns_of(pid);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  constexpr double ns_per_percent = 1e7;
  print("idle_core_percent", (processor_ns_of(pid) - before) / ns_per_percent);
  print("idle_kernel_resident", kernel_is_resident() ? 1 : 0);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // nvidia-smi tells of the last second
  const double busy = busy_percent();
  if (busy >= 0) print("idle_gpu_percent", busy);
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
    offload::sync(gpu, fn<&nothing>);
    measure_failure("fault", "traps", [](const auto&) { offload::sync(gpu, fn<&traps>, 1); });
  }
  const runtime up(options);
  auto call = offload::async(gpu, fn<&waits>, std::uint32_t{0});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::int64_t pid = offload::get_node_descriptor(gpu).pid();
  measure_failure("kill", "waits", [&](auto& begin) {
    begin = std::chrono::steady_clock::now();
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    static_cast<void>(call.get());
  });
}

/// Between the nodes of two GPUs; the first copies go in messages, until the process of the target has mapped the
/// memory of the other GPU. What is fast must be right, too.
void measure_copy_between_gpus(runtime_options options) {
  const int gpus = gpus_seen();
  print("gpus", gpus);
  if (gpus < 2) return;
  print("memcpy_peer_gb_s", peer_copy_gb_per_s(bulk_bytes));
  options.nodes = "cuda:2";
  const runtime up(options);
  const offload::buffer<char> first(1, bulk_bytes);
  const offload::buffer<char> second(2, bulk_bytes);
  std::vector<char> sent(bulk_bytes);
  for (std::size_t i = 0; i < bulk_bytes; ++i) sent[i] = static_cast<char>(i * 5 + i / 256);
  offload::put_sync(sent.data(), first.ptr(), bulk_bytes);
  offload::copy(first.ptr(), second.ptr(), 1).get();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  constexpr int rounds = 19;
  const double copy = median_us(rounds, [&] { offload::copy(first.ptr(), second.ptr(), bulk_bytes).get(); });
  std::vector<char> got(bulk_bytes);
  offload::get_sync(second.ptr(), got.data(), bulk_bytes);
  if (got != sent) throw std::runtime_error("a copy between GPUs has changed bytes");
  constexpr double bytes_per_us_of_gb = 1e3;
  print("copy_between_gpus_gb_s", bulk_bytes / copy / bytes_per_us_of_gb);
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

void measure_random_frames() {
  const random_outcome outcome = execute_random_frames(1'000'000);
  print("random_answered", static_cast<double>(outcome.answered));
  print("random_executed", static_cast<double>(outcome.executed));
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
      {
        offload::pinned<char> pinned(bulk_bytes);
        measure_copies("pinned", pinned.data());
      }
      {
        std::vector<char> pageable(bulk_bytes, 1);
        measure_copies("pageable", pageable.data());
      }
      measure_idleness();
    }
    measure_copy_between_gpus(options);
    measure_failures(options);
    measure_random_frames();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gpu_calls: %s\n", problem.what());
    std::puts(first_value ? "{}" : "\n}");
    return 1;
  }
  std::puts("\n}");
}
