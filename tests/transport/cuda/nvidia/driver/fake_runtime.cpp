#include "fake_runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace ham::test {
namespace {

fake_gpu* the_gpu = nullptr;

}  // namespace

fake_gpu::fake_gpu() : before_(std::exchange(the_gpu, this)) {
  std::strncpy(properties.name, "NVIDIA Fake", sizeof properties.name - 1);
  properties.major = 9;
  properties.minor = 0;
  properties.multiProcessorCount = 2;
  properties.totalGlobalMem = free_bytes;
}
fake_gpu::~fake_gpu() { the_gpu = before_; }
fake_gpu& fake_gpu::here() { return *the_gpu; }

void fake_gpu::release::operator()(std::byte* memory) const noexcept { std::free(memory); }

fake_gpu::block fake_gpu::allocate(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page - 1) / page * page));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0xa5, bytes);  // as of memory that somebody has used before
  return block(memory);
}

unsigned fake_gpu::calls(const std::string& function) const {
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

bool fake_gpu::is_due(failure& one) noexcept {
  if (one.with == cudaSuccess) return false;
  return one.after-- == 0;
}

cudaError_t fake_gpu::begin(const std::string& function) {
  ++calls_[function];
  if (lost_ != cudaSuccess) return last_error = lost_;
  if (is_due(failing_[function])) return last_error = std::exchange(failing_[function].with, cudaSuccess);
  if (is_due(failing_any_)) return last_error = std::exchange(failing_any_.with, cudaSuccess);
  return cudaSuccess;
}

std::byte* fake_gpu::take(std::size_t bytes) {
  block one = allocate(bytes);
  std::byte* const result = one.get();
  memory_.emplace(result, std::pair(std::move(one), bytes));
  return result;
}
bool fake_gpu::give(void* memory) { return memory_.erase(memory) != 0; }
std::size_t fake_gpu::bytes_at(const void* memory) const {
  if (other_ != nullptr && memory == other_.get()) return other_bytes_;
  const auto found = memory_.find(memory);
  return found == memory_.end() ? 0 : found->second.second;
}

void fake_gpu::work_on(CUstream_st& stream, std::size_t count) {
  for (; count != 0 && !stream.work.empty() && stream.work.front(); --count) {
    stream.work.front()();
    stream.work.pop_front();
    ++stream.done;
  }
}
void fake_gpu::issue(cudaStream_t to, std::function<void()> what) {
  to->work.push_back(std::move(what));
  ++to->issued;
  if (!held_) work_on(*to, SIZE_MAX);
}
void fake_gpu::let_go(std::size_t count) {
  for (const auto& one : streams_) work_on(*one, count);
}
void fake_gpu::issue_kernel(cudaStream_t to) { issue(to, {}); }
void fake_gpu::end_kernel(cudaStream_t of) {
  of->work.pop_front();
  ++of->done;
}

cudaIpcMemHandle_t fake_gpu::export_other(std::size_t bytes) {
  other_ = allocate(bytes);
  other_bytes_ = bytes;
  cudaIpcMemHandle_t result{};
  const std::byte* const address = other_.get();
  std::memcpy(result.reserved, &address, sizeof address);
  return result;
}

cudaStream_t fake_gpu::make_stream() { return streams_.emplace_back(std::make_unique<CUstream_st>()).get(); }
cudaEvent_t fake_gpu::make_event() { return events_.emplace_back(std::make_unique<CUevent_st>()).get(); }

namespace {

int range_at(unsigned long long* begin, std::size_t* bytes, unsigned long long inside) {
  *begin = inside;
  *bytes = fake_gpu::here().bytes_at(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(inside)));
  return *bytes == 0 ? 1 : 0;
}

cudaError_t find_entry(void** function, cudaDriverEntryPointQueryResult* status) {
  const bool knows = fake_gpu::here().knows_ranges;
  *function = knows ? reinterpret_cast<void*>(&range_at) : nullptr;
  *status = knows ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                width);
}

