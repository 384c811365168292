// Pinned arrays and memory of emulated GPUs: the bytes are not in messages, ends and deaths while they move, errors.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include <numeric>
#include <optional>

#include "ham/offload/pinned.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t pid_of_target() { return ::getpid(); }

/// Messages between the host and node 1 since it was made.
class traffic_with_gpu {
 public:
  [[nodiscard]] std::uint64_t bytes() const { return now() - before_; }

 private:
  [[nodiscard]] static std::uint64_t now() {
    const offload::peer_statistics all = offload::stats_with(1);
    return all.bytes_sent + all.bytes_received;
  }
  const std::uint64_t before_ = now();
};

/// Enough for the names of bytes, and for what nodes tell each other now and then.
constexpr std::uint64_t few_bytes = 20'000;

class pinned_memory : public testing::TestWithParam<std::string> {
 protected:
  const runtime rt_{nodes("cuda-emulated:1" + GetParam() + ",shm:1")};
};

TEST_P(pinned_memory, is_put_and_got_in_any_size_without_sending_it) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, (std::size_t{2} << 20) + 1, std::size_t{5'000'000}}) {
    offload::pinned<std::uint32_t> here(n);
    const offload::buffer<std::uint32_t> there(1, n);
    for (std::uint32_t round = 0; round < 3; ++round) {
      std::iota(here.begin(), here.end(), round);
      const traffic_with_gpu traffic;
      offload::put(here, there).get();
      std::fill(here.begin(), here.end(), 99U);
      offload::get(there, here).get();
      EXPECT_LT(traffic.bytes(), few_bytes) << n;
      bool same = true;
      for (std::size_t i = 0; i < n; ++i) same = same && here[i] == i + round;
      EXPECT_TRUE(same) << n << ", round " << round;
    }
  }
}

TEST_P(pinned_memory, is_seen_by_who_sends_messages) {
  constexpr std::size_t n = 300'000;
  offload::pinned<std::uint32_t> here(n);
  std::iota(here.begin(), here.end(), 7U);
  for (const node_t node : {1, 2, 0}) {
    const offload::buffer<std::uint32_t> there(node, n);
    offload::put(here.data() + 5, there.ptr(), n - 5).get();
    std::vector<std::uint32_t> got(n - 5);
    const traffic_with_gpu traffic;
    offload::get(there.ptr(), got.data(), got.size()).get();
    if (node == 1 && GetParam() != "/memory=shared") {
      EXPECT_GT(traffic.bytes(), 4 * got.size()) << "what is not pinned is sent";
    }
    EXPECT_TRUE(std::equal(got.begin(), got.end(), here.begin() + 5)) << node;
  }
}

TEST_P(pinned_memory, stays_when_it_ends_before_its_transfer) {
  if (GetParam() == "/memory=shared") GTEST_SKIP() << "the host copies, as from any other memory";
  constexpr std::size_t n = 3'000'000;
  const offload::buffer<std::uint32_t> there(1, n);
  std::optional<offload::pinned<std::uint32_t>> here(std::in_place, n);
  std::iota(here->begin(), here->end(), 1U);
  auto put = offload::put(*here, there);
  here.reset();
  offload::pinned<std::uint32_t> other(n);
  std::fill(other.begin(), other.end(), 0U);
  put.get();
  std::vector<std::uint32_t> got(n);
  offload::get(there.ptr(), got.data(), n).get();
  bool same = true;
  for (std::size_t i = 0; i < n; ++i) same = same && got[i] == i + 1;
  EXPECT_TRUE(same);
}

TEST_P(pinned_memory, is_used_by_many_threads_and_in_many_transfers_at_once) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      constexpr std::size_t n = 50'000;
      constexpr std::size_t parts = 10;
      offload::pinned<std::uint32_t> here(n * parts);
      std::iota(here.begin(), here.end(), i);
      const offload::buffer<std::uint32_t> there(1, n * parts);
      std::vector<offload::future<void>> all;
      for (std::size_t part = 0; part < parts; ++part)
        all.push_back(offload::put(here.data() + part * n, there.ptr() + static_cast<std::ptrdiff_t>(part * n), n));
      for (auto& one : all) one.get();
      offload::pinned<std::uint32_t> back(n * parts);
      offload::get(there, back).get();
      EXPECT_TRUE(std::equal(back.begin(), back.end(), here.begin()));
    });
  }
  for (std::thread& one : threads) one.join();
}

std::string name_of_link(const testing::TestParamInfo<std::string>& info) {
  if (info.param.find("shared") != std::string::npos) return "mapped_by_the_host";
  return info.param.empty() ? "at_once" : "behind_a_link";
}
INSTANTIATE_TEST_SUITE_P(links, pinned_memory,
                         testing::Values("", "/read=20000/write=10000/bandwidth=4000", "/memory=shared"), name_of_link);

TEST(pinned_memory_of_a_host, is_checked_by_the_gpu) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::pinned<std::uint32_t> here(1000);
  const offload::buffer<std::uint32_t> there(1, 100);
  EXPECT_THROW(offload::put(here.data(), there.ptr(), 101).get(), buffer_error);
  EXPECT_THROW(offload::get(there.ptr(), here.data(), 101).get(), buffer_error);
  EXPECT_THROW(offload::put(here.data(), there.ptr(), offload::block{2, 60, 60, 61}).get(), buffer_error);
  const auto freed = offload::allocate<std::uint32_t>(1, 100);
  offload::free(freed);
  EXPECT_THROW(offload::put(here.data(), freed, 10).get(), buffer_error);
  EXPECT_NO_THROW(offload::put(here.data(), there.ptr(), 100).get());
}

TEST(pinned_memory_of_a_host, is_the_hosts_again_when_the_gpu_dies) {
  const runtime rt(nodes("cuda-emulated:1/bandwidth=10"));
  const pid_t pid = offload::sync(1, fn<&pid_of_target>);
  offload::pinned<char> here(std::size_t{32} << 20);
  std::fill(here.begin(), here.end(), 'a');
  const offload::buffer<char> there(1, here.size());
  auto put = offload::put(here, there);
  auto get = offload::get(there, here);
  ::kill(pid, SIGKILL);
  EXPECT_THROW(put.get(), node_failure);
  EXPECT_THROW(get.get(), node_failure);
  std::fill(here.begin(), here.end(), 'b');
  offload::pinned<char> other(here.size());
  EXPECT_NE(other.data(), here.data());
}

}  // namespace
