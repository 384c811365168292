// put and copy, then a call: the bytes are there when it runs, and it does not run if they are not.
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "bulk.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;
using offload::then_call;
using offload::within;

namespace then_call_test {

class then_call_of : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, then_call_of, testing::Bool(), name_of_way);

/// Numbers: more than a queue takes at once.
constexpr std::size_t large = unless_sanitized(std::size_t{16} << 18, std::size_t{9} << 18);

long total(const std::vector<int>& of) { return sum_of<long>(of.data(), of.size()); }

long total_behind(const std::vector<int>& of, std::size_t first) {
  return sum_of<long>(of.data() + first, of.size() - first);
}

std::atomic<int> called{0};
long sum(offload::buffer_ptr<int> at, std::size_t n) {
  ++called;
  return sum_of<long>(at.get(), n);
}
std::string name_and_node(const std::string& name, offload::buffer_ptr<int> at) {
  return name + "@" + std::to_string(offload::this_node()) + ":" + std::to_string(at[0]);
}
void nothing() { ++called; }
long fail(offload::buffer_ptr<int> at) { throw std::out_of_range(std::to_string(at[0])); }

/// Sizes: none, in the call's message or by the caller, the largest of these, by itself, in the background.
TEST_P(then_call_of, a_put_sees_its_bytes) {
  for (const node_t node : {0, 1, 2}) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{1024}, std::size_t{16384}, std::size_t{16385}, large}) {
      const offload::buffer<int> there(node, n);
      for (int start = 0; start < unless_sanitized(3, 2); ++start) {
        const std::vector<int> sent = numbered(n, start);
        auto result = offload::put(sent.data(), there.ptr(), n, then_call(fn<&sum>, there.ptr(), n));
        EXPECT_EQ(result.get(), total(sent)) << n << " on " << node;
      }
    }
  }
}

TEST_P(then_call_of, a_copy_sees_its_bytes) {
  constexpr std::size_t n = 100000;
  for (const node_t from : {0, 1, 2}) {
    for (const node_t to : {0, 1, 2}) {
      const offload::buffer<int> source(from, n);
      const offload::buffer<int> target(to, n);
      const std::vector<int> sent = numbered(n, from + to);
      offload::put_sync(sent.data(), source.ptr(), n);
      EXPECT_EQ(offload::copy(source.ptr(), target.ptr(), n, then_call(fn<&sum>, target.ptr(), n)).get(), total(sent));
    }
  }
}

TEST_P(then_call_of, every_spelling) {
  const offload::buffer<int> there(1, 1);
  const int seven = 7;
  const auto ptr = there.ptr();
  EXPECT_EQ(offload::put(&seven, ptr, 1, then_call(fn<&name_and_node>, "f", ptr)).get(), "f@1:7");
  EXPECT_EQ(offload::put(&seven, ptr, 1, then_call(f2f(&name_and_node, "g", ptr))).get(), "g@1:7");
  EXPECT_EQ(offload::put(&seven, ptr, 1, then_call([](offload::buffer_ptr<int> at) { return at[0] + 1; }, ptr)).get(),
            8);
  EXPECT_EQ(offload::put(&seven, ptr, 1, then_call(pooled(fn<&sum>), ptr, 1U)).get(), 7);
  offload::put(&seven, ptr, 1, then_call(fn<&nothing>)).get();
  const int before = called;
  static_cast<void>(offload::put(&seven, ptr, 1, then_call(fn<&nothing>)));  // discarded: complete
  EXPECT_EQ(called, before + 1);
}

