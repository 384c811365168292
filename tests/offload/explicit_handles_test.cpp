// Destinations, buffers, contexts, batches and objects that name their runtime, beside another one.
#include <atomic>
#include <optional>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace explicit_handles_test {

std::size_t nodes_there() { return offload::num_nodes(); }
std::atomic<int> gone{0};
struct tally {
  ~tally() { ++gone; }
  std::size_t nodes() const { return offload::num_nodes(); }
};
std::uint64_t alive_bytes_at(offload::buffer_ptr<int> at) { return at.address(); }

/// The second one is what free functions use.
class two_runtimes : public testing::Test {
 protected:
  std::optional<runtime> first{loopback(1)};
  runtime second{loopback(3)};
};

TEST_F(two_runtimes, calls_go_where_the_destination_says) {
  EXPECT_EQ(offload::sync(1, fn<&nodes_there>), 4U);
  EXPECT_EQ(offload::sync(first->node(1), fn<&nodes_there>), 2U);
  EXPECT_EQ(offload::async(first->node(1), fn<&nodes_there>).get(), 2U);
  EXPECT_EQ(offload::async(offload::within(first->node(1), 20s), f2f(&nodes_there)).get(), 2U);
  EXPECT_EQ(offload::try_async(first->node(0), fn<&nodes_there>)->get(), 2U);
  EXPECT_EQ(offload::sync(second.node(3), fn<&nodes_there>), 4U);
  offload::ping(first->node(1), fn<&nodes_there>);
  EXPECT_EQ(offload::get_node_descriptor(first->node(1)).node(), 1);
  EXPECT_TRUE(offload::alive(first->node(1)));
  EXPECT_THROW(offload::sync(first->node(2), fn<&nodes_there>), call_error);
  EXPECT_THROW(static_cast<void>(first->node(1L << 40)), call_error);
  auto then = offload::async(first->node(1), fn<&nodes_there>).then([](std::size_t n) { return n + 1; });
  EXPECT_EQ(then.get(), 3U);
}

TEST_F(two_runtimes, handles_remember_theirs) {
  offload::context queue(first->node(1));
  EXPECT_EQ(offload::sync(queue, fn<&nodes_there>), 2U);
  EXPECT_EQ(offload::sync(offload::within(queue, 20s), fn<&nodes_there>), 2U);
  queue.drain();
  offload::context moved = std::move(queue);
  moved.close(20s);

  offload::batch several(first->node(1));
  auto one = several.add(fn<&nodes_there>);
  EXPECT_EQ(one.get(), 2U);

  gone = 0;
  {
    const auto object = offload::make<tally>(first->node(1));
    EXPECT_EQ(object.call<&tally::nodes>(), 2U);
    EXPECT_EQ(object.async<&tally::nodes>().get(), 2U);
    EXPECT_EQ(offload::sync(object.where(), fn<&tally::nodes>, object), 2U);
    auto later = offload::make_async<tally>(first->node(1)).get();
    EXPECT_EQ(later.call<&tally::nodes>(), 2U);
  }
  EXPECT_EQ(gone, 2);
}

/// Under another runtime, a buffer's end used to be ignored silently.
TEST_F(two_runtimes, the_end_of_a_buffer_finds_its_node) {
  offload::buffer<int> memory(first->node(1), 1000);
  const auto ptr = memory.ptr();
  const std::vector<int> sent(1000, 3);
  std::vector<int> got(1000);
  offload::put(memory.where(), sent.data(), ptr, 1000).get();
  offload::get_sync(memory.where(), ptr, got.data(), 1000U);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(offload::sync(memory.where(), fn<&alive_bytes_at>, ptr), ptr.address());
  EXPECT_THROW(offload::free(ptr), buffer_error) << "the other runtime's node 1 has no such memory";
  memory.reset();
  EXPECT_THROW(offload::free(first->node(1), ptr), buffer_error) << "it was freed";
  const offload::buffer<int> again(first->node(1), 1000);
  EXPECT_EQ(again.ptr().address(), ptr.address());
  auto raw = offload::allocate<int>(first->node(1), 10);
  offload::free(first->node(1), raw);
}

/// The second one would not make progress of the first.
TEST_F(two_runtimes, futures_of_futures_belong_to_theirs) {
  const offload::destination there = first->node(1);
  const auto one = [&] { return offload::async(there, fn<&nodes_there>); };
  const auto is_of_first = [&](const auto& of) {
    return detail::serial_of(offload::detail::future_access::runtime(of)) == there.runtime;
  };
  const auto two = [&] {
    std::vector<offload::future<std::size_t>> made;
    made.push_back(one());
    made.push_back(one());
    return made;
  };
  auto every = offload::when_all(two());
  auto tuple = offload::when_all(one(), one());
  auto winner = offload::when_any(two());
  std::vector<offload::future<std::size_t>> kept = two();
  auto index = offload::when_any(kept);
  EXPECT_TRUE(is_of_first(every) && is_of_first(tuple) && is_of_first(winner) && is_of_first(index));
  for (auto& each : every.get()) EXPECT_EQ(each.get(), 2U);
  EXPECT_EQ(std::get<1>(tuple.get()).get(), 2U);
  auto won = winner.get();
  EXPECT_EQ(won.futures[won.index].get(), 2U);
  EXPECT_EQ(kept[index.get()].get(), 2U);
  EXPECT_FALSE(is_of_first(offload::when_all(std::vector<offload::future<int>>())));

  auto late = two();
  for (auto& each : late) each.wait();
  first.reset();
  EXPECT_THROW(static_cast<void>(offload::when_all(std::move(late))), error);
}

