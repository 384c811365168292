// CUDA's runtime over memory of the host: what the driver of NVIDIA's GPUs calls, with errors where a test asks for
// them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct CUstream_st {
  std::deque<std::function<void()>> work;  ///< that has not been done; an empty one is a kernel that runs
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
};
struct CUevent_st {
  const CUstream_st* of = nullptr;
  std::uint64_t position = 0;
};

namespace ham::test {

/// The GPUs that this process sees: those of the last one made. Work of streams is done when it is issued, unless it is
/// held. One thread.
class fake_gpu {
 public:
  fake_gpu();
  /// Forgets all that was allocated. The driver gives no memory back, as its process ends with the device.
  ~fake_gpu();
  fake_gpu(const fake_gpu&) = delete;
  fake_gpu& operator=(const fake_gpu&) = delete;
  [[nodiscard]] static fake_gpu& here();

  int gpus = 1;
  int driver = CUDART_VERSION;
  cudaDeviceProp properties{};
  std::size_t free_bytes = std::size_t{64} << 20;  ///< of the GPU
  bool knows_ranges = true;                        ///< the driver has cuMemGetAddressRange

  /// The call of that function behind the next `after` ones gives an error, once.
  void fail(const std::string& function, cudaError_t with, unsigned after = 0) { failing_[function] = {with, after}; }
  /// So does the call of any function that can fail, behind the next `after` ones.
  void fail_any(cudaError_t with, unsigned after) { failing_any_ = {with, after}; }
  [[nodiscard]] bool fails_any() const noexcept { return failing_any_.with != cudaSuccess; }
  /// A fault: all calls give it from now on.
  void lose(cudaError_t with) noexcept { lost_ = with; }
  /// So many calls of that function were made.
  [[nodiscard]] unsigned calls(const std::string& function) const;

  void hold() noexcept { held_ = true; }
  /// Does so much of the work of all streams that is held, the oldest of each first.
  void let_go(std::size_t count = SIZE_MAX);
  /// Of a kernel that was issued by issue_kernel().
  void end_kernel(cudaStream_t of);
  void issue_kernel(cudaStream_t to);

  /// Memory of another process that it has given a handle for, of this many bytes.
  [[nodiscard]] cudaIpcMemHandle_t export_other(std::size_t bytes);
  [[nodiscard]] std::byte* other() noexcept { return other_.get(); }

  // ---- for the functions of the runtime
  [[nodiscard]] cudaError_t begin(const std::string& function);
  [[nodiscard]] std::byte* take(std::size_t bytes);
  bool give(void* memory);
  /// The bytes of what begins there; 0: nothing does.
  [[nodiscard]] std::size_t bytes_at(const void* memory) const;
  void issue(cudaStream_t to, std::function<void()> what);
  [[nodiscard]] cudaStream_t make_stream();
  [[nodiscard]] cudaEvent_t make_event();
  cudaError_t last_error = cudaSuccess;
  bool writes_by_default = false;  ///< on the default stream, which other streams do not wait for

 private:
  struct failure {
    cudaError_t with = cudaSuccess;
    unsigned after = 0;
  };
  struct release {
    void operator()(std::byte* memory) const noexcept;
  };
  using block = std::unique_ptr<std::byte[], release>;
  static block allocate(std::size_t bytes);
  [[nodiscard]] static bool is_due(failure& one) noexcept;
  void work_on(CUstream_st& stream, std::size_t count);

  fake_gpu* const before_;
  std::map<std::string, failure> failing_;
  failure failing_any_;
  cudaError_t lost_ = cudaSuccess;
  std::map<std::string, unsigned> calls_;
  bool held_ = false;
  std::map<const void*, std::pair<block, std::size_t>> memory_;
  block other_;
  std::size_t other_bytes_ = 0;
  std::vector<std::unique_ptr<CUstream_st>> streams_;
  std::vector<std::unique_ptr<CUevent_st>> events_;
};

/// Whether CUDA would blame the next call for an error of one before.
[[nodiscard]] inline bool leaves_an_error() { return cudaGetLastError() != cudaSuccess; }

}  // namespace ham::test
