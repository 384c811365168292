// What the machine can do without HAM: the floor of calls to a GPU.
#include "floor.hpp"

#include <vector>

#include "cuda_check.hpp"
#include "timing.hpp"

namespace gpu_benchmark {
namespace {

__global__ void empty_kernel() {}

/// Answers each number that the host writes with the same number; ends with 0.
__global__ void answer_flags(volatile unsigned long long* from_host, volatile unsigned long long* to_host) {
  for (unsigned long long expected = 1;; ++expected) {
    unsigned long long seen = expected - 1;
    while (seen == expected - 1) seen = *from_host;
    if (seen == 0) return;
    *to_host = seen;
  }
}

}  // namespace

double flag_ping_pong_us(int rounds) {
  unsigned long long* flags = nullptr;
  constexpr std::size_t apart = 64;  // words, so that the flags share no line
  check(cudaHostAlloc(reinterpret_cast<void**>(&flags), 2 * apart * sizeof *flags, cudaHostAllocMapped));
  volatile unsigned long long* const to_gpu = flags;
  volatile unsigned long long* const from_gpu = flags + apart;
  *to_gpu = 0;
  *from_gpu = 0;
  answer_flags<<<1, 1>>>(to_gpu, from_gpu);
  check(cudaGetLastError());
  const double result = median_us(rounds, [&, next = 0ULL]() mutable {
    __atomic_store_n(flags, ++next, __ATOMIC_RELEASE);
    while (*from_gpu != next) {
    }
  });
  __atomic_store_n(flags, 0ULL, __ATOMIC_RELEASE);
  check(cudaDeviceSynchronize());
  check(cudaFreeHost(flags));
  return result;
}

double launch_and_sync_us(int rounds, bool spinning) {
  cudaEvent_t done = nullptr;
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming | (spinning ? 0U : unsigned{cudaEventBlockingSync})));
  const double result = median_us(rounds, [&] {
    empty_kernel<<<1, 1>>>();
    check(cudaEventRecord(done));
    if (spinning) {
      while (cudaEventQuery(done) == cudaErrorNotReady) {
      }
    } else {
      check(cudaEventSynchronize(done));
    }
  });
  check(cudaEventDestroy(done));
  return result;
}

double graph_of_kernels_us(int rounds, int kernels) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) empty_kernel<<<1, 1, 0, stream>>>();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  const double result = median_us(rounds, [&] {
    check(cudaGraphLaunch(ready, stream));
    check(cudaStreamSynchronize(stream));
  });
  check(cudaGraphExecDestroy(ready));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
  return result;
}

copy_rates copy_gb_per_s(std::size_t bytes, bool pinned) {
  void* device = nullptr;
  void* host = nullptr;
  std::vector<char> pageable;
  check(cudaMalloc(&device, bytes));
  if (pinned) {
    check(cudaMallocHost(&host, bytes));
  } else {
    pageable.resize(bytes);
    host = pageable.data();
  }
  constexpr int rounds = 9;
  const double put = median_us(rounds, [&] { check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); });
  const double get = median_us(rounds, [&] { check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); });
  if (pinned) check(cudaFreeHost(host));
  check(cudaFree(device));
  const double bytes_per_us_of_gb = 1e3;
  return {static_cast<double>(bytes) / put / bytes_per_us_of_gb, static_cast<double>(bytes) / get / bytes_per_us_of_gb};
}

int gpus_seen() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  return count;
}

double peer_copy_gb_per_s(std::size_t bytes) {
  void* places[2] = {};
  for (int gpu = 1; gpu >= 0; --gpu) {  // the first GPU is the current one behind it
    check(cudaSetDevice(gpu));
    check(cudaMalloc(&places[gpu], bytes));
    int reached = 0;
    check(cudaDeviceCanAccessPeer(&reached, gpu, 1 - gpu));
    if (reached != 0) check(cudaDeviceEnablePeerAccess(1 - gpu, 0));
  }
  constexpr int rounds = 19;
  const double copy = median_us(rounds, [&] {
    check(cudaMemcpyPeer(places[1], 1, places[0], 0, bytes));
    check(cudaDeviceSynchronize());
  });
  for (void* place : places) check(cudaFree(place));
  constexpr double bytes_per_us_of_gb = 1e3;
  return static_cast<double>(bytes) / copy / bytes_per_us_of_gb;
}

}  // namespace gpu_benchmark
