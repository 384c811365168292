// put and get of pinned memory: nodes are threads of this process, and node 1 has the host's memory mapped once more.
#include "runtime/pinned_transfer.hpp"

#include <fcntl.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <vector>

#include "ham/offload/pinned.hpp"
#include "runtime/device_node.hpp"
#include "transport/common/mapped_memory.hpp"

namespace ham::inline v1::offload::detail {
namespace {

class pinned_transfers : public test::device_node {
 protected:
  explicit pinned_transfers(std::size_t staging_bytes = std::size_t{4} << 20) : device_node(staging_bytes) {
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
  [[nodiscard]] ham::detail::page_locks& locks() { return node().memory.device()->locks(); }
  [[nodiscard]] std::vector<std::uint32_t> got(std::size_t count) const {
    std::vector<std::uint32_t> result(count);
    offload::get(there.ptr(), result.data(), count).get();
    return result;
  }
  [[nodiscard]] static std::uint64_t sent() { return offload::stats_with(1).bytes_sent; }

  static constexpr std::size_t n = 300'000;
  pinned<std::uint32_t> here{n};
  const buffer<std::uint32_t> there{1, n};
};

TEST_F(pinned_transfers, send_nothing_of_the_bytes) {
  for (const bool locked : {false, true}) {
    std::iota(here.begin(), here.end(), locked ? 1U : 2U);
    const std::uint64_t before = sent();
    offload::put(here.data(), there.ptr(), n).get();
    EXPECT_LT(sent() - before, 2000U);
    EXPECT_EQ(got(n), std::vector<std::uint32_t>(here.begin(), here.end())) << locked;
    const std::uint64_t received = offload::stats_with(1).bytes_received;
    std::fill(here.begin(), here.end(), 0U);
    offload::get(there.ptr(), here.data(), n).get();
    EXPECT_LT(offload::stats_with(1).bytes_received - received, 2000U);
    EXPECT_EQ(here[n - 1], (locked ? 1U : 2U) + n - 1);
    locks().lock_wanted();
  }
  EXPECT_EQ(memory->locked(), 1U);
}

TEST_F(pinned_transfers, are_one_copy_of_the_device_once_the_pages_are_locked) {
  offload::put(here.data(), there.ptr(), 1).get();
  locks().lock_wanted();
  const std::uint64_t before = memory->started();
  offload::put(here.data(), there.ptr(), n).get();
  EXPECT_EQ(memory->started(), before + 1);
}

TEST_F(pinned_transfers, go_to_rows_from_rows_without_gaps) {
  const std::vector<std::uint32_t> zeros(n, 0);
  offload::put(zeros.data(), there.ptr(), n).get();
  const std::uint64_t before = sent();
  offload::put(here.data(), there.ptr(), block{100, 1000, 1000, 1500}).get();
  EXPECT_LT(sent() - before, 2000U);
  const auto all = got(n);
  for (const std::size_t row : {0U, 1U, 99U}) {
    EXPECT_EQ(all[row * 1500], here[row * 1000]);
    EXPECT_EQ(all[row * 1500 + 999], here[row * 1000 + 999]);
    EXPECT_EQ(all[row * 1500 + 1000], 0U);
  }
  pinned<std::uint32_t> back(100'000);
  offload::get(there.ptr(), back.data(), block{100, 1000, 1500, 1000}).get();
  EXPECT_TRUE(std::equal(back.begin(), back.end(), here.begin()));
}

TEST_F(pinned_transfers, that_are_none_go_in_messages) {
  const auto messages = [&](auto transfer) {
    const std::uint64_t before = sent();
    transfer();
    return sent() - before > 4 * 1000U;
  };
  const std::vector<std::uint32_t> other(1000);
  EXPECT_TRUE(messages([&] { offload::put(other.data(), there.ptr(), 1000).get(); }));
  EXPECT_TRUE(messages([&] { offload::put(here.data(), there.ptr(), block{10, 100, 200, 100}).get(); })) << "gaps";
  EXPECT_TRUE(messages([&] {
    offload::put(within(1, std::chrono::seconds(20)), here.data(), there.ptr(), 1000).get();
  })) << "a deadline";
  current().memory.set_one_sided(false);
  EXPECT_TRUE(messages([&] { offload::put(here.data(), there.ptr(), 1000).get(); })) << "switched off";
  current().memory.set_one_sided(true);
  EXPECT_FALSE(messages([&] { offload::put(here.data(), there.ptr(), 1000).get(); }));
}

TEST_F(pinned_transfers, are_checked_before_any_byte_moves) {
  const std::uint64_t before = memory->started();
  EXPECT_THROW(offload::put(here.data(), there.ptr() + 1, n).get(), buffer_error);
  EXPECT_THROW(offload::get(there.ptr() + 1, here.data(), n).get(), buffer_error);
  const auto freed = offload::allocate<std::uint32_t>(1, 10);
  offload::free(freed);
  EXPECT_THROW(offload::put(here.data(), freed, 10).get(), buffer_error);
  EXPECT_EQ(memory->started(), before);
}

TEST_F(pinned_transfers, of_what_the_caller_has_not_are_refused) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const ham::detail::pinned_pool::place found =
      current().memory.pinned().find(reinterpret_cast<const std::byte*>(here.data()), 4 * n);
  const far_pages good{found.block, found.tag, found.block_bytes, found.offset};
  const far_rows to{there.ptr().address(), there.ptr().tag(), 400, 400, 0};
  EXPECT_NO_THROW(offload::sync(1, copying_in, good, to, std::uint64_t{400}));
  const std::uint64_t before = memory->started();
  const auto refused = [&](far_pages pages, far_rows rows, std::uint64_t bytes) {
    EXPECT_THROW(offload::sync(1, copying_in, pages, rows, bytes), buffer_error);
    EXPECT_THROW(offload::sync(1, copying_out, pages, rows, bytes), buffer_error);
  };
  refused({good.block, good.tag + 1, good.block_bytes, good.offset}, to, 400);
  refused({good.block, good.tag, good.block_bytes + (std::uint64_t{1} << 30U), good.offset}, to, 400);
  refused({good.block - 4096, good.tag, good.block_bytes, good.offset}, to, 400);
  refused({good.block + 64, good.tag, good.block_bytes - 4096, good.offset}, to, 400);
  refused({good.block, good.tag, most, 0}, to, 400);
  refused({good.block, good.tag, good.block_bytes, good.block_bytes - 399}, to, 400);
  refused({good.block, good.tag, good.block_bytes, most}, to, 400);
  refused(good, {to.address, to.tag + 1, 400, 400, 0}, 400);
  refused(good, {to.address, 0, 400, 400, 0}, 400);
  refused(good, {to.address, to.tag, 0, 0, 0}, 400);
  refused(good, {to.address, to.tag, 400, 400, most}, 400);
  refused(good, {to.address, to.tag, 4 * n + 4, 4 * n + 4, 0}, 4 * n + 4);
  EXPECT_EQ(memory->started(), before);
}

TEST_F(pinned_transfers, are_refused_by_nodes_without_device_or_mapping) {
  const far_rows to{there.ptr().address(), there.ptr().tag(), 4, 4, 0};
  EXPECT_THROW(offload::sync(2, copying_in, far_pages{}, to, std::uint64_t{4}), buffer_error);
  EXPECT_THROW(offload::sync(2, copying_out, far_pages{}, to, std::uint64_t{4}), buffer_error);
  node().peer_of(0)->memory = nullptr;
  EXPECT_THROW(offload::put(here.data(), there.ptr(), n).get(), buffer_error);
}

TEST_F(pinned_transfers, fail_with_the_words_of_the_device) {
  memory->fail();
  for (const bool locked : {false, true}) {
    const std::string why = test::message_of<call_error>([&] { offload::put(here.data(), there.ptr(), n).get(); });
    EXPECT_NE(why.find("an illegal address"), std::string::npos) << why << locked;
    locks().lock_wanted();
  }
}

/// Staging memory is shorter than what one message names.
class pinned_transfers_in_small_steps : public pinned_transfers {
 protected:
  pinned_transfers_in_small_steps() : pinned_transfers(10'000) {}
};

TEST_F(pinned_transfers_in_small_steps, pass_staging_memory_until_the_pages_are_locked) {
  const std::uint64_t before = memory->started();
  offload::put(here.data(), there.ptr(), n).get();
  EXPECT_GE(memory->started() - before, 4 * n / 10'000);
  EXPECT_EQ(got(n), std::vector<std::uint32_t>(here.begin(), here.end()));
  std::fill(here.begin(), here.end(), 0U);
  offload::get(there.ptr(), here.data(), n).get();
  EXPECT_EQ(here[0], 5U);
  EXPECT_EQ(here[n - 1], n + 4);
}

}  // namespace
}  // namespace ham::offload::detail
