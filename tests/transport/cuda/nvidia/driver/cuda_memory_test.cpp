// Memory of a GPU over a fake CUDA runtime: what there is of it, copies, faults, arenas of other processes.
#include "transport/cuda/nvidia/driver/cuda_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "fake_runtime.hpp"
#include "ham/error.hpp"
#include "transport/cuda/geometry.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

using test::fake_gpu;
using test::leaves_an_error;

constexpr std::size_t mib = std::size_t{1} << 20;

/// What a handle of the driver's has inside.
struct named_arena {
  std::uint32_t kind = 0x63756461;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;
  cudaIpcMemHandle_t memory{};
};

class cuda_memory_on_fake : public testing::Test {
 protected:
  static std::byte* at(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  }
  static std::string refusal_of(std::size_t bytes, std::uint32_t nodes = 1) {
    try {
      static_cast<void>(make_cuda_memory(bytes, nodes));
      return "it is not refused";
    } catch (const config_error& problem) {
      EXPECT_FALSE(leaves_an_error());
      return problem.what();
    }
  }
  static std::vector<std::byte> counted(std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(i % 251);
    return result;
  }

  fake_gpu gpu;
};

TEST_F(cuda_memory_on_fake, is_as_much_as_was_asked_for) {
  const auto memory = make_cuda_memory(5 * mib, 1);
  EXPECT_EQ(memory->arena().bytes, 5 * mib);
  EXPECT_EQ(memory->arena().address % 256, 0U);
  EXPECT_EQ(gpu.free_bytes, 59 * mib);
  EXPECT_GE(memory->staging().size(), mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->staging().data()) % 64, 0U);
}

TEST_F(cuda_memory_on_fake, is_a_share_if_nothing_is_asked_for) {
  EXPECT_EQ(make_cuda_memory(0, 1)->arena().bytes, arena_share(64 * mib, 64 * mib, 1));
  gpu.free_bytes = 64 * mib;
  for (int node = 0; node < 4; ++node)
    EXPECT_EQ(make_cuda_memory(0, 4)->arena().bytes, arena_share(64 * mib, 64 * mib, 4)) << node;
}

TEST_F(cuda_memory_on_fake, is_refused_if_there_is_none) {
  EXPECT_NE(refusal_of(65 * mib).find("65 MiB of the GPU's memory (arena in HAM_NODES)"), std::string::npos);
  EXPECT_NE(refusal_of(65 * mib).find("CUDA error 2"), std::string::npos);
  gpu.free_bytes = mib;
  EXPECT_NE(refusal_of(0).find("no memory left"), std::string::npos);
}

/// Each of the calls that it makes of the runtime, in turn.
TEST_F(cuda_memory_on_fake, is_refused_if_anything_is_not_to_be_had) {
  unsigned number = 0;
  unsigned refused = 0;
  for (;; ++number) {
    gpu.free_bytes = 64 * mib;
    gpu.fail_any(cudaErrorMemoryAllocation, number);
    try {
      const auto memory = make_cuda_memory(0, 1);
      if (gpu.fails_any()) break;  // it has made no so many calls
      EXPECT_EQ(memory->export_arena().size, 0U) << "only that of processes can be missing: " << number;
    } catch (const config_error& problem) {
      ++refused;
      EXPECT_NE(std::string(problem.what()).find("no room left"), std::string::npos) << number << problem.what();
    }
    EXPECT_FALSE(leaves_an_error()) << number;
  }
  EXPECT_EQ(refused + 1, number);
  EXPECT_GT(refused, 64U) << "an event for each of 64 copies, and more";
}

TEST_F(cuda_memory_on_fake, is_copied_to_and_from) {
  const auto memory = make_cuda_memory(mib, 1);
  const std::uint64_t arena = memory->arena().address;
  std::vector<std::byte> sent = counted(1000);
  EXPECT_EQ(memory->start({device_copy::direction::to_device, arena + 100, sent.data(), sent.size()}), 1U);
  EXPECT_EQ(memory->start_within(arena + 5000, arena + 100, 1000), 2U);
  EXPECT_EQ(memory->start_fill(arena + 5000, std::byte{9}, 10), 3U);
  std::vector<std::byte> got(1000);
  EXPECT_EQ(memory->start({device_copy::direction::to_host, arena + 5000, got.data(), got.size()}), 4U);
  EXPECT_EQ(memory->finished(), 4U);
  std::fill_n(sent.begin(), 10, std::byte{9});
  EXPECT_EQ(got, sent);
  EXPECT_EQ(memory->failure(), "");
}

