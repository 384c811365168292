// Memory of emulated GPUs: put, get and copy by messages, what device functions find there, and errors.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>

#include "support.hpp"

#include <numeric>
#include <optional>

using namespace ham;
using namespace ham::test;

namespace device_memory_test {

std::uint64_t total(offload::buffer_ptr<const std::uint32_t> of, std::size_t n) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < n; ++i) result += of[i];
  return result;
}
void doubles(offload::buffer_ptr<std::uint32_t> of, std::size_t n) {
  for (std::size_t i = device::rank(); i < n; i += device::size()) of[i] *= 2;
  device::sync();
}

}  // namespace device_memory_test

HAM_DEVICE_FUNCTION(device_memory_test::total, thread)
HAM_DEVICE_FUNCTION(device_memory_test::doubles, block)

namespace {

using namespace device_memory_test;

std::vector<std::uint32_t> counted(std::size_t n, std::uint32_t from = 1) {
  std::vector<std::uint32_t> result(n);
  std::iota(result.begin(), result.end(), from);
  return result;
}

pid_t pid_here() { return ::getpid(); }

/// What an ordinary function of a node finds out about memory of its device.
std::string reads_by_span(offload::buffer_span<const std::uint32_t> of) {
  try {
    return std::to_string(of.local()[0]);
  } catch (const buffer_error& refused) {
    return refused.what();
  }
}
std::uint64_t reads_by_get(offload::buffer_ptr<const std::uint32_t> of, std::size_t n) {
  std::vector<std::uint32_t> here(n);
  offload::get_sync(of, here.data(), n);
  return std::accumulate(here.begin(), here.end(), std::uint64_t{0});
}
void writes_by_put(offload::buffer_ptr<std::uint32_t> to, std::uint32_t value) { offload::put_sync(&value, to, 1); }
/// Copies from memory of this node's device to other memory, and back behind it.
void copies(offload::buffer_ptr<std::uint32_t> own, offload::buffer_ptr<std::uint32_t> other, std::size_t n) {
  offload::copy(own, other, n).get();
  offload::copy(other, own + n, n).get();
}

class device_memory : public testing::TestWithParam<std::string> {
 protected:
  const runtime rt_{nodes("cuda-emulated:2" + GetParam() + ",shm:1")};
};

TEST_P(device_memory, is_put_and_got_in_any_size) {
  for (const std::size_t n : {1U, 3U, 1000U, (1U << 18U) - 1, (1U << 18U) + 1, 5'000'000U}) {
    const auto sent = counted(n);
    const offload::buffer<std::uint32_t> there(1, n);
    offload::put(sent.data(), there.ptr(), n).get();
    std::vector<std::uint32_t> got(n);
    offload::get(there.ptr(), got.data(), n).get();
    EXPECT_EQ(got, sent) << n;
  }
}

TEST_P(device_memory, is_what_device_functions_work_on) {
  constexpr std::size_t n = 700'000;
  const auto sent = counted(n);
  const std::uint64_t expected = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
  const offload::buffer<std::uint32_t> there(2, n);
  offload::put(sent.data(), there.ptr(), n).get();
  EXPECT_EQ(offload::sync(2, fn<&total>, there.ptr(), n), expected);
  offload::sync(2, fn<&doubles>, there.ptr(), n);
  std::vector<std::uint32_t> got(n);
  offload::get(there.ptr(), got.data(), n).get();
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), std::uint64_t{0}), 2 * expected);
}

TEST_P(device_memory, is_copied_to_and_from_memory_of_any_node) {
  constexpr std::size_t n = 2'000'001;
  const auto sent = counted(n);
  for (const auto& [from, to] : {std::pair{1, 2}, {1, 3}, {3, 1}, {0, 1}, {1, 0}, {2, 2}}) {
    const offload::buffer<std::uint32_t> source(from, n);
    const offload::buffer<std::uint32_t> target(to, n);
    offload::put(sent.data(), source.ptr(), n).get();
    offload::copy(source.ptr(), target.ptr(), n).get();
    std::vector<std::uint32_t> got(n);
    offload::get(target.ptr(), got.data(), n).get();
    EXPECT_EQ(got, sent) << from << " to " << to;
  }
}

TEST_P(device_memory, is_copied_by_the_functions_of_its_node) {
  constexpr std::size_t n = 400'000;
  const auto sent = counted(n);
  for (const node_t other : {0, 1, 2, 3}) {
    const offload::buffer<std::uint32_t> own(1, 2 * n);
    const offload::buffer<std::uint32_t> there(other, n);
    offload::put(sent.data(), own.ptr(), n).get();
    offload::sync(1, fn<&copies>, own.ptr(), there.ptr(), n);
    std::vector<std::uint32_t> got(n);
    offload::get(own.ptr() + n, got.data(), n).get();
    EXPECT_EQ(got, sent) << other;
  }
}

