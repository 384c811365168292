// Memory of other nodes, one-sided and in messages: allocate, free, put, get, copy, and every misuse of a handle.
#include <atomic>
#include <limits>
#include <numeric>

#include "bulk.hpp"
#include "emulation.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace memory_test {

class memory : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, memory, testing::Bool(), name_of_way);

std::vector<int> numbers(std::size_t n, int start = 0) { return numbered(n, start); }
long sum(offload::buffer_ptr<const int> at, std::size_t n) { return sum_of<long>(at.get(), n); }

TEST_P(memory, there_and_back) {
  for (const std::size_t n : {0U, 1U, 15U, 16U, 1000U, 262143U, 262144U, 262145U, 2000000U}) {
    offload::buffer<int> there(1, n);
    const std::vector<int> sent = numbers(n, 7);
    offload::put_sync(sent.data(), there.ptr(), n);
    EXPECT_EQ(offload::sync(1, fn<&sum>, there.ptr(), n), sum_of<long>(sent.data(), n)) << n;
    std::vector<int> got(n);
    offload::get_sync(there.ptr(), got.data(), n);
    EXPECT_EQ(got, sent);
  }
}

TEST_P(memory, parts_and_the_papers_spellings) {
  auto there = offload::allocate<int>(1, 100);
  EXPECT_EQ(there.node(), 1);
  EXPECT_EQ(there.address() % 64, 0U);
  const auto sent = numbers(100);
  offload::put(sent.data(), there, 100);  // discarded, so complete
  offload::write(1, there + 10, sent.data(), 10).get();
  std::vector<int> got(20);
  offload::read(1, there + 5, got.data(), 20).get();
  EXPECT_EQ(got, (std::vector<int>{5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22, 23, 24}));
  const offload::buffer_ptr<const int> constant = there;
  offload::get_sync(constant, got.data(), 1);
  offload::free(1, there);
}

TEST_P(memory, copy_among_all_nodes) {
  constexpr std::size_t n = 300000;
  for (node_t from = 0; from <= 2; ++from) {
    for (node_t to = 0; to <= 2; ++to) {
      offload::buffer<int> source(from, n);
      offload::buffer<int> target(to, n);
      const auto sent = numbers(n, 10 * from + to);
      offload::put_sync(sent.data(), source.ptr(), n);
      offload::copy_sync(source.ptr(), target.ptr(), n);
      std::vector<int> got(n);
      offload::get_sync(target.ptr(), got.data(), n);
      EXPECT_EQ(got, sent) << from << " to " << to;
    }
  }
}

/// So large that they go on beside the caller, where the transport can do that.
TEST_P(memory, large_ones_in_flight_together) {
  constexpr std::size_t n = unless_sanitized(std::size_t{16} << 18, std::size_t{9} << 18);  // more than a queue takes
  const auto sent = numbers(n);
  offload::buffer<int> first(1, n);
  offload::buffer<int> second(2, n);
  offload::buffer<int> own(0, n);
  auto to_first = offload::put(sent.data(), first.ptr(), n);
  auto to_second = offload::put(sent.data(), second.ptr(), n);
  auto continued = to_second.then([&] { return offload::sync(2, ham::fn<&sum>, second.ptr(), n); });
  EXPECT_EQ(continued.get(), sum_of<long>(sent.data(), n));
  to_first.get();
  auto across = offload::copy(first.ptr(), own.ptr(), n);
  EXPECT_TRUE(across.wait_for(std::chrono::seconds(60)));
  std::vector<int> got(n);
  auto back = offload::get(own.ptr(), got.data(), n);
  while (!back.test()) std::this_thread::yield();
  back.get();
  EXPECT_EQ(got, sent);
  offload::put(sent.data(), second.ptr(), n);
  auto in_vain = offload::put(sent.data(), second.ptr() + 1, n);
  EXPECT_THROW(in_vain.get(), buffer_error);
  const offload::buffer_ptr<int> freed = second.ptr();
  second.reset();
  EXPECT_THROW(offload::get(freed, got.data(), n).get(), buffer_error);
  EXPECT_EQ(got, sent) << "checked before any byte moves";
}

