// Copies between memory of two emulated GPUs: by the devices, the bytes are in no message; errors and deaths.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>

#include "support.hpp"

#include <numeric>

using namespace ham;
using namespace ham::test;

namespace {

pid_t pid_of_node() { return ::getpid(); }

/// Bytes between the process that executes this and a node so far.
std::uint64_t bytes_with(node_t node) {
  const offload::peer_statistics all = offload::stats_with(node);
  return all.bytes_sent + all.bytes_received;
}

/// Between all of the nodes of a job of two targets since it was made.
class traffic {
 public:
  [[nodiscard]] std::uint64_t bytes() const { return now() - before_; }

 private:
  [[nodiscard]] static std::uint64_t now() {
    return bytes_with(1) + bytes_with(2) + offload::sync(1, fn<&bytes_with>, 2);
  }
  const std::uint64_t before_ = now();
};

/// Enough for the names of bytes, and for what nodes tell each other now and then.
constexpr std::uint64_t few_bytes = 20'000;

std::vector<std::uint32_t> counted(std::size_t n, std::uint32_t from) {
  std::vector<std::uint32_t> result(n);
  std::iota(result.begin(), result.end(), from);
  return result;
}

void copy_by_owner_of_target(offload::buffer_ptr<std::uint32_t> from, offload::buffer_ptr<std::uint32_t> to,
                             std::size_t n) {
  offload::copy(from, to, n).get();
}

/// Copies until that takes few bytes: the first copies go in messages, until the arena is open.
template <class Copy>
[[nodiscard]] bool becomes_a_copy_of_the_device(Copy copy) {
  return eventually([&] {
    const traffic during;
    copy();
    return during.bytes() < few_bytes;
  });
}

class peer_copy : public testing::TestWithParam<std::string> {
 protected:
  const runtime rt_{nodes("cuda-emulated:2" + GetParam())};
};

TEST_P(peer_copy, sends_nothing_of_the_bytes) {
  constexpr std::size_t n = 5'000'001;
  const offload::buffer<std::uint32_t> first(1, n);
  const offload::buffer<std::uint32_t> second(2, n);
  offload::put(counted(n, 1).data(), first.ptr(), n).get();
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(first.ptr(), second.ptr(), n).get(); }));
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(second.ptr(), first.ptr(), n).get(); }));
  for (std::uint32_t round = 0; round < 3; ++round) {
    const auto sent = counted(n, 100 * round);
    offload::put(sent.data(), first.ptr(), n).get();
    const traffic during;
    offload::copy(first.ptr(), second.ptr(), n).get();
    offload::copy(second.ptr() + 1, first.ptr() + 1, n - 1).get();
    offload::sync(2, fn<&copy_by_owner_of_target>, first.ptr(), second.ptr(), n);
    EXPECT_LT(during.bytes(), few_bytes) << round;
    std::vector<std::uint32_t> got(n);
    offload::get(second.ptr(), got.data(), n).get();
    EXPECT_TRUE(got == sent) << round;
  }
}

TEST_P(peer_copy, takes_rows) {
  struct shape {
    std::size_t rows, columns, from_pitch, to_pitch;
  };
  constexpr std::size_t n = 2'500'000;
  const offload::buffer<std::uint32_t> first(1, n);
  const offload::buffer<std::uint32_t> second(2, n);
  const auto sent = counted(n, 5);
  const std::vector<std::uint32_t> zeros(n, 0);
  offload::put(sent.data(), first.ptr(), n).get();
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(first.ptr(), second.ptr(), n).get(); }));
  for (const auto& [rows, columns, from_pitch, to_pitch] :
       {shape{100, 30, 40, 50}, {2, 1'000'000, 1'000'010, 1'200'000}, {1, 5, 5, 5}, {900, 400, 400, 401}}) {
    offload::put(zeros.data(), second.ptr(), n).get();
    const traffic during;
    offload::copy(first.ptr(), second.ptr(), offload::block{rows, columns, from_pitch, to_pitch}).get();
    EXPECT_LT(during.bytes(), few_bytes) << rows;
    std::vector<std::uint32_t> expected(n, 0);
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(row * from_pitch), columns,
                  expected.begin() + static_cast<std::ptrdiff_t>(row * to_pitch));
    std::vector<std::uint32_t> got(n);
    offload::get(second.ptr(), got.data(), n).get();
    EXPECT_TRUE(got == expected) << rows << " rows";
  }
}

