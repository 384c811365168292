// Emulated GPUs as nodes: device functions in their processes, memory, faults, hanging functions.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>

#include "support.hpp"

#include <numeric>

using namespace ham;
using namespace ham::test;

namespace {
pid_t my_pid() { return ::getpid(); }
}  // namespace

namespace device_test {

int on_device(int value) { return device::detail::this_lane() != nullptr ? value : -1; }
double sum(offload::buffer_ptr<double> of, std::size_t n, offload::buffer_ptr<double> parts) {
  double own = 0;
  for (std::size_t i = device::rank(); i < n; i += device::size()) own += of[i];
  parts[device::rank()] = own;
  device::sync();
  double result = 0;
  for (std::uint32_t i = 0; i < device::size(); ++i) result += parts[i];
  return result;
}
void faults(int) { device::trap("an illegal memory access was encountered"); }
void never_ends(int) {
  volatile bool forever = true;
  while (forever) {
  }
}
int square(int value) { return value * value; }
int asks_the_host(int value) {
  int result = 0;
  auto answer = device::async<&square>(0, value);
  return answer.get(result) ? result : -1;
}

}  // namespace device_test

HAM_DEVICE_FUNCTION(device_test::on_device, thread)
HAM_DEVICE_FUNCTION(device_test::sum, block)
HAM_DEVICE_FUNCTION(device_test::faults, thread)
HAM_DEVICE_FUNCTION(device_test::never_ends, thread)
HAM_DEVICE_FUNCTION(device_test::asks_the_host, thread)

namespace {

using namespace device_test;

TEST(device_nodes, execute_functions_of_both_kinds) {
  const runtime rt(nodes("cuda-emulated:2/read=1000/write=500,shm:1"));
  EXPECT_EQ(offload::get_node_descriptor(1).device_type(), "cuda-emulated");
  EXPECT_EQ(offload::get_node_descriptor(2).transport(), "cuda-emulated");
  for (const node_t gpu : {1, 2}) {
    EXPECT_EQ(offload::sync(gpu, fn<&on_device>, 7), 7);
    EXPECT_NE(offload::sync(gpu, fn<&my_pid>), ::getpid()) << "in its process";
  }
  EXPECT_EQ(offload::sync(3, fn<&on_device>, 7), -1) << "no accelerator";
  EXPECT_EQ(offload::sync(1, fn<&asks_the_host>, 12), 144);
}

TEST(device_nodes, are_described_to_all_nodes) {
  const runtime rt(nodes("cuda-emulated/blocks=3/arena=64,shm:1"));
  const auto is_told = [] {
    const offload::device_info of = offload::get_node_descriptor(1).device();
    return of.name.starts_with("emulated") && !of.capability.empty() && !of.driver.empty() && of.processors == 3 &&
           of.memory_bytes == std::uint64_t{64} << 20;
  };
  EXPECT_TRUE(is_told());
  EXPECT_TRUE(offload::sync(2, is_told));
  EXPECT_EQ(offload::get_node_descriptor(2).device().name, "");
}

TEST(device_nodes, have_memory_that_is_put_got_and_copied) {
  const runtime rt(nodes("cuda-emulated:2"));
  constexpr std::size_t n = 10'000;
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  const offload::buffer<double> first{1, n};
  const offload::buffer<double> second{2, n};
  const offload::buffer<double> parts{2, 64};
  offload::put(values.data(), first.ptr(), n).get();
  offload::copy(first.ptr(), second.ptr(), n).get();
  EXPECT_EQ(offload::sync(2, fn<&sum>, second.ptr(), n, parts.ptr()), static_cast<double>(n) * (n + 1) / 2);
  std::vector<double> back(n);
  offload::get(second.ptr(), back.data(), n).get();
  EXPECT_EQ(back, values);
}

TEST(device_nodes, end_with_their_device) {
  const runtime rt(nodes("cuda-emulated:2"));
  EXPECT_EQ(offload::sync(1, fn<&on_device>, 1), 1);
  try {
    offload::sync(1, fn<&faults>, 1);
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("an illegal memory access was encountered"), std::string::npos) << text;
    EXPECT_NE(text.find("faults"), std::string::npos) << text;
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run);
  }
  EXPECT_THROW(
      {
        for (int i = 0; i < 100'000; ++i) offload::sync(1, fn<&on_device>, 1);
      },
      node_failure);
  EXPECT_EQ(offload::sync(2, fn<&on_device>, 3), 3) << "the other device goes on";
}

TEST(device_nodes, a_context_whose_calls_a_fault_has_lost_is_not_drained) {
  const runtime rt(nodes("cuda-emulated"));
  offload::context queue(1);
  auto lost = offload::async(queue, fn<&faults>, 1);
  auto behind = offload::async(queue, fn<&on_device>, 1);
  EXPECT_THROW(queue.drain(), node_failure);
  EXPECT_THROW(lost.get(), node_failure);
  EXPECT_THROW(behind.get(), node_failure);
}

/// A busy machine may not begin the function before its deadline: then it gets a longer one.
TEST(device_nodes, end_when_a_function_does_not) {
  const runtime rt(nodes("cuda-emulated/watchdog=500"));
  EXPECT_EQ(offload::sync(1, fn<&on_device>, 1), 1);
  EXPECT_THROW(
      {
        for (auto deadline = 50ms; deadline < 60s; deadline *= 2) {
          EXPECT_THROW(offload::async(offload::within(1, deadline), fn<&never_ends>, 1).get(), deadline_exceeded);
          EXPECT_EQ(offload::sync(1, fn<&on_device>, 1), 1) << "it has not begun";
        }
      },
      node_failure);
}

}  // namespace
