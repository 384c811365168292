// put, get, copy and what is refused, with memory of targets of any instruction set.
#include <cstdint>
#include <numeric>
#include <vector>

#include "support.hpp"

namespace ham::isa {

double sum_of(offload::buffer_ptr<double> numbers, std::uint64_t count) {
  return std::accumulate(numbers.get(), numbers.get() + count, 0.0);
}
void scale(offload::buffer_ptr<double> numbers, std::uint64_t count, double factor) {
  for (std::uint64_t i = 0; i < count; ++i) numbers[static_cast<std::ptrdiff_t>(i)] *= factor;
}
template <class T>
T element(offload::buffer_ptr<T> of, std::int64_t index) {
  return of[static_cast<std::ptrdiff_t>(index)];
}
std::uint64_t sum_from_host(offload::buffer_ptr<std::uint32_t> on_host, std::uint64_t count) {
  std::vector<std::uint32_t> copy(count);
  offload::get_sync(on_host, copy.data(), count);
  const std::uint32_t answer = 0x01020304;
  offload::put_sync(&answer, on_host, 1);
  return std::accumulate(copy.begin(), copy.end(), std::uint64_t{0});
}

namespace {

std::vector<double> numbers(std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = 0.25 * static_cast<double>(i);
  return result;
}

TEST(memory, put_compute_get) {
  with_each_target([](node_t node) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{1'000'000}}) {
      const std::vector<double> source = numbers(count);
      const offload::buffer<double> remote(node, count);
      offload::put_sync(source.data(), remote.ptr(), count);
      EXPECT_EQ(offload::sync(node, fn<&sum_of>, remote.ptr(), count),
                std::accumulate(source.begin(), source.end(), 0.0));
      offload::sync(node, fn<&scale>, remote.ptr(), count, -2.0);
      std::vector<double> back(count);
      offload::get_sync(remote.ptr(), back.data(), count);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], -2.0 * source[i]) << i;
    }
  });
}

TEST(memory, elements_of_every_size) {
  const auto round_trip = []<class T>(node_t node, T first) {
    std::vector<T> source(100);
    std::iota(source.begin(), source.end(), first);
    const offload::buffer<T> remote(node, source.size());
    offload::put_sync(source.data(), remote.ptr(), source.size());
    EXPECT_EQ(offload::sync(node, fn<&element<T>>, remote.ptr(), 41), source[41]);
    std::vector<T> back(source.size());
    offload::get_sync(remote.ptr(), back.data(), back.size());
    EXPECT_EQ(back, source);
  };
  with_each_target([&](node_t node) {
    round_trip(node, std::uint8_t{1});
    round_trip(node, std::int16_t{-300});
    round_trip(node, std::uint32_t{0x01020304});
    round_trip(node, std::int64_t{-(1LL << 40)});
    round_trip(node, 0.5F);
    round_trip(node, 0.5);
  });
}

TEST(memory, of_the_host_used_by_a_target) {
  with_each_target([](node_t node) {
    const offload::buffer<std::uint32_t> own(0, 1000);
    std::iota(own.ptr().get(), own.ptr().get() + 1000, 1U);
    EXPECT_EQ(offload::sync(node, fn<&sum_from_host>, own.ptr(), 1000), 500'500U);
    EXPECT_EQ(own.ptr()[0], 0x01020304U);
  });
}

TEST(memory, copy_between_all_nodes) {
  const std::size_t count = 10'000;
  const std::vector<double> source = numbers(count);
  for (node_t from = 0; from <= last_node(); ++from) {
    for (node_t to = 0; to <= last_node(); ++to) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      const offload::buffer<double> one(from, count);
      const offload::buffer<double> other(to, count);
      offload::put_sync(source.data(), one.ptr(), count);
      offload::copy_sync(one.ptr(), other.ptr(), count);
      EXPECT_EQ(offload::sync(to, fn<&sum_of>, other.ptr(), count), std::accumulate(source.begin(), source.end(), 0.0));
    }
  }
}

TEST(memory, what_must_not_be_touched_is_refused) {
  with_each_target([](node_t node) {
    const auto ptr = offload::allocate<double>(node, 10);
    double local[20] = {};
    EXPECT_THROW(offload::put_sync(local, ptr, 11), buffer_error);
    EXPECT_THROW(offload::get_sync(ptr + 5, local, 6), buffer_error);
    offload::free(ptr);
    EXPECT_THROW(offload::get_sync(ptr, local, 1), buffer_error);
    EXPECT_THROW(offload::free(ptr), buffer_error);
  });
}

}  // namespace
}  // namespace ham::isa
