// What waits for the resident kernel to be away: pages of other processes are locked then.
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "ham/device.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/stepped_memory.hpp"
#include "transport/cuda/emulated_device.hpp"

namespace ham::inline v1::device_residency_functions {

/// Words of this process.
std::uint64_t begun = 0;

/// Runs until the word is not zero.
int waits_for_word(std::uint64_t address) {
  const auto* const word = reinterpret_cast<const std::uint64_t*>(address);
  __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) {
  }
  return 7;
}

}  // namespace ham::device_residency_functions

HAM_DEVICE_FUNCTION(ham::device_residency_functions::waits_for_word, thread)

namespace ham::inline v1::detail {
namespace {

using device_residency_functions::begun;
using device_residency_functions::waits_for_word;

class residency_owner final : public transport::device_owner {
 public:
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    return std::make_unique<transport::cuda::emulated_device>(transport::cuda::geometry{});
  }
  /// The kernel stays as long as a test may take.
  [[nodiscard]] limits device_limits() const noexcept override { return {100'000'000'000, 0}; }
};

/// Node 1 has a device and memory of it.
class device_residency : public testing::Test {
 protected:
  device_residency() {
    auto made = std::make_unique<test::stepped_memory>(1000);
    memory = made.get();
    engine& node =
        *reinterpret_cast<engine*>(offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&current()); }));
    node.memory.use_device(std::make_shared<device_heap>(std::move(made)));
    memory_of_node = node.memory.device();
    locks = &memory_of_node->locks();
    calls = std::make_unique<device_calls>(node, owner);
  }

  runtime job{test::loopback(1)};
  residency_owner owner;
  std::vector<std::byte> pages = std::vector<std::byte>(1000);
  test::stepped_memory* memory;
  device_heap* memory_of_node;
  page_locks* locks;
  std::unique_ptr<device_calls> calls;
};

TEST_F(device_residency, pages_are_locked_before_the_first_call) {
  EXPECT_FALSE(locks->has(pages));
  EXPECT_TRUE(test::eventually([&] { return locks->has(pages); }));
  EXPECT_EQ(memory->locked(), 1U);
}

TEST_F(device_residency, pages_wait_for_the_end_of_a_function_and_not_for_more) {
  std::uint64_t word = 0;
  auto call = offload::async(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)});
  ASSERT_TRUE(test::eventually([&] { return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 0; }));
  EXPECT_FALSE(locks->has(pages));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(memory->locked(), 0U) << "the kernel is there";
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(call.get(), 7);
  EXPECT_TRUE(test::eventually([&] { return locks->has(pages); })) << "the kernel leaves, though its linger is long";
  EXPECT_EQ(offload::sync(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)}), 7)
      << "and comes again";
}

TEST_F(device_residency, arenas_of_other_devices_wait_for_the_end_of_a_function_too) {
  const test::stepped_memory other(1000);
  peer_arenas& arenas = memory_of_node->arenas();
  std::uint64_t word = 0;
  __atomic_store_n(&begun, 0, __ATOMIC_RELEASE);
  auto call = offload::async(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)});
  ASSERT_TRUE(test::eventually([&] { return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 0; }));
  EXPECT_EQ(arenas.ask(5, other.export_arena()), peer_arenas::state::wanted);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(memory->asked_to_open(), 0U) << "the kernel is there";
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(call.get(), 7);
  EXPECT_TRUE(test::eventually([&] { return memory->open() == 1; }));
  memory_of_node->forget_peer(5);
  EXPECT_TRUE(test::eventually([&] { return memory->open() == 0; })) << "the thread is woken";
}

}  // namespace
}  // namespace ham::detail