/// So large that who copies it gives signs of life in between.
TEST_P(memory, a_copy_in_parts) {
  constexpr std::size_t n = (std::size_t{64} << 18) + 1234;
  const auto sent = numbers(n);
  offload::buffer<int> first(1, n);
  offload::buffer<int> second(2, n);
  offload::put_sync(sent.data(), first.ptr(), n);
  offload::copy_sync(first.ptr(), second.ptr(), n);
  std::vector<int> got(n);
  offload::get_sync(second.ptr(), got.data(), n);
  EXPECT_EQ(got, sent);
  const std::vector<int> zero(1, 0);
  offload::put_sync(zero.data(), second.ptr() + 1, 1);
  EXPECT_THROW(offload::copy_sync(first.ptr(), second.ptr() + 1, n), buffer_error);
  offload::get_sync(second.ptr(), got.data(), 2);
  EXPECT_EQ(got[1], 0) << "checked before any byte moves";
}

TEST_P(memory, many_at_once) {
  std::vector<offload::buffer<int>> all;
  std::vector<std::vector<int>> sent;
  std::vector<offload::future<void>> puts;
  for (int i = 0; i < 40; ++i) {
    all.emplace_back(1 + i % 2, 50000);
    sent.push_back(numbers(50000, i));
  }
  for (std::size_t i = 0; i < 40; ++i) puts.push_back(offload::put(sent[i].data(), all[i].ptr(), 50000));
  offload::when_all(std::move(puts)).get();
  std::vector<std::vector<int>> got(40, std::vector<int>(50000));
  std::vector<offload::future<void>> gets;
  for (std::size_t i = 0; i < 40; ++i) gets.push_back(offload::get(all[i].ptr(), got[i].data(), 50000));
  for (auto& one : gets) one.get();
  EXPECT_EQ(got, sent);
}

TEST_P(memory, out_of_range) {
  offload::buffer<int> there(1, 100);
  offload::buffer<int> neighbour(1, 100);
  std::vector<int> here(1000, 1);
  const std::string text = message_of<buffer_error>([&] { offload::put_sync(here.data(), there.ptr(), 101); });
  EXPECT_NE(text.find("node 1"), std::string::npos) << text;
  EXPECT_THROW(offload::get_sync(there.ptr(), here.data(), 101), buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() + 50, 51), buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() - 1, 1), buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() + 101, 1), buffer_error);
  EXPECT_THROW(offload::get_sync(there.ptr() + 1000000, here.data(), 1), buffer_error);
  const auto wild = offload::detail::buffer_ptr_access::make<int>(std::numeric_limits<std::uint64_t>::max() - 4,
                                                                  there.ptr().tag(), 1);
  EXPECT_THROW(offload::put_sync(here.data(), wild, 100), buffer_error);
  offload::put_sync(here.data(), there.ptr() + 100, 0);
}

TEST_P(memory, stale) {
  std::vector<int> here(100, 1);
  const auto freed = offload::allocate<int>(1, 100);
  offload::free(freed);
  EXPECT_THROW(offload::put_sync(here.data(), freed, 100), buffer_error);
  EXPECT_THROW(offload::get_sync(freed, here.data(), 100), buffer_error);
  EXPECT_THROW(offload::free(freed), buffer_error) << "twice";
  const offload::buffer<int> next(1, 100);
  EXPECT_EQ(next.ptr().address(), freed.address()) << "the same place, another allocation (else this tests nothing)";
  EXPECT_THROW(offload::put_sync(here.data(), freed, 100), buffer_error);
  EXPECT_THROW(offload::copy_sync(freed, next.ptr(), 100), buffer_error);
  EXPECT_THROW(offload::copy_sync(next.ptr(), freed, 100), buffer_error);
}