TEST_F(cuda_memory_on_fake, is_copied_by_rows) {
  const auto memory = make_cuda_memory(mib, 1);
  const std::uint64_t arena = memory->arena().address;
  const std::vector<std::byte> sent = counted(12);
  std::memset(at(arena), 0, 100);
  std::vector<std::byte> packed = sent;
  memory->start({device_copy::direction::to_device, arena, packed.data(), 4, 3, 20});
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(std::memcmp(at(arena) + row * 20, sent.data() + row * 4, 4), 0) << row;
    EXPECT_EQ(at(arena)[row * 20 + 4], std::byte{0}) << row;
  }
  std::vector<std::byte> got(12);
  memory->start({device_copy::direction::to_host, arena, got.data(), 4, 3, 20});
  EXPECT_EQ(got, sent);
  EXPECT_EQ(memory->finished(), 2U);
}

TEST_F(cuda_memory_on_fake, says_which_copies_are_over) {
  const auto memory = make_cuda_memory(mib, 1);
  gpu.hold();
  for (std::uint64_t i = 0; i < 5; ++i) memory->start_fill(memory->arena().address, std::byte{1}, 8);
  EXPECT_EQ(memory->finished(), 0U);
  gpu.let_go(2);
  EXPECT_EQ(memory->finished(), 2U);
  gpu.let_go(1);
  EXPECT_EQ(memory->finished(), 3U);
  EXPECT_EQ(memory->start_fill(memory->arena().address, std::byte{1}, 8), 6U);
  gpu.let_go();
  EXPECT_EQ(memory->finished(), 6U);
}

/// There are 64 events. Copies beyond are over when all are; the next ones have events again.
TEST_F(cuda_memory_on_fake, has_any_number_of_copies_under_way) {
  const auto memory = make_cuda_memory(mib, 1);
  const std::uint64_t to = memory->arena().address;
  gpu.hold();
  for (int round = 0; round < 3; ++round) {
    const auto before = static_cast<std::uint64_t>(round) * 100;
    for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_EQ(memory->start_fill(to, std::byte{1}, 8), before + i);
    gpu.let_go(10);
    EXPECT_EQ(memory->finished(), before + 10);
    gpu.let_go(60);
    EXPECT_EQ(memory->finished(), before + 64) << "that is what is known";
    gpu.let_go(29);
    EXPECT_EQ(memory->finished(), before + 64);
    gpu.let_go(1);
    EXPECT_EQ(memory->finished(), before + 100);
  }
}

TEST_F(cuda_memory_on_fake, says_what_has_failed) {
  using start = void (*)(device_memory&, std::byte*);
  const std::pair<const char*, start> all[] = {
      {"cudaSetDevice", [](device_memory& of, std::byte*) { of.start_fill(of.arena().address, std::byte{1}, 8); }},
      {"cudaEventRecord", [](device_memory& of, std::byte*) { of.start_fill(of.arena().address, std::byte{1}, 8); }},
      {"cudaMemsetAsync", [](device_memory& of, std::byte*) { of.start_fill(of.arena().address, std::byte{1}, 8); }},
      {"cudaMemcpyAsync",
       [](device_memory& of, std::byte* host) {
         of.start({device_copy::direction::to_device, of.arena().address, host, 8});
       }},
      {"cudaMemcpyAsync",
       [](device_memory& of, std::byte*) { of.start_within(of.arena().address, of.arena().address + 8, 8); }},
      {"cudaMemcpy2DAsync",
       [](device_memory& of, std::byte* host) {
         of.start({device_copy::direction::to_host, of.arena().address, host, 8, 2, 16});
       }},
      {"cudaMemcpyAsync",
       [](device_memory& of, std::byte*) {
         of.start_from_peer({of.arena().address, of.arena().address + 8, 8});
       }},
  };
  for (const auto& [function, begin] : all) {
    const auto memory = make_cuda_memory(mib, 1);
    memory->start_fill(memory->arena().address, std::byte{1}, 8);
    EXPECT_EQ(memory->finished(), 1U);
    gpu.fail(function, cudaErrorECCUncorrectable);
    std::array<std::byte, 16> host{};
    begin(*memory, host.data());
    EXPECT_NE(memory->failure().find("memory of the GPU is damaged"), std::string::npos) << function;
    EXPECT_EQ(memory->finished(), 1U) << "no further one is over: " << function;
    EXPECT_EQ(memory->start_fill(memory->arena().address, std::byte{1}, 8), 3U) << "numbers go on: " << function;
    EXPECT_EQ(memory->finished(), 1U) << function;
  }
}

TEST_F(cuda_memory_on_fake, says_that_the_device_is_lost_with_copies_under_way) {
  for (const int copies : {1, 100}) {
    fake_gpu lost;
    const auto memory = make_cuda_memory(mib, 1);
    lost.hold();
    for (int i = 0; i < copies; ++i) memory->start_fill(memory->arena().address, std::byte{1}, 8);
    lost.lose(cudaErrorUnknown);
    EXPECT_EQ(memory->finished(), 0U);
    EXPECT_NE(memory->failure().find("the GPU may be lost"), std::string::npos) << memory->failure();
    lost.let_go();
    EXPECT_EQ(memory->finished(), 0U) << "for good";
  }
}

