// The driver of NVIDIA's GPUs over a fake CUDA runtime: the resident kernel, its tables, faults, streams.
#include "transport/cuda/nvidia/driver/cuda_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "fake_runtime.hpp"
#include "ham/device/loop.hpp"
#include "ham/error.hpp"
#include "transport/cuda/nvidia/cuda_errors.hpp"

namespace ham::inline v1::device::detail {

void host_function::enlist() { number_ = 77; }  // the library's is not linked

}  // namespace ham::device::detail

namespace ham::inline v1::transport::cuda {
namespace {

namespace wire = device::detail;
using test::fake_gpu;
using test::leaves_an_error;

// ---- an application's code for devices

void body_of_first(wire::execution&) {}
wire::device_body first_symbol = &body_of_first;  // "a variable of the device with its version's address"
std::uint32_t number_on_device = 0;
const wire::function_entry functions[] = {
    {typeid(int), {&body_of_first, 8, 16, device::scope::block, false}, &first_symbol},
    {typeid(char), {&body_of_first, 4, 0, device::scope::thread, true}, nullptr},
};

struct launch_seen {
  unsigned blocks = 0, threads = 0;
  wire::loop_parameters with{};
  cudaStream_t stream = nullptr;
};
struct application {
  int blocks_of_one_processor = 8;
  int code_error = cudaSuccess;  // of the next call
  std::vector<launch_seen> launches;
  std::vector<const void*> written;
} app;

int take_code_error() { return std::exchange(app.code_error, static_cast<int>(cudaSuccess)); }
int count_blocks(const void*, int, int& blocks) {
  blocks = app.blocks_of_one_processor;
  return take_code_error();
}
int read_variable(const void* symbol, void* to, std::size_t size) {
  std::memcpy(to, symbol, size);
  return take_code_error();
}
int write_variable(const void* symbol, const void* from, std::size_t size) {
  app.written.push_back(symbol);
  std::memcpy(const_cast<void*>(symbol), from, size);
  return take_code_error();
}
int launch_kernel(const void*, unsigned blocks, unsigned threads, void** arguments, void* stream) {
  if (const int error = take_code_error(); error != cudaSuccess) return error;
  launch_seen one{blocks, threads, {}, static_cast<cudaStream_t>(stream)};
  std::memcpy(&one.with, arguments[0], sizeof one.with);
  app.launches.push_back(one);
  fake_gpu::here().issue_kernel(one.stream);
  return cudaSuccess;
}
constexpr wire::device_code code{nullptr, &count_blocks, &read_variable, &write_variable, &launch_kernel};

const wire::function_entry& function_of(std::uint32_t number) { return functions[number]; }
std::uint32_t count_numbers() { return 1; }
wire::number_variable number_of(std::uint32_t) {
  static const wire::host_function called_by_devices(nullptr);
  return {&number_on_device, &called_by_devices};
}

constexpr gpu_program program{&code, &function_of, &count_numbers, &number_of};
constexpr gpu_program no_code{nullptr, &function_of, &count_numbers, &number_of};

class cuda_device_on_fake : public testing::Test {
 protected:
  cuda_device_on_fake() { app = {}; }
  static void expect_refusal(const std::string& words, kernel_size size = {}, gpu_program of = program) {
    try {
      static_cast<void>(make_cuda_device(size, of));
      ADD_FAILURE() << words;
    } catch (const config_error& problem) {
      EXPECT_NE(std::string(problem.what()).find(words), std::string::npos) << problem.what();
    }
    EXPECT_FALSE(leaves_an_error());
  }
  /// As the host's side does it.
  static void send(device_driver& to, std::size_t queue, std::uint64_t position, std::uint32_t function) {
    wire::send_call(to.queues()[queue], position, function, 0, 0);
  }
  void expect_failure(device_driver& of, const std::string& words, const std::vector<std::uint32_t>& functions_named) {
    EXPECT_EQ(of.state(), residency::failed);
    EXPECT_EQ(of.state(), residency::failed) << "for good";
    const device_driver::failure_report report = of.failure();
    EXPECT_NE(report.what.find(words), std::string::npos) << report.what;
    EXPECT_EQ(report.functions, functions_named);
  }