TEST_P(peer_copy, is_checked_on_both_sides) {
  constexpr std::size_t n = 100'000;
  const offload::buffer<std::uint32_t> first(1, n);
  const offload::buffer<std::uint32_t> second(2, n);
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(first.ptr(), second.ptr(), n).get(); }));
  const auto sent = counted(n, 5);
  offload::put(sent.data(), second.ptr(), n).get();
  EXPECT_THROW(offload::copy(first.ptr() + 1, second.ptr(), n).get(), buffer_error);
  EXPECT_THROW(offload::copy(first.ptr(), second.ptr() + 1, n).get(), buffer_error);
  const auto freed = offload::allocate<std::uint32_t>(2, n);
  offload::free(freed);
  const offload::buffer<std::uint32_t> again(2, n);  // perhaps in its place
  offload::put(sent.data(), again.ptr(), n).get();
  EXPECT_THROW(offload::copy(first.ptr(), freed, n).get(), buffer_error);
  for (const auto* one : {&second, &again}) {
    std::vector<std::uint32_t> got(n);
    offload::get(one->ptr(), got.data(), n).get();
    EXPECT_TRUE(got == sent);
  }
}

std::string name_of_link(const testing::TestParamInfo<std::string>& info) {
  return info.param.empty() ? "at_once" : "behind_a_link";
}
INSTANTIATE_TEST_SUITE_P(links, peer_copy, testing::Values("", "/read=20000/write=10000/bandwidth=8000"), name_of_link);

TEST(peer_copies_of_devices, with_memory_of_the_process_go_in_messages) {
  const runtime rt(nodes("cuda-emulated:1,cuda-emulated:1/memory=shared,shm:1"));
  constexpr std::size_t n = 1'000'000;
  const auto sent = counted(n, 3);
  for (const auto& [from, to] : {std::pair{1, 2}, {2, 1}, {1, 3}, {3, 1}}) {
    const offload::buffer<std::uint32_t> source(from, n);
    const offload::buffer<std::uint32_t> target(to, n);
    for (int round = 0; round < 3; ++round) {
      offload::put(sent.data(), source.ptr(), n).get();
      offload::copy(source.ptr(), target.ptr(), n).get();
      std::vector<std::uint32_t> got(n);
      offload::get(target.ptr(), got.data(), n).get();
      EXPECT_TRUE(got == sent) << from << " to " << to;
    }
  }
}

/// The process of `dies` is killed while a copy from node 1 to node 2 is under way; the other one goes on.
void kill_in_the_middle(node_t dies) {
  const runtime rt(nodes("cuda-emulated:2/bandwidth=10"));
  constexpr std::size_t n = std::size_t{16} << 20;
  const offload::buffer<char> first(1, n);
  const offload::buffer<char> second(2, n);
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(first.ptr(), second.ptr(), 100'000).get(); }));
  const pid_t pid = offload::sync(dies, fn<&pid_of_node>);
  auto copy = offload::copy(first.ptr(), second.ptr(), n);  // takes 1.6 s
  std::this_thread::sleep_for(20ms);
  ::kill(pid, SIGKILL);
  EXPECT_THROW(copy.get(), node_failure);
  const node_t other = 3 - dies;
  std::vector<char> sent(100'000, 'x');
  std::vector<char> got(sent.size());
  const offload::buffer<char> own(other, sent.size());
  const offload::buffer<char> beside(other, sent.size());
  offload::put(sent.data(), own.ptr(), sent.size()).get();
  offload::copy(own.ptr(), beside.ptr(), sent.size()).get();
  offload::get(beside.ptr(), got.data(), got.size()).get();
  EXPECT_EQ(got, sent);
  EXPECT_THROW(offload::copy(first.ptr(), second.ptr(), 100).get(), node_failure);
}

TEST(peer_copies_of_devices, fail_when_the_node_of_the_source_dies) { kill_in_the_middle(1); }
TEST(peer_copies_of_devices, fail_when_the_node_of_the_target_dies) { kill_in_the_middle(2); }

/// Arenas that the process which executes this has mapped, its own among them.
std::size_t mapped_arenas() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:ham-arena-") != std::string::npos ? 1 : 0;
  return count;
}

TEST(peer_copies_of_devices, leave_no_mapping_of_a_node_that_has_died) {
  const runtime rt(nodes("cuda-emulated:2"));
  const offload::buffer<char> first(1, 100'000);
  const offload::buffer<char> second(2, 100'000);
  const std::size_t own = offload::sync(2, fn<&mapped_arenas>);
  ASSERT_TRUE(becomes_a_copy_of_the_device([&] { offload::copy(first.ptr(), second.ptr(), 100'000).get(); }));
  EXPECT_EQ(offload::sync(2, fn<&mapped_arenas>), own + 1);
  ::kill(offload::sync(1, fn<&pid_of_node>), SIGKILL);
  EXPECT_TRUE(eventually([&] { return offload::sync(2, fn<&mapped_arenas>) == own; }));
}

}  // namespace