TEST_P(device_memory, is_copied_where_source_and_target_overlap) {
  constexpr std::size_t n = 1'000'000;
  for (const auto& [from, to] : {std::pair{0U, 300U}, {300U, 0U}, {0U, 400'000U}, {400'000U, 0U}}) {
    auto expected = counted(2 * n);
    const offload::buffer<std::uint32_t> there(1, 2 * n);
    offload::put(expected.data(), there.ptr(), 2 * n).get();
    offload::copy(there.ptr() + from, there.ptr() + to, n).get();
    std::memmove(expected.data() + to, expected.data() + from, n * sizeof expected[0]);
    std::vector<std::uint32_t> got(2 * n);
    offload::get(there.ptr(), got.data(), 2 * n).get();
    EXPECT_EQ(got, expected) << from << " to " << to;
  }
}

TEST_P(device_memory, takes_and_gives_blocks_of_rows) {
  struct shape {
    std::size_t rows, columns, pitch;
  };
  for (const auto& [rows, columns, pitch] :
       {shape{3, 5, 8}, {1000, 7, 9}, {70, 20'000, 20'001}, {2, 600'000, 600'100}}) {
    const auto sent = counted(rows * pitch);
    std::vector<std::uint32_t> expected(rows * pitch, 7);
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                  expected.begin() + static_cast<std::ptrdiff_t>(row * pitch));
    const std::vector<std::uint32_t> sevens(rows * pitch, 7);
    const offload::buffer<std::uint32_t> first(1, rows * pitch);
    const offload::buffer<std::uint32_t> second(2, rows * pitch);
    const offload::buffer<std::uint32_t> beside(2, rows * pitch);
    for (const auto* one : {&first, &second, &beside}) offload::put(sevens.data(), one->ptr(), sevens.size()).get();

    offload::put(sent.data(), first.ptr(), offload::block{rows, columns, 0, pitch}).get();
    offload::copy(first.ptr(), second.ptr(), offload::block{rows, columns, pitch, pitch}).get();
    offload::copy(second.ptr(), beside.ptr(), offload::block{rows, columns, pitch, pitch}).get();
    std::vector<std::uint32_t> got(rows * pitch);
    for (const auto* one : {&first, &second, &beside}) {
      offload::get(one->ptr(), got.data(), got.size()).get();
      EXPECT_EQ(got, expected) << rows << " rows of " << columns << " on node " << one->node();
    }
    std::vector<std::uint32_t> packed(rows * columns);
    offload::get(beside.ptr(), packed.data(), offload::block{rows, columns, pitch, 0}).get();
    EXPECT_TRUE(std::equal(packed.begin(), packed.end(), sent.begin()));
  }
}

TEST_P(device_memory, moves_while_functions_run_on_device_and_processor) {
  constexpr std::size_t n = 1'500'000;
  constexpr std::size_t part = 1000;
  const auto sent = counted(n);
  const offload::buffer<std::uint32_t> moved(1, n);
  const offload::buffer<std::uint32_t> worked_on(1, part);
  offload::put(sent.data(), worked_on.ptr(), part).get();
  const pid_t pid = offload::sync(1, fn<&pid_here>);
  std::vector<std::uint32_t> got(n);
  for (int round = 0; round < 5; ++round) {
    auto put = offload::put(sent.data(), moved.ptr(), n);
    EXPECT_EQ(offload::sync(1, fn<&total>, worked_on.ptr(), part), part * (part + 1) / 2);
    EXPECT_EQ(offload::sync(1, fn<&pid_here>), pid);
    put.get();
    auto get = offload::get(moved.ptr(), got.data(), n);
    EXPECT_EQ(offload::sync(1, fn<&total>, worked_on.ptr(), part), part * (part + 1) / 2);
    get.get();
    EXPECT_EQ(got, sent);
    std::fill(got.begin(), got.end(), 0);
  }
}