/// The events are used up: what is behind them is asked of the stream.
TEST_F(cuda_memory_on_fake, says_that_the_device_is_lost_behind_the_last_event) {
  const auto memory = make_cuda_memory(mib, 1);
  gpu.hold();
  for (int i = 0; i < 70; ++i) memory->start_fill(memory->arena().address, std::byte{1}, 8);
  gpu.let_go(64);
  gpu.fail("cudaStreamQuery", cudaErrorUnknown);
  EXPECT_EQ(memory->finished(), 64U);
  EXPECT_NE(memory->failure(), "");
}

TEST_F(cuda_memory_on_fake, locks_pages_of_the_process) {
  const auto memory = make_cuda_memory(mib, 1);
  std::vector<std::byte> pages(4096);
  EXPECT_TRUE(memory->lock_pages(pages));
  gpu.fail("cudaHostRegister", cudaErrorMemoryAllocation);
  EXPECT_FALSE(memory->lock_pages(pages));
  EXPECT_FALSE(leaves_an_error()) << "copies are not to be blamed for it";
  EXPECT_EQ(memory->failure(), "");
  gpu.fail("cudaSetDevice", cudaErrorUnknown);
  EXPECT_FALSE(memory->lock_pages(pages));
  EXPECT_FALSE(leaves_an_error());
}

TEST_F(cuda_memory_on_fake, is_opened_by_other_processes) {
  const auto memory = make_cuda_memory(mib, 1);
  named_arena own;
  ASSERT_TRUE(memory->export_arena().read(own));
  EXPECT_EQ(own.kind, named_arena().kind);
  EXPECT_EQ(own.bytes, mib);

  const named_arena other{.bytes = 3000, .memory = gpu.export_other(5000)};
  {
    const auto opened = memory->open_peer(arena_handle::of(other));
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(opened->bytes(), 3000U) << "what was named";
    EXPECT_EQ(at(opened->address()), gpu.other());
    std::memset(gpu.other(), 3, 5000);
    const std::uint64_t arena = memory->arena().address;
    memory->start_from_peer({opened->address(), arena, 10});
    memory->start_from_peer({opened->address(), arena + 100, 4, 3, 8, 16});
    EXPECT_EQ(memory->finished(), 2U);
    EXPECT_EQ(at(arena)[9], std::byte{3});
    EXPECT_EQ(at(arena)[132], std::byte{3});
  }
  EXPECT_EQ(gpu.calls("cudaIpcCloseMemHandle"), 1U);
}

TEST_F(cuda_memory_on_fake, believes_no_handle) {
  const auto memory = make_cuda_memory(mib, 1);
  const named_arena more{.bytes = 1'000'000, .memory = gpu.export_other(5000)};
  EXPECT_EQ(memory->open_peer(arena_handle::of(more))->bytes(), 5000U) << "CUDA knows how many bytes there are";
  named_arena strange = more;
  strange.kind = 1;
  EXPECT_EQ(memory->open_peer(arena_handle::of(strange)), nullptr);
  EXPECT_EQ(memory->open_peer({}), nullptr);
  EXPECT_EQ(memory->open_peer(arena_handle::of(std::uint64_t{0x63756461})), nullptr) << "of another size";
  named_arena unknown = more;
  std::memset(unknown.memory.reserved, 0x11, sizeof unknown.memory.reserved);
  EXPECT_EQ(memory->open_peer(arena_handle::of(unknown)), nullptr);
  EXPECT_FALSE(leaves_an_error());
  EXPECT_EQ(gpu.calls("cudaIpcCloseMemHandle"), 1U) << "what was not opened is not closed";
}

TEST_F(cuda_memory_on_fake, closes_what_it_cannot_use) {
  const auto memory = make_cuda_memory(mib, 1);
  const named_arena other{.bytes = 3000, .memory = gpu.export_other(5000)};
  gpu.knows_ranges = false;
  EXPECT_EQ(memory->open_peer(arena_handle::of(other)), nullptr) << "how large it is cannot be known";
  EXPECT_EQ(gpu.calls("cudaIpcCloseMemHandle"), 1U);
  gpu.knows_ranges = true;
  auto opened = memory->open_peer(arena_handle::of(other));
  ASSERT_NE(opened, nullptr);
  gpu.fail("cudaIpcCloseMemHandle", cudaErrorUnknown);
  opened.reset();
  EXPECT_FALSE(leaves_an_error());
}

}  // namespace
}  // namespace ham::transport::cuda
