// Copies between two devices: nodes are threads of this process, and each device copies out of the memory of the other.
#include "runtime/peer_copies.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device_node.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::arena_use;
using ham::detail::device_heap;

/// By a function of the node whose memory `to` is.
void copy_to_own(buffer_ptr<std::uint32_t> from, buffer_ptr<std::uint32_t> to, std::size_t n) {
  offload::copy(from, to, n).get();
}

/// Nodes 1 and 2 have devices.
class peer_copies : public test::device_node {
 protected:
  peer_copies() {
    memory->allow_all();
    second->allow_all();
    for (const node_t one : {0, 1, 2}) {
      at_node(one).memory.set_one_sided(true);
      for (const node_t other : {0, 1, 2})
        if (other != one) at_node(one).peer_of(other)->memory = nullptr;
    }
    offload::put(sent.data(), source.ptr(), n).get();
  }
  [[nodiscard]] static test::stepped_memory* give_device(node_t which) {
    auto made = std::make_unique<test::stepped_memory>(std::size_t{4} << 20);
    test::stepped_memory* const result = made.get();
    at_node(which).memory.use_device(std::make_shared<device_heap>(std::move(made)));
    return result;
  }
  [[nodiscard]] static engine& at_node(node_t which) {
    return *reinterpret_cast<engine*>(
        offload::sync(which, [] { return reinterpret_cast<std::uintptr_t>(&ham::detail::current()); }));
  }
  [[nodiscard]] static device_heap& device_of(node_t which) { return *at_node(which).memory.device(); }
  [[nodiscard]] std::vector<std::uint32_t> got(buffer_ptr<std::uint32_t> from, std::size_t count) const {
    std::vector<std::uint32_t> result(count);
    offload::get(from, result.data(), count).get();
    return result;
  }
  void copy_all() const { offload::copy(source.ptr(), target.ptr(), n).get(); }
  /// Bytes that node 1 has sent to node 2 since the beginning.
  [[nodiscard]] static std::uint64_t sent_between() { return at_node(1).peer_of(2)->bytes_sent.bytes(); }
  /// The first copy asks, and goes in messages.
  void open_arenas() const {
    copy_all();
    device_of(2).use_absence();
  }

  static constexpr std::size_t n = 300'000;
  test::stepped_memory* const second = give_device(2);
  const std::vector<std::uint32_t> sent = test::counted(n);
  const buffer<std::uint32_t> source{1, n};
  const buffer<std::uint32_t> target{2, n};
};

TEST_F(peer_copies, are_made_by_the_device_of_the_target_once_it_has_the_arena) {
  std::uint64_t before = sent_between();
  copy_all();
  EXPECT_GT(sent_between() - before, 4 * n) << "it is not open yet";
  EXPECT_EQ(second->from_peers(), 0U);
  EXPECT_EQ(got(target.ptr(), n), sent);
  EXPECT_TRUE(device_of(2).wants_absence());
  device_of(2).use_absence();
  const std::vector<std::uint32_t> zeros(n, 0);
  offload::put(zeros.data(), target.ptr(), n).get();
  for (int round = 0; round < 2; ++round) {
    before = sent_between();
    copy_all();
    EXPECT_LT(sent_between() - before, 2000U);
    EXPECT_EQ(got(target.ptr(), n), sent);
  }
  EXPECT_EQ(second->from_peers(), 2U);
  EXPECT_EQ(second->asked_to_open(), 1U);
}

TEST_F(peer_copies, are_asked_for_by_functions_of_the_node_of_the_target) {
  offload::sync(2, fn<&copy_to_own>, source.ptr(), target.ptr(), n);
  EXPECT_EQ(second->from_peers(), 0U);
  device_of(2).use_absence();
  const std::vector<std::uint32_t> zeros(n, 0);
  offload::put(zeros.data(), target.ptr(), n).get();
  const std::uint64_t before = sent_between();
  offload::sync(2, fn<&copy_to_own>, source.ptr(), target.ptr(), n);
  EXPECT_EQ(second->from_peers(), 1U);
  EXPECT_LT(sent_between() - before, 2000U);
  EXPECT_EQ(got(target.ptr(), n), sent);
  EXPECT_THROW(offload::sync(2, fn<&copy_to_own>, source.ptr() + 1, target.ptr(), n), buffer_error);
  EXPECT_EQ(second->from_peers(), 1U);
}