TEST_P(device_memory, is_used_by_many_threads) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      constexpr std::size_t n = 300'000;
      const auto sent = counted(n, 1000 * i);
      const offload::buffer<std::uint32_t> there(1 + static_cast<node_t>(i % 2), n);
      std::vector<std::uint32_t> got(n);
      for (int round = 0; round < 5; ++round) {
        offload::put(sent.data(), there.ptr(), n).get();
        offload::get(there.ptr(), got.data(), n).get();
        EXPECT_EQ(got, sent);
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

std::string name_of_kind(const testing::TestParamInfo<std::string>& info) {
  if (info.param.find("shared") != std::string::npos) return "shared";
  return info.param.find("bandwidth") != std::string::npos ? "behind_a_link" : "of_the_device";
}
INSTANTIATE_TEST_SUITE_P(kinds, device_memory,
                         testing::Values("", "/read=20000/write=10000/bandwidth=4000", "/memory=shared"), name_of_kind);

TEST(memory_of_a_device, is_not_memory_of_its_process) {
  const runtime rt(nodes("cuda-emulated:1"));
  constexpr std::size_t n = 10'000;
  const auto sent = counted(n);
  const offload::buffer<std::uint32_t> there(1, n);
  offload::put(sent.data(), there.ptr(), n).get();
  const std::string refused = offload::sync(1, fn<&reads_by_span>, offload::buffer_span<const std::uint32_t>(there));
  EXPECT_NE(refused.find("on its device"), std::string::npos) << refused;
  EXPECT_EQ(offload::sync(1, fn<&reads_by_get>, offload::buffer_ptr<const std::uint32_t>(there.ptr()), n),
            n * (n + 1) / 2);
  offload::sync(1, fn<&writes_by_put>, there.ptr() + 3, 100U);
  EXPECT_EQ(offload::sync(1, fn<&total>, offload::buffer_ptr<const std::uint32_t>(there.ptr()), n),
            n * (n + 1) / 2 - 4 + 100);
}

TEST(memory_of_a_device, has_the_bytes_that_a_call_has_brought) {
  const runtime rt(nodes("cuda-emulated:1/write=50000"));
  const auto sent = counted(3000);
  const offload::buffer<std::uint32_t> there(1, 3000);
  auto result = offload::put(
      sent.data(), there.ptr(), sent.size(),
      offload::then_call(fn<&reads_by_get>, offload::buffer_ptr<const std::uint32_t>(there.ptr()), sent.size()));
  EXPECT_EQ(result.get(), 3000U * 3001 / 2);
}

TEST(memory_of_a_device, has_the_bytes_before_a_device_function_with_which_they_come) {
  const runtime rt(nodes("cuda-emulated:1/write=50000,shm:1"));
  for (const node_t node : {1, 2}) {
    const offload::buffer<std::uint32_t> there(node, 3000);
    for (std::uint32_t from = 1; from <= 20; ++from) {
      const auto sent = counted(3000, from);
      auto result = offload::put(
          sent.data(), there.ptr(), sent.size(),
          offload::then_call(fn<&total>, offload::buffer_ptr<const std::uint32_t>(there.ptr()), sent.size()));
      EXPECT_EQ(result.get(), std::accumulate(sent.begin(), sent.end(), std::uint64_t{0})) << node;
    }
  }
}

TEST(memory_of_a_device, that_was_not_allocated_is_refused) {
  const runtime rt(nodes("cuda-emulated:1"));
  const offload::buffer<std::uint32_t> there(1, 100);
  std::vector<std::uint32_t> got(200);
  const auto refused = [&](auto from, std::size_t n) {
    try {
      offload::get(from, got.data(), n).get();
    } catch (const buffer_error& why) {
      return std::string(why.what());
    }
    return std::string("it was not refused");
  };
  EXPECT_NE(refused(there.ptr(), 101).find("outside of the allocation"), std::string::npos);
  const offload::buffer_ptr<std::uint32_t> without_tag(there.ptr().get(), 1);
  EXPECT_NE(refused(without_tag, 10).find("memory of the device"), std::string::npos);
  const auto freed = offload::allocate<std::uint32_t>(1, 100);
  offload::free(freed);
  EXPECT_NE(refused(freed, 10).find("was freed"), std::string::npos);
  EXPECT_THROW(offload::put(got.data(), freed, 10).get(), buffer_error);
  EXPECT_THROW(offload::put(got.data(), freed, offload::block{2, 3, 4, 5}).get(), buffer_error);
  EXPECT_THROW(offload::copy(freed, there.ptr(), 10).get(), buffer_error);
  EXPECT_THROW(offload::free(freed), buffer_error);
  EXPECT_THROW(offload::free(there.ptr() + 1), buffer_error);
  EXPECT_NO_THROW(offload::put(got.data(), there.ptr(), 100).get());
}

TEST(memory_of_a_device, ends) {
  const runtime rt(nodes("cuda-emulated:1/arena=8"));
  constexpr std::size_t mib = std::size_t{1} << 20;
  EXPECT_THROW(static_cast<void>(offload::allocate<char>(1, 9 * mib)), std::bad_alloc);
  std::optional<offload::buffer<char>> first(std::in_place, 1, 5 * mib);
  EXPECT_THROW(static_cast<void>(offload::allocate<char>(1, 5 * mib)), std::bad_alloc);
  first.reset();
  const offload::buffer<char> all(1, 8 * mib);
  const std::vector<char> sent(8 * mib, 'x');
  std::vector<char> got(8 * mib);
  offload::put(sent.data(), all.ptr(), sent.size()).get();
  offload::get(all.ptr(), got.data(), got.size()).get();
  EXPECT_EQ(got, sent);
}

TEST(memory_of_a_device, of_a_process_that_dies_fails_its_transfers) {
  const runtime rt(nodes("cuda-emulated:1/bandwidth=10"));
  const pid_t pid = offload::sync(1, fn<&pid_here>);
  const std::vector<char> sent(std::size_t{32} << 20);
  const offload::buffer<char> there(1, sent.size());
  auto put = offload::put(sent.data(), there.ptr(), sent.size());
  ::kill(pid, SIGKILL);
  EXPECT_THROW(put.get(), node_failure);
}

}  // namespace