/// Begins a call of that name, and ends it if it is to fail.
#define FAKE_CALL(NAME) \
  if (const cudaError_t error = fake_gpu::here().begin(NAME); error != cudaSuccess) return error

}  // namespace
}  // namespace ham::test

using ham::test::fake_gpu;

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(fake_gpu::here().last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : error == cudaErrorNoDevice ? "no device" : "some error";
}
cudaError_t cudaDriverGetVersion(int* version) {
  FAKE_CALL("cudaDriverGetVersion");
  *version = fake_gpu::here().driver;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  FAKE_CALL("cudaGetDeviceCount");
  *count = fake_gpu::here().gpus;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* of, int) {
  FAKE_CALL("cudaGetDeviceProperties");
  *of = fake_gpu::here().properties;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  FAKE_CALL("cudaSetDevice");
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  FAKE_CALL("cudaMalloc");
  fake_gpu& gpu = fake_gpu::here();
  if (bytes > gpu.free_bytes) return gpu.last_error = cudaErrorMemoryAllocation;
  gpu.free_bytes -= bytes;
  *memory = gpu.take(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  FAKE_CALL("cudaFree");
  fake_gpu& gpu = fake_gpu::here();
  gpu.free_bytes += gpu.bytes_at(memory);
  if (memory != nullptr && !gpu.give(memory)) return gpu.last_error = cudaErrorInvalidValue;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  FAKE_CALL("cudaMemGetInfo");
  *free = fake_gpu::here().free_bytes;
  *all = fake_gpu::here().properties.totalGlobalMem;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  FAKE_CALL("cudaHostAlloc");
  *memory = fake_gpu::here().take(bytes);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) {
  FAKE_CALL("cudaHostRegister");
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  FAKE_CALL("cudaMemset");
  std::memset(to, value, bytes);
  fake_gpu::here().writes_by_default = true;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t of) {
  FAKE_CALL("cudaStreamSynchronize");
  if (of == nullptr) fake_gpu::here().writes_by_default = false;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  FAKE_CALL("cudaMemcpy");
  std::memcpy(to, from, bytes);
  fake_gpu::here().writes_by_default = true;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  FAKE_CALL("cudaMemcpyAsync");
  fake_gpu::here().issue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  FAKE_CALL("cudaMemcpy2DAsync");
  fake_gpu::here().issue(stream, [=] { ham::test::copy_rows(to, to_pitch, from, from_pitch, width, rows); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  FAKE_CALL("cudaMemsetAsync");
  fake_gpu::here().issue(stream, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  FAKE_CALL("cudaStreamCreateWithFlags");
  *stream = fake_gpu::here().make_stream();
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  FAKE_CALL("cudaStreamQuery");
  return stream->done == stream->issued ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  FAKE_CALL("cudaEventCreateWithFlags");
  *event = fake_gpu::here().make_event();
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  FAKE_CALL("cudaEventRecord");
  *event = {stream, stream->issued};
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  FAKE_CALL("cudaEventQuery");
  return event->of == nullptr || event->of->done >= event->position ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  FAKE_CALL("cudaIpcGetMemHandle");
  std::memcpy(handle->reserved, &memory, sizeof memory);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned) {
  FAKE_CALL("cudaIpcOpenMemHandle");
  std::memcpy(memory, handle.reserved, sizeof *memory);
  if (*memory != fake_gpu::here().other()) return fake_gpu::here().last_error = cudaErrorInvalidValue;
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void*) {
  FAKE_CALL("cudaIpcCloseMemHandle");
  return cudaSuccess;
}
#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  FAKE_CALL("cudaGetDriverEntryPointByVersion");
  return ham::test::find_entry(function, status);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char*, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  FAKE_CALL("cudaGetDriverEntryPoint");
  return ham::test::find_entry(function, status);
}
#endif

}  // extern "C"