TEST_F(peer_copies, of_rows_keep_what_is_between_them) {
  open_arenas();
  const std::vector<std::uint32_t> zeros(n, 0);
  offload::put(zeros.data(), target.ptr(), n).get();
  offload::copy(source.ptr() + 7, target.ptr() + 3, block{100, 1000, 1500, 2000}).get();
  EXPECT_EQ(second->from_peers(), 1U);
  const auto all = got(target.ptr(), n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool copied = i >= 3 && i - 3 < 199'000 && (i - 3) % 2000 < 1000;
    ASSERT_EQ(all[i], copied ? sent[7 + (i - 3) / 2000 * 1500 + (i - 3) % 2000] : 0U) << i;
  }
}

TEST_F(peer_copies, longer_than_a_message_names_are_several) {
  constexpr std::size_t long_bytes = (std::size_t{1} << 22) + 4;
  std::vector<std::byte> many(long_bytes, std::byte{3});
  open_arenas();
  const buffer<std::byte> from{1, long_bytes};
  const buffer<std::byte> to{2, long_bytes};
  offload::put(many.data(), from.ptr(), long_bytes).get();
  offload::copy(from.ptr(), to.ptr(), long_bytes).get();
  std::vector<std::byte> back(long_bytes);
  offload::get(to.ptr(), back.data(), long_bytes).get();
  EXPECT_EQ(back, many);
}

TEST_F(peer_copies, begin_when_the_device_of_the_source_has_what_it_was_given) {
  open_arenas();
  auto other = test::counted(n);
  for (auto& one : other) one += 9;
  for (int round = 0; round < 10; ++round) {
    const std::vector<std::uint32_t>& now = round % 2 == 0 ? other : sent;
    auto put = offload::put(now.data(), source.ptr(), n);
    copy_all();
    put.get();
    EXPECT_EQ(got(target.ptr(), n), now) << round;
  }
}

TEST_F(peer_copies, go_in_messages_where_they_have_to) {
  open_arenas();
  const auto by_messages = [&](auto copy) {
    const std::uint64_t before = second->from_peers();
    copy();
    EXPECT_EQ(got(target.ptr(), 1000), std::vector<std::uint32_t>(sent.begin(), sent.begin() + 1000));
    return second->from_peers() == before;
  };
  EXPECT_FALSE(by_messages([&] { copy_all(); }));
  EXPECT_TRUE(by_messages([&] {
    offload::copy(within(1, std::chrono::seconds(20)), source.ptr(), target.ptr(), 1000).get();
  })) << "a deadline";
  at_node(1).memory.set_one_sided(false);
  EXPECT_TRUE(by_messages([&] { copy_all(); })) << "switched off";
}

TEST_F(peer_copies, go_in_messages_where_the_device_refuses) {
  second->refuse_peers();
  for (int round = 0; round < 3; ++round) {
    copy_all();
    device_of(2).use_absence();
    EXPECT_EQ(got(target.ptr(), n), sent);
  }
  EXPECT_EQ(second->from_peers(), 0U);
  EXPECT_EQ(second->asked_to_open(), 1U);
  EXPECT_EQ(at_node(1).peer_of(2)->reads_arena.load(), arena_use::refused) << "it is not asked any more";
}