TEST_F(two_runtimes, ranges_and_matrices_go_by_the_buffers_runtime) {
  const offload::destination there = first->node(1);
  const offload::buffer<int> memory(there, 6);
  const offload::buffer<int> other(there, 6);
  const offload::buffer<int> foreign(second.node(1), 6);
  const std::vector<int> sent{1, 2, 3, 4, 5, 6};
  std::vector<int> got(6);
  offload::put(sent, memory).get();
  offload::get(memory, got).get();
  EXPECT_EQ(got, sent);
  offload::copy(memory, other).get();
  offload::copy(memory.ptr(), other, 3).get();
  got.assign(6, 0);
  offload::get_sync(other, got.data(), 6);
  EXPECT_EQ(got, sent);
  offload::put_sync(offload::within(1, 20s), sent, memory);
  offload::put(offload::within(there, 20s), sent.data(), memory, 6).get();
  offload::put_sync(there, sent, memory.subspan(0));
  EXPECT_EQ(offload::put(sent, memory, offload::then_call(fn<&nodes_there>)).get(), 2U);
  EXPECT_EQ(offload::copy(memory, other, offload::then_call(fn<&nodes_there>)).get(), 2U);

  const offload::matrix_span here(sent.data(), 2, 3);
  const offload::buffer_matrix<int> remote(memory, 2, 3);
  const offload::buffer_matrix<int> elsewhere(other, 3, 2);
  offload::put(there, here, remote).get();
  offload::put_sync(offload::within(there, 20s), here.row(1), remote.row(0));
  offload::copy_sync(there, remote.column(0), elsewhere.column(1).part(0, 0, 2, 1));
  got.assign(6, 0);
  offload::get_sync(there, elsewhere, offload::matrix_span(got.data(), 3, 2));
  EXPECT_EQ(got, (std::vector{1, 4, 3, 4, 5, 6}));

  EXPECT_NE(message_of<buffer_error>([&] { offload::put(second.node(1), sent, memory); }).find("of one runtime"),
            std::string::npos);
  EXPECT_THROW(offload::get_sync(second.node(1), memory, got), buffer_error);
  EXPECT_THROW(offload::copy(memory, foreign), buffer_error);
  EXPECT_THROW(offload::put(2, sent, memory), buffer_error) << "its node is another one";
}

TEST_F(two_runtimes, what_outlives_its_runtime_is_an_error_or_nothing) {
  const offload::destination there = first->node(1);
  std::optional<offload::buffer<int>> memory(std::in_place, there, 10);
  std::optional<offload::context> queue(std::in_place, there);
  std::optional<offload::remote<tally>> object(offload::make<tally>(there));
  first.reset();
  EXPECT_NE(message_of<config_error>([&] { offload::sync(there, fn<&nodes_there>); }).find("has ended"),
            std::string::npos);
  EXPECT_THROW(offload::sync(*queue, fn<&nodes_there>), config_error);
  EXPECT_THROW(offload::batch several(there), config_error);
  EXPECT_TRUE(memory->reset(1s));
  memory.reset();
  queue.reset();
  object.reset();
  EXPECT_EQ(offload::sync(1, fn<&nodes_there>), 4U);
}

TEST(destination, of_a_plain_number_names_no_runtime) {
  constexpr offload::destination one = 1;
  static_assert(one.runtime == 0 && one.context == 0 && one.deadline_ns == 0);
  const runtime rt(loopback(1));
  EXPECT_NE(rt.node(1).runtime, 0U);
  EXPECT_EQ(offload::within(rt.node(1), 1h).runtime, rt.node(1).runtime);
}

TEST(serve, is_nothing_on_the_host) {
  runtime rt(loopback(1));
  EXPECT_FALSE(rt.serve());
  EXPECT_EQ(offload::sync(1, fn<&nodes_there>), 2U);
}

std::vector<node_t> nodes_seen_there() { return offload::nodes(); }
std::vector<node_t> targets_seen_there() { return offload::targets(); }

TEST(nodes, are_those_that_can_be_called) {
  const runtime rt(loopback(2));
  EXPECT_EQ(offload::nodes(), (std::vector<node_t>{0, 1, 2}));
  EXPECT_EQ(offload::targets(), (std::vector<node_t>{1, 2}));
  EXPECT_EQ(offload::sync(2, fn<&nodes_seen_there>), (std::vector<node_t>{0, 1, 2}));
  EXPECT_EQ(offload::sync(1, fn<&targets_seen_there>), (std::vector<node_t>{1, 2}));
  std::size_t count = 0;
  for (const node_t node : offload::targets()) count += offload::sync(node, fn<&nodes_there>);
  EXPECT_EQ(count, 6U);
}

}  // namespace explicit_handles_test
