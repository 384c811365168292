// put, get, copy and what is refused, with memory of targets of any instruction set.
#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support.hpp"

namespace ham::inline v1::isa {

double sum_of(offload::buffer_ptr<double> numbers, std::uint64_t count) {
  return std::accumulate(numbers.get(), numbers.get() + count, 0.0);
}
void scale(offload::buffer_ptr<double> numbers, std::uint64_t count, double factor) {
  for (std::uint64_t i = 0; i < count; ++i) numbers[static_cast<std::ptrdiff_t>(i)] *= factor;
}
enum class level : std::uint16_t { low = 0x0102, high = 0xf0e0 };
using triple = std::array<std::int16_t, 3>;

/// The last elements of buffers of 100, as numbers.
std::vector<double> last_of(offload::buffer_ptr<std::uint8_t> bytes, offload::buffer_ptr<std::int16_t> shorts,
                            offload::buffer_ptr<std::uint32_t> ints, offload::buffer_ptr<std::int64_t> longs,
                            offload::buffer_ptr<float> floats, offload::buffer_ptr<level> levels,
                            offload::buffer_ptr<triple> triples, offload::buffer_ptr<std::complex<float>> complexes) {
  return {static_cast<double>(bytes[99]),      static_cast<double>(shorts[99]),
          static_cast<double>(ints[99]),       static_cast<double>(longs[99]),
          static_cast<double>(floats[99]),     static_cast<double>(levels[99]),
          static_cast<double>(triples[99][2]), static_cast<double>(complexes[99].imag())};
}
double twice(offload::buffer_ptr<sample> samples) {
  samples[0].number *= 2;
  return samples[0].value;
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

TEST(memory, a_block_of_rows) {
  with_each_target([](node_t node) {
    constexpr std::size_t rows = 400, columns = 500;  // more than one message
    const std::vector<double> matrix = numbers(rows * 2 * columns);
    const offload::buffer<double> remote(node, rows * columns);
    offload::put_sync(matrix.data() + columns, remote.ptr(),
                      {.rows = rows, .columns = columns, .source_pitch = 2 * columns});
    double expected = 0;
    for (std::size_t at = 0; at < matrix.size(); ++at) expected += at / columns % 2 == 1 ? matrix[at] : 0;
    EXPECT_EQ(offload::sync(node, fn<&sum_of>, remote.ptr(), rows * columns), expected);
    std::vector<double> column(rows);
    offload::get_sync(remote.ptr() + 3, column.data(), {.rows = rows, .columns = 1, .source_pitch = columns});
    for (std::size_t row = 0; row < rows; ++row) ASSERT_EQ(column[row], matrix[(2 * row + 1) * columns + 3]) << row;
  });
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

/// 100 elements on a node, the last one is `value`; checks that they come back as they went.
template <class T>
offload::buffer<T> filled(node_t node, T value) {
  std::vector<T> source(100);
  source[1] = source[99] = value;
  offload::buffer<T> remote(node, source.size());
  offload::put_sync(source.data(), remote.ptr(), source.size());
  std::vector<T> back(source.size());
  offload::get_sync(remote.ptr(), back.data(), back.size());
  EXPECT_EQ(back, source);
  return remote;
}

TEST(memory, elements_of_every_kind) {
  with_each_target([&](node_t node) {
    const auto bytes = filled<std::uint8_t>(node, 200);
    const auto shorts = filled<std::int16_t>(node, -300);
    const auto ints = filled<std::uint32_t>(node, 0x01020304);
    const auto longs = filled<std::int64_t>(node, -(1LL << 40));
    const auto floats = filled<float>(node, 0.5F);
    const auto levels = filled<level>(node, level::high);
    const auto triples = filled<triple>(node, {1, 2, -3});
    const auto complexes = filled<std::complex<float>>(node, {1.5F, -2.5F});
    EXPECT_EQ(offload::sync(node, fn<&last_of>, bytes.ptr(), shorts.ptr(), ints.ptr(), longs.ptr(), floats.ptr(),
                            levels.ptr(), triples.ptr(), complexes.ptr()),
              (std::vector<double>{200, -300, 0x01020304, -1099511627776.0, 0.5, 0xf0e0, -3, -2.5}));
  });
}

/// put, get and copy of one element between two nodes are refused.
template <class T>
void expect_refused(node_t node, offload::buffer_ptr<T> own, offload::buffer_ptr<T> there) {
  const auto refused = [node](const auto& access) {
    try {
      access();
      ADD_FAILURE() << "it was copied";
    } catch (const buffer_error& problem) {
      expect_in(problem.what(), "the two nodes lay them out differently");
      expect_in(problem.what(), "node " + std::to_string(node));
    }
  };
  T local{};
  refused([&] { offload::put_sync(&local, there, 1); });
  refused([&] { offload::get_sync(there, &local, 1); });
  refused([&] { offload::copy_sync(own, there, 1); });
  refused([&] { offload::copy_sync(there, own, 1); });
}

TEST(memory, objects_cross_where_they_lie_alike) {
  const offload::buffer<sample> own(0, 1);
  with_each_target([&](node_t node) {
    const offload::buffer<sample> remote(node, 1);
    if (!same_byte_order(0, node)) return expect_refused(node, own.ptr(), remote.ptr());
    const sample source{0.1, 21, 3};
    offload::put_sync(&source, remote.ptr(), 1);
    EXPECT_EQ(offload::sync(node, fn<&twice>, remote.ptr()), 0.1);
    offload::copy_sync(remote.ptr(), own.ptr(), 1);
    EXPECT_EQ(own.ptr()[0], (sample{0.1, 42, 3}));
  });
}

TEST(memory, long_double_crosses_where_it_lies_alike) {
  const offload::buffer<long double> own(0, 1);
  with_each_target([&](node_t node) {
    const offload::buffer<long double> remote(node, 1);
    if (!same_byte_order(0, node) || !same_long_double(0, node)) return expect_refused(node, own.ptr(), remote.ptr());
    const long double source = 1.0L / 3;
    offload::put_sync(&source, remote.ptr(), 1);
    offload::copy_sync(remote.ptr(), own.ptr(), 1);
    EXPECT_EQ(own.ptr()[0], source);
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

TEST(memory, objects_between_all_nodes) {
  for (node_t from = 0; from <= last_node(); ++from) {
    for (node_t to = 0; to <= last_node(); ++to) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      const offload::buffer<sample> one(from, 10);
      const offload::buffer<sample> other(to, 10);
      auto copied = offload::copy(one.ptr(), other.ptr(), 10);
      if (same_byte_order(from, to))
        copied.get();
      else
        EXPECT_THROW(copied.get(), buffer_error);
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