/// Ranges, buffers, rows and matrices instead of a pointer and a count.
TEST_P(then_call_of, ranges_blocks_and_matrices) {
  for (const std::size_t n : {std::size_t{12}, large}) {
    const offload::buffer<int> there(1, n);
    const offload::buffer<int> other(2, n);
    const std::vector<int> sent = numbered(n, 3);
    const auto summed = then_call(fn<&sum>, there.ptr(), n);
    const auto summed_there = then_call(fn<&sum>, other.ptr(), n);
    const long all = total(sent);
    EXPECT_EQ(offload::put(sent, there, summed).get(), all);
    EXPECT_EQ(offload::put(1, std::span(sent), there.span(), summed).get(), all);
    EXPECT_EQ(offload::put(sent.data(), there, n, summed).get(), all);
    EXPECT_EQ(offload::put(within(1, 60s), sent, there.ptr(), summed).get(), all);
    EXPECT_EQ(offload::copy(there, other, summed_there).get(), all);
    EXPECT_EQ(offload::copy(there.ptr(), other, n, summed_there).get(), all);
    EXPECT_EQ(offload::copy(within(2, 60s), there.span(), other.ptr(), summed_there).get(), all);

    const offload::block halves{2, n / 2, 0, 0};
    const offload::matrix_span here(sent.data(), 3, n / 3);
    const offload::buffer_matrix<int> remote(there, 3, n / 3);
    const offload::buffer_matrix<int> elsewhere(other, 3, n / 3);
    const std::vector<int> zeros(n);
    for (int round = 0; round < 6; ++round) {
      offload::put_sync(zeros, round % 2 == 0 ? there : other);
      switch (round) {
        case 0: EXPECT_EQ(offload::put(sent.data(), there.ptr(), halves, summed).get(), all); break;
        case 1: EXPECT_EQ(offload::copy(there.ptr(), other.ptr(), halves, summed_there).get(), all); break;
        case 2: EXPECT_EQ(offload::put(here, remote, summed).get(), all - total_behind(sent, n / 3 * 3)); break;
        case 3:
          EXPECT_EQ(offload::copy(remote, elsewhere, summed_there).get(), all - total_behind(sent, n / 3 * 3));
          break;
        case 4:
          EXPECT_EQ(offload::put(within(1, 60s), here.column(1), remote.column(1), summed).get(),
                    sent[1] + sent[n / 3 + 1] + sent[n / 3 * 2 + 1]);
          break;
        default:
          EXPECT_EQ(offload::copy(within(2, 60s), remote.column(1), elsewhere.column(1), summed_there).get(),
                    sent[1] + sent[n / 3 + 1] + sent[n / 3 * 2 + 1]);
      }
    }
    const int before = called;
    EXPECT_THROW(offload::put(sent, there.subspan(1), then_call(fn<&nothing>)), buffer_error);
    EXPECT_THROW(offload::put(here, remote.row(0), then_call(fn<&nothing>)), buffer_error);
    EXPECT_THROW(offload::put(sent.data(), there.ptr() + 1, halves, then_call(fn<&nothing>)).get(), buffer_error);
    EXPECT_THROW(offload::put(2, sent.data(), there.ptr(), halves, then_call(fn<&nothing>)), buffer_error);
    EXPECT_EQ(called, before);
  }
}

TEST_P(then_call_of, runs_in_a_context_and_by_a_runtime) {
  const offload::buffer<int> there(2, 1);
  const int nine = 9;
  offload::context queue(2);
  EXPECT_EQ(offload::put(queue, &nine, there.ptr(), 1, then_call(fn<&sum>, there.ptr(), 1U)).get(), 9);
  EXPECT_EQ(offload::put(job.node(2), &nine, there.ptr(), 1, then_call(fn<&sum>, there.ptr(), 1U)).get(), 9);
  EXPECT_EQ(offload::put(offload::within(2, 20s), &nine, there.ptr(), 1, then_call(fn<&sum>, there.ptr(), 1U)).get(),
            9);
  EXPECT_THROW(static_cast<void>(offload::put(1, &nine, there.ptr(), 1, then_call(fn<&nothing>))), buffer_error);
}

TEST_P(then_call_of, what_cannot_be_written_calls_nothing) {
  for (const std::size_t n : {std::size_t{100}, large}) {
    const std::vector<int> sent(n + 1);
    auto freed = offload::allocate<int>(1, n);
    offload::free(freed);
    const offload::buffer<int> there(1, n);
    const int before = called;
    EXPECT_THROW(offload::put(sent.data(), freed, n, then_call(fn<&sum>, freed, n)).get(), buffer_error);
    EXPECT_THROW(offload::put(sent.data(), there.ptr(), n + 1, then_call(fn<&nothing>)).get(), buffer_error);
    EXPECT_THROW(offload::copy(freed, there.ptr(), n, then_call(fn<&nothing>)).get(), buffer_error);
    EXPECT_EQ(called, before);
    EXPECT_EQ(offload::sync(1, fn<&sum>, there.ptr(), 0U), 0) << "the connection is as before";
  }
}

TEST_P(then_call_of, what_the_function_throws_arrives) {
  const offload::buffer<int> there(1, 1);
  const int three = 3;
  EXPECT_EQ(message_of<std::out_of_range>(
                [&] { offload::put(&three, there.ptr(), 1, then_call(fn<&fail>, there.ptr())).get(); }),
            "3");
}

/// One after the other to the same place: each call sees what its own put wrote.
TEST_P(then_call_of, many_under_way) {
  constexpr std::size_t places = 64;
  const offload::buffer<int> there(1, places);
  std::vector<int> values(places);
  std::iota(values.begin(), values.end(), 0);
  std::vector<offload::future<long>> all;
  for (std::size_t i = 0; i < places; ++i) {
    all.push_back(offload::put(&values[i], there.ptr() + i, 1, then_call(fn<&sum>, there.ptr() + i, 1U)));
  }
  for (std::size_t i = 0; i < places; ++i) EXPECT_EQ(all[i].get(), static_cast<long>(i));
}

}  // namespace then_call_test
