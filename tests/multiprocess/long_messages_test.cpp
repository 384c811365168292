// Long arguments and results over shared memory: through the memory that both sides map, and what happens when there is
// none, too little of it, or the other side goes.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <deque>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "multiprocess/support.hpp"

namespace {

using namespace ham;
using namespace ham::test;

constexpr std::size_t mebi = std::size_t{1} << 20;

std::vector<std::uint64_t> numbers(std::size_t bytes, std::uint64_t first) {
  std::vector<std::uint64_t> result(bytes / sizeof(std::uint64_t));
  std::iota(result.begin(), result.end(), first);
  return result;
}
std::uint64_t sum(std::span<const std::uint64_t> of) { return std::accumulate(of.begin(), of.end(), std::uint64_t{0}); }
std::vector<std::uint64_t> make(std::size_t bytes, std::uint64_t first) { return numbers(bytes, first); }
std::vector<std::uint64_t> echo(const std::vector<std::uint64_t>& what) { return what; }
std::uint64_t sum_elsewhere(node_t node, const std::vector<std::uint64_t>& what) {
  return offload::sync(node, fn<&sum>, what);
}
/// Sends as much back before it answers: both directions are busy at once.
std::uint64_t call_back(const std::vector<std::uint64_t>& what) { return offload::sync(0, fn<&sum>, what); }

/// Shared memory in RAM of this process, in bytes.
std::size_t shared_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssShmem:")) return std::stoull(line.substr(9)) << 10;
  }
  return 0;
}
std::size_t resident_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

void exchange(std::size_t largest) {
  for (std::size_t bytes = 16 << 10; bytes <= largest; bytes = bytes * 3 / 2 / 8 * 8) {
    const auto sent = numbers(bytes, bytes);
    ASSERT_EQ(offload::sync(1, fn<&sum>, sent), sum(sent)) << bytes;
    ASSERT_EQ(offload::sync(1, fn<&make>, bytes, std::uint64_t{7}), numbers(bytes, 7)) << bytes;
    ASSERT_EQ(offload::sync(1, fn<&echo>, sent), sent) << bytes;
  }
}

TEST(long_messages, of_all_sizes) {
  runtime rt(nodes("shm:1"));
  exchange(sanitized() ? 8 * mebi : 48 * mebi);
}

TEST(long_messages, between_targets_and_in_both_directions) {
  runtime rt(nodes("shm:2"));
  const auto sent = numbers(3 * mebi, 5);
  EXPECT_EQ(offload::sync(1, fn<&sum_elsewhere>, node_t{2}, sent), sum(sent));
  std::deque<offload::future<std::uint64_t>> all;
  for (int i = 0; i < 20; ++i) all.push_back(offload::async(1 + i % 2, fn<&call_back>, sent));
  for (auto& one : all) EXPECT_EQ(one.get(), sum(sent));
}

TEST(long_messages, many_under_way_keep_their_order) {
  runtime rt(nodes("shm:1"));
  static std::uint64_t last = 0;
  const std::size_t bytes = 4 * mebi;
  std::deque<offload::future<bool>> all;
  for (std::uint64_t i = 1; i <= (sanitized() ? 60 : 300); ++i) {  // more than there is room for, some of them small
    const auto sent = numbers(i % 3 == 0 ? 64 : bytes, i);
    all.push_back(offload::async(
        1,
        [](const std::vector<std::uint64_t>& got) {
          const bool next = got.front() == last + 1;
          last = got.front();
          return next;
        },
        sent));
  }
  for (auto& one : all) EXPECT_TRUE(one.get());
}

TEST(long_messages, a_batch_and_a_context) {
  runtime rt(nodes("shm:1"));
  const auto sent = numbers(mebi, 1);
  offload::batch together(1);
  auto first = together.add(fn<&sum>, sent);
  auto second = together.add(fn<&echo>, sent);
  together.submit();
  EXPECT_EQ(first.get(), sum(sent));
  EXPECT_EQ(second.get(), sent);
  offload::context in(1);
  EXPECT_EQ(offload::async(in, fn<&echo>, sent).get(), sent);
}

TEST(long_messages, their_memory_is_given_back) {
  if (sanitized()) GTEST_SKIP() << "the sanitizer keeps memory";
  runtime rt(nodes("shm:1"));
  const auto sent = numbers(32 * mebi, 1);
  const std::size_t target_before = offload::sync(1, fn<&resident_now>);
  const std::size_t before = shared_now();
  EXPECT_EQ(offload::sync(1, fn<&echo>, sent), sent);
  EXPECT_GE(shared_now(), before + 32 * mebi);
  EXPECT_TRUE(eventually([&] {
    offload::sync(1, [] { return 0; });  // who never waits gives nothing back
    std::this_thread::sleep_for(100ms);
    offload::async(1, [] { std::this_thread::sleep_for(20ms); }).get();
    return shared_now() < before + 8 * mebi && offload::sync(1, fn<&resident_now>) < target_before + 16 * mebi;
  }));
}

TEST(long_messages, a_target_that_is_killed_in_the_middle) {
  for (int round = 0; round < rounds(sanitized() ? 2 : 5); ++round) {
    runtime rt(nodes("shm:2"));
    const auto sent = numbers(8 * mebi, 1);
    EXPECT_EQ(offload::sync(1, fn<&sum>, sent), sum(sent));
    const auto pid = static_cast<pid_t>(offload::sync(1, [] { return static_cast<int>(::getpid()); }));
    std::deque<offload::future<std::uint64_t>> all;
    for (int i = 0; i < 8; ++i) all.push_back(offload::async(1, fn<&sum>, sent));
    ::kill(pid, SIGKILL);
    int failed = 0;
    for (auto& one : all) {
      try {
        EXPECT_EQ(one.get(), sum(sent));
      } catch (const node_failure&) {
        ++failed;
      }
    }
    EXPECT_THROW(offload::sync(1, fn<&sum>, sent), node_failure);
    EXPECT_EQ(offload::sync(2, fn<&sum>, sent), sum(sent));
    RecordProperty("failed", failed);
  }
}

/// This process has so many addresses left: too few for the memory of connections to come.
void limit_addresses() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmSize:")) continue;
    const rlimit limit{(std::stoull(line.substr(7)) << 10) + 900 * mebi, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
  }
}

/// The same, in pieces: the limits of these processes leave no room for the memory.
int exchange_little() {
  runtime rt(nodes("shm:1"));
  exchange(2 * mebi);
  return testing::Test::HasFailure() ? 1 : 0;
}
const scenario small_files("small_files", [] {
  const rlimit limit{64 * mebi, 64 * mebi};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? exchange_little() : 2;
});
const scenario few_addresses("few_addresses", [] {
  limit_addresses();
  return exchange_little();
});

int ends_well(const char* name) { return host_process(name).wait(); }

TEST(long_messages, go_in_pieces_where_files_are_limited) { EXPECT_EQ(ends_well("small_files"), 0); }

TEST(long_messages, go_in_pieces_where_addresses_are_limited) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer needs addresses";
  EXPECT_EQ(ends_well("few_addresses"), 0);
}

TEST(long_messages, go_in_pieces_if_one_of_two_has_no_addresses) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer needs addresses";
  runtime rt(nodes("shm:2"));
  offload::sync(1, fn<&limit_addresses>);
  const auto sent = numbers(3 * mebi, 5);
  EXPECT_EQ(offload::sync(1, fn<&sum_elsewhere>, node_t{2}, sent), sum(sent));
  EXPECT_EQ(offload::sync(2, fn<&sum_elsewhere>, node_t{1}, sent), sum(sent));
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