TEST_P(memory, foreign_and_damaged) {
  std::vector<int> here(100, 1);
  offload::buffer<int> there(1, 100);
  const auto at = there.ptr();
  EXPECT_THROW(
      offload::put_sync(here.data(), offload::detail::buffer_ptr_access::make<int>(at.address(), at.tag(), 2), 100),
      buffer_error);
  EXPECT_THROW(
      offload::put_sync(here.data(), offload::detail::buffer_ptr_access::make<int>(at.address(), at.tag() + 1, 1), 100),
      buffer_error);
  EXPECT_THROW(
      offload::put_sync(here.data(), offload::detail::buffer_ptr_access::make<int>(at.address(), ~0ULL, 1), 100),
      buffer_error);
  EXPECT_THROW(
      offload::get_sync(offload::detail::buffer_ptr_access::make<int>(at.address(), at.tag(), 9), here.data(), 1),
      call_error);
  EXPECT_THROW(offload::put_sync(here.data(), offload::buffer_ptr<int>(), 1), call_error);
  EXPECT_THROW(offload::free(at + 1), buffer_error);
  EXPECT_THROW(offload::free(offload::detail::buffer_ptr_access::make<int>(at.address(), at.tag(), 2)), buffer_error);
  // No tag and no such memory: the kernel is asked, nothing crashes.
  EXPECT_THROW(offload::put_sync(here.data(), offload::detail::buffer_ptr_access::make<int>(16, 0, 1), 1),
               buffer_error);
  EXPECT_THROW(offload::get_sync(offload::detail::buffer_ptr_access::make<int>(16, 0, 1), here.data(), 1),
               buffer_error);
  EXPECT_THROW(offload::get_sync(offload::detail::buffer_ptr_access::make<int>(16, 0, 0), here.data(), 1),
               buffer_error);
}

TEST_P(memory, a_null_pointer_cannot_be_freed) {
  for (const offload::buffer_ptr<int> null : {offload::buffer_ptr<int>(), offload::buffer_ptr<int>(nullptr, 1)}) {
    EXPECT_NE(message_of<buffer_error>([&] { offload::free(null); }).find("cannot free a null buffer_ptr"),
              std::string::npos);
    EXPECT_NE(message_of<buffer_error>([&] { offload::free(1, null); }).find("free what allocate returned"),
              std::string::npos);
  }
}

TEST_P(memory, too_much) {
  EXPECT_THROW((void)offload::allocate<double>(1, std::numeric_limits<std::size_t>::max() / 4), buffer_error);
  EXPECT_THROW((void)offload::allocate<char>(1, std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
  EXPECT_THROW((void)offload::allocate<char>(0, std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
  EXPECT_EQ(offload::sync(1, [] { return 1; }), 1);
}

TEST_P(memory, of_any_address_of_the_owner) {
  if (test::emulated()) GTEST_SKIP() << "the emulator has no process_vm_readv, by which addresses are checked";
  // A local pointer under the number of its node, as applications do with memory of their own.
  std::vector<int> own = numbers(1000);
  const offload::buffer_ptr<int> shared(own.data(), offload::this_node());
  EXPECT_EQ(offload::sync(
                1,
                [](offload::buffer_ptr<int> of_host) {
                  std::vector<int> copy(1000);
                  offload::get_sync(of_host, copy.data(), 1000);
                  const int answer = -5;
                  offload::put_sync(&answer, of_host + 3, 1);
                  return std::accumulate(copy.begin(), copy.end(), 0L);
                },
                shared),
            499500);
  EXPECT_EQ(own[3], -5);
}

TEST_P(memory, pointer_into_an_allocation_of_this_node_finds_its_tag) {
  offload::buffer<int> own(0, 100);
  const offload::buffer_ptr<int> again(own.ptr().get() + 10, 0);
  EXPECT_EQ(again.tag(), own.ptr().tag());
  EXPECT_EQ(again, own.ptr() + 10);
}

TEST_P(memory, owner) {
  offload::buffer<int> one(1, 10);
  const auto at = one.ptr();
  offload::buffer<int> two(std::move(one));
  EXPECT_EQ(two.ptr(), at);
  EXPECT_EQ(two.size(), 10U);
  offload::buffer<int> three(2, 5);
  three = std::move(two);
  EXPECT_EQ(three.node(), 1);
  int value = 3;
  offload::put_sync(&value, three.ptr(), 1);
  const auto released = three.release();
  offload::free(released);
  EXPECT_THROW(offload::put_sync(&value, at, 1), buffer_error);
}

TEST_P(memory, handles_of_a_job_that_has_ended) {
  offload::buffer_ptr<int> old;
  {
    runtime other(loopback(1, GetParam()));
    old = offload::allocate<int>(1, 10);
  }
  int value = 1;
  EXPECT_THROW(offload::put_sync(&value, old, 1), buffer_error);
}

}  // namespace memory_test
