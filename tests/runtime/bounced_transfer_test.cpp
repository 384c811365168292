// put and get of memory that is not pinned: nodes are threads of this process, and node 1 has the host's memory mapped.
#include "runtime/bounced_transfer.hpp"

#include <fcntl.h>

#include <chrono>
#include <numeric>
#include <vector>

#include "runtime/device_node.hpp"
#include "transport/common/mapped_memory.hpp"

namespace ham::inline v1::offload::detail {
namespace {

constexpr std::size_t n = 2'700'003;  // more pieces than there are, and a short one at the end

class bounced_transfers : public test::device_node {
 protected:
  bounced_transfers() : device_node(std::size_t{4} << 20, std::size_t{32} << 20) {
    engine& host = current();
    host.memory.set_one_sided(true);
    host.peer_of(1)->memory = nullptr;
    host.peer_of(1)->copies_mapped = true;
    const int heap = host.memory.own().fd();
    node().peer_of(0)->memory =
        std::make_shared<transport::mapped_memory>(base::unique_fd(::fcntl(heap, F_DUPFD_CLOEXEC, 0)));
    memory->allow_all();
    std::iota(here.begin(), here.end(), 5U);
  }
  [[nodiscard]] static std::uint64_t moved() {
    const auto stats = offload::stats_with(1);
    return stats.bytes_sent + stats.bytes_received;
  }

  std::vector<std::uint32_t> here = std::vector<std::uint32_t>(n);
  const buffer<std::uint32_t> there{1, n};
};

TEST_F(bounced_transfers, send_nothing_of_the_bytes) {
  for (const bool locked : {false, true}) {
    std::iota(here.begin(), here.end(), locked ? 1U : 2U);
    const std::vector<std::uint32_t> sent = here;
    const std::uint64_t before = moved();
    offload::put(here.data(), there.ptr(), n).get();
    std::fill(here.begin(), here.end(), 0U);
    offload::get(there.ptr(), here.data(), n).get();
    EXPECT_LT(moved() - before, 20'000U);
    EXPECT_TRUE(here == sent) << locked;
    node().memory.device()->locks().lock_wanted();
  }
}

TEST_F(bounced_transfers, may_be_under_way_together) {
  std::vector<std::uint32_t> back(n);
  std::vector<std::uint32_t> other(n, 7);
  const buffer<std::uint32_t> second{1, n};
  auto first_put = offload::put(here.data(), there.ptr(), n);
  auto second_put = offload::put(other.data(), second.ptr(), n);
  first_put.get();
  second_put.get();
  auto first_get = offload::get(there.ptr(), back.data(), n);
  auto second_get = offload::get(second.ptr(), other.data(), n);
  second_get.get();
  first_get.get();
  EXPECT_TRUE(back == here);
  EXPECT_EQ(std::accumulate(other.begin(), other.end(), std::uint64_t{0}), 7 * n);
}

TEST_F(bounced_transfers, reach_rows_with_gaps_there) {
  constexpr std::size_t rows = 2500;
  const buffer<std::uint32_t> wide{1, rows * 1500};
  const std::vector<std::uint32_t> zeros(rows * 1500, 0);
  offload::put(zeros.data(), wide.ptr(), zeros.size()).get();
  const std::uint64_t before = moved();
  offload::put(here.data(), wide.ptr(), block{rows, 1000, 1000, 1500}).get();
  std::vector<std::uint32_t> back(rows * 1000);
  offload::get(wide.ptr(), back.data(), block{rows, 1000, 1500, 1000}).get();
  EXPECT_LT(moved() - before, 20'000U);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), here.begin()));
  std::uint32_t gap = 1;
  offload::get(wide.ptr() + 1000, &gap, 1).get();
  EXPECT_EQ(gap, 0U);
}

TEST_F(bounced_transfers, are_no_short_ones_and_none_with_a_deadline) {
  std::uint64_t before = moved();
  offload::put(here.data(), there.ptr(), 1'000'000).get();
  EXPECT_GT(moved() - before, 4'000'000U);
  before = moved();
  offload::put(within(1, std::chrono::seconds(60)), here.data(), there.ptr(), n).get();
  EXPECT_GT(moved() - before, 4 * n);
}

TEST_F(bounced_transfers, fail_as_a_whole) {
  EXPECT_THROW(offload::put(here.data(), there.ptr() + 1, n).get(), buffer_error);
  EXPECT_THROW(offload::get(there.ptr() + 1, here.data(), n).get(), buffer_error);
  const auto freed = offload::allocate<std::uint32_t>(1, n);
  offload::free(freed);
  EXPECT_THROW(offload::get(freed, here.data(), n).get(), buffer_error);
  offload::put(here.data(), there.ptr(), n).get();
}

}  // namespace
}  // namespace ham::offload::detail