TEST_F(peer_copies, are_checked_by_the_owner_of_each_side) {
  open_arenas();
  const std::uint64_t before = second->from_peers();
  const buffer<std::uint32_t> small(2, 100);
  EXPECT_THROW(offload::copy(source.ptr(), small.ptr(), 101).get(), buffer_error);
  EXPECT_THROW(offload::copy(source.ptr() + 1, target.ptr(), n).get(), buffer_error);
  EXPECT_THROW(offload::copy(source.ptr(), small.ptr(), block{2, 50, 50, 51}).get(), buffer_error);
  const auto freed = offload::allocate<std::uint32_t>(2, 100);
  offload::free(freed);
  EXPECT_THROW(offload::copy(source.ptr(), freed, 100).get(), buffer_error);
  const auto freed_source = offload::allocate<std::uint32_t>(1, 100);
  offload::free(freed_source);
  EXPECT_THROW(offload::copy(freed_source, target.ptr(), 100).get(), buffer_error);
  EXPECT_EQ(second->from_peers(), before) << "nothing has moved";
}

TEST_F(peer_copies, that_name_what_is_not_there_are_refused) {
  open_arenas();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t arena = test::stepped_memory::arena_bytes;
  const std::uint64_t to = target.ptr().address();
  const std::uint64_t tag = target.ptr().tag();
  const std::uint64_t before = second->from_peers();
  const auto refused = [&](const far_copy& what) {
    EXPECT_THROW(offload::sync(2, copying_out_of_arena, what), buffer_error);
  };
  refused({0, 400, to, tag, 400, 400, 1});  // this node has no arena
  // The same as if node 0 were node 1.
  const transport::arena_handle handle = device_of(1).arenas().own();
  ASSERT_EQ(device_of(2).arenas().ask(0, handle), ham::detail::peer_arenas::state::wanted);
  device_of(2).use_absence();
  EXPECT_NO_THROW(offload::sync(2, copying_out_of_arena, far_copy{0, 400, to, tag, 400, 400, 1}));
  refused({arena - 399, 400, to, tag, 400, 400, 1});
  refused({most, 400, to, tag, 400, 400, 1});
  refused({0, arena / 2, to, tag, 400, 400, 3});
  refused({0, most, to, tag, 400, 400, 2});
  refused({0, 399, to, tag, 400, 400, 2});
  refused({0, 400, to, tag, 399, 400, 2});
  refused({0, 400, to, tag, 400, 400, most});
  refused({0, 400, to, tag, most / 2, 400, 3});
  refused({0, 400, to, tag, 400, 0, 1});
  refused({0, 400, to, tag, 400, 400, 0});
  refused({0, 400, to, tag, 400, 4 * n + 4, 1});
  refused({0, 400, to, tag + 1, 400, 400, 1});
  refused({0, 400, to, 0, 400, 400, 1});
  refused({0, 400, to - 4, tag, 400, 400, 1});
  EXPECT_EQ(second->from_peers(), before + 1);
}

TEST_F(peer_copies, are_no_matter_of_nodes_without_device) {
  EXPECT_EQ(offload::sync(0, opening_arena, far_arena{}), static_cast<std::uint8_t>(arena_use::refused));
  EXPECT_THROW(offload::sync(0, copying_out_of_arena, far_copy{}), buffer_error);
  far_arena too_long;
  too_long.size = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(offload::sync(2, opening_arena, too_long), static_cast<std::uint8_t>(arena_use::refused));
  const buffer<std::uint32_t> here(0, n);
  offload::copy(source.ptr(), here.ptr(), n).get();
  EXPECT_EQ(got(here.ptr(), n), sent);
  EXPECT_EQ(at_node(1).peer_of(0)->reads_arena.load(), arena_use::unknown) << "who gets it asks nobody";
}

TEST_F(peer_copies, fail_with_the_words_of_the_device) {
  open_arenas();
  second->fail();
  const std::string why = test::message_of<call_error>([&] { copy_all(); });
  EXPECT_NE(why.find("an illegal address"), std::string::npos) << why;
}

}  // namespace
}  // namespace ham::offload::detail