  fake_gpu gpu;
};

TEST_F(cuda_device_on_fake, says_what_it_is) {
  const auto device = make_cuda_device({}, program);
  EXPECT_STREQ(device->type(), "cuda");
  const device_description what = device->description();
  EXPECT_EQ(what.name, "NVIDIA Fake");
  EXPECT_EQ(what.capability, "9.0");
  EXPECT_EQ(what.processors, 2U);
  EXPECT_EQ(what.memory_bytes, gpu.properties.totalGlobalMem);
  EXPECT_TRUE(device->has(functions[0]));
  EXPECT_FALSE(device->has(functions[1])) << "no compiler for devices has seen it";
  EXPECT_EQ(device->state(), residency::absent);
}

TEST_F(cuda_device_on_fake, has_no_more_blocks_than_fit_at_once) {
  EXPECT_EQ(make_cuda_device({}, program)->queues().size(), 4U) << "the usual number";
  EXPECT_EQ(make_cuda_device({16, 128}, program)->queues().size(), 16U);
  expect_refusal("room for 16 blocks of 128 threads", {17, 128});
  app.blocks_of_one_processor = 1;
  EXPECT_EQ(make_cuda_device({}, program)->queues().size(), 2U);
  app.blocks_of_one_processor = 0;
  expect_refusal("no room for a block of 1024 threads", {0, 1024});
  app.code_error = cudaErrorNoKernelImageForDevice;
  expect_refusal("the application has no code for this GPU");
}

TEST_F(cuda_device_on_fake, of_a_program_without_code_for_devices_takes_no_calls) {
  const auto device = make_cuda_device({}, no_code);
  EXPECT_EQ(device->queues().size(), 1U);
  EXPECT_FALSE(device->has(functions[0]));
  device->upload(2);
  EXPECT_TRUE(app.written.empty());
  EXPECT_THROW(device->launch(), config_error);
}

TEST_F(cuda_device_on_fake, is_refused_without_a_gpu) {
  gpu.gpus = 0;
  expect_refusal("no GPU is visible");
  gpu.driver = 0;
  expect_refusal("there is no driver");
  gpu.driver = CUDART_VERSION;
  gpu.fail("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  expect_refusal("the driver is too old");
}

/// Each of the calls that it makes of the runtime, in turn.
TEST_F(cuda_device_on_fake, is_refused_if_anything_is_not_to_be_had) {
  unsigned number = 0;
  for (;; ++number) {
    gpu.fail_any(cudaErrorMemoryAllocation, number);
    try {
      static_cast<void>(make_cuda_device({}, program));
      if (gpu.fails_any()) break;  // it has made no so many calls
    } catch (const config_error& problem) {
      EXPECT_FALSE(gpu.fails_any());
      EXPECT_NE(std::string(problem.what()).find("no room left"), std::string::npos) << number << problem.what();
    }
    EXPECT_FALSE(leaves_an_error()) << number;
  }
  EXPECT_GT(number, 25U) << "18 streams, three kinds of shared memory, two of the device's that are cleared";
}

TEST_F(cuda_device_on_fake, launches_the_kernel_with_its_queues) {
  const auto device = make_cuda_device({3, 64}, program);
  EXPECT_FALSE(gpu.writes_by_default) << "the kernel may see its states before they are cleared";
  device->upload(2);
  EXPECT_FALSE(gpu.writes_by_default) << "the kernel may see an earlier table";
  device->launch();
  EXPECT_EQ(device->state(), residency::resident);
  const launch_seen seen = app.launches.at(0);
  EXPECT_EQ(seen.blocks, 3U);
  EXPECT_EQ(seen.threads, 64U);
  EXPECT_EQ(seen.with.queues, device->queues().data());
  EXPECT_EQ(seen.with.messages, device->messages().data());
  EXPECT_EQ(seen.with.functions, 2U);
  EXPECT_EQ(seen.with.queues[2].headers[0].what, 0U) << "zero at first";
  EXPECT_EQ(seen.with.blocks[2].position, 0U);
  gpu.end_kernel(seen.stream);
  EXPECT_EQ(device->state(), residency::absent);
  device->launch();
  EXPECT_EQ(app.launches.at(1).stream, seen.stream);
}

TEST_F(cuda_device_on_fake, uploads_which_functions_it_has) {
  const auto device = make_cuda_device({}, program);
  device->upload(0);
  EXPECT_EQ(number_on_device, 77U) << "of the host's function, for code of the device";
  device->upload(1);
  const unsigned freed = gpu.calls("cudaFree");
  device->upload(2);
  EXPECT_EQ(gpu.calls("cudaFree"), freed + 1) << "the table before";
  device->launch();
  const wire::table_row* const table = app.launches.at(0).with.table;
  EXPECT_EQ(table[0].body, first_symbol);
  EXPECT_EQ(table[0].min_size, 8U);
  EXPECT_EQ(table[0].runs_on, device::scope::block);
  EXPECT_EQ(table[1].body, nullptr);
  EXPECT_TRUE(table[1].varies);
  gpu.end_kernel(app.launches.at(0).stream);
  app.code_error = cudaErrorInvalidSymbol;
  EXPECT_THROW(device->upload(2), config_error);
  gpu.fail("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_THROW(device->upload(2), config_error);
  gpu.fail("cudaMemcpy", cudaErrorUnknown);
  EXPECT_THROW(device->upload(2), config_error);
  EXPECT_FALSE(leaves_an_error());
  device->upload(2);
}

TEST_F(cuda_device_on_fake, says_why_the_kernel_is_refused) {
  const auto device = make_cuda_device({}, program);
  device->upload(2);
  app.code_error = cudaErrorLaunchOutOfResources;
  try {
    device->launch();
    ADD_FAILURE() << "it was refused";
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("the resident kernel does not fit"), std::string::npos)
        << problem.what();
  }
  EXPECT_EQ(device->state(), residency::absent);
  EXPECT_FALSE(leaves_an_error());
}

TEST_F(cuda_device_on_fake, names_what_ran_when_it_failed) {
  const auto device = make_cuda_device({}, program);
  device->upload(2);
  device->launch();
  send(*device, 0, 1, 1);
  send(*device, 0, 2, 0);
  send(*device, 3, 1, 0);
  gpu.lose(cudaErrorIllegalAddress);
  expect_failure(*device, "a function has accessed memory that is not there", {1, 0});
}

TEST_F(cuda_device_on_fake, says_that_it_is_lost) {
  const auto device = make_cuda_device({}, program);
  device->upload(2);
  device->launch();
  gpu.lose(cudaErrorUnknown);
  expect_failure(*device, "the GPU may be lost", {});
}

/// It tells the host itself, long before CUDA does.
TEST_F(cuda_device_on_fake, says_who_has_called_trap) {
  const auto device = make_cuda_device({}, program);
  device->upload(2);
  device->launch();
  send(*device, 1, 1, 0);
  send(*device, 2, 1, 1);
  wire::call_queue& queue = device->queues()[2];
  std::strcpy(queue.trap_reason, "out of paper");
  queue.trapped = queue.headers[1].what;
  expect_failure(*device, "trap() was called: out of paper", {1});
  std::memset(queue.trap_reason, 'x', sizeof queue.trap_reason);  // no end of it
  EXPECT_EQ(device->failure().what, "trap() was called: " + std::string(sizeof queue.trap_reason, 'x'));
}

TEST_F(cuda_device_on_fake, has_room_for_long_arguments) {
  const auto device = make_cuda_device({}, program);
  const std::vector<std::byte> bytes(5000, std::byte{7});
  const std::uint64_t first = device->stage(bytes);
  const std::uint64_t second = device->stage(bytes);
  EXPECT_EQ(first % 16, 0U);
  EXPECT_GE(second > first ? second - first : first - second, bytes.size());
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(first)), bytes.data(), bytes.size()),
            0);
  const std::vector<std::byte> most(std::size_t{64} << 20);
  EXPECT_THROW(static_cast<void>(device->stage(most)), std::bad_alloc);
  device->unstage(first);
  device->unstage(second);
  device->unstage(device->stage(most));
}

TEST_F(cuda_device_on_fake, has_a_stream_for_each_of_sixteen_contexts_and_one_for_none) {
  const auto device = make_cuda_device({}, program);
  device->launch();
  std::set<void*> all{app.launches.at(0).stream, device->stream_of(0)};
  for (std::uint32_t context = 1; context <= 16; ++context) {
    all.insert(device->stream_of(context));
    EXPECT_EQ(device->stream_of(context), device->stream_of(context + 16)) << context;
  }
  EXPECT_EQ(all.size(), 18U) << "none is shared, nor that of the resident kernel";
  EXPECT_FALSE(all.contains(nullptr));
}

}  // namespace
}  // namespace ham::transport::cuda
