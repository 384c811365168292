// Ranges in place of pointers and counts: what may stand where, how much moves, and what does not fit.
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "ham/msg/codec.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace span_test {

class spans : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, spans, testing::Bool(), name_of_way);

std::vector<int> numbers(std::size_t count, int first = 1) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::vector<int> content(const offload::buffer<int>& memory) {
  std::vector<int> result(memory.size());
  offload::get_sync(memory.ptr(), result.data(), result.size());
  return result;
}

long sum(offload::buffer_span<const int> values) {
  const auto here = values.local();
  return std::accumulate(here.begin(), here.end(), 0L);
}
offload::buffer_span<int> middle(offload::buffer_span<int> values) { return values.subspan(1, values.size() - 2); }
void double_all(offload::buffer_span<int> values) {
  for (int& value : values.local()) value *= 2;
}

TEST_P(spans, every_range_in_a_row) {
  buffer<int> there(1, 4);
  const std::vector<int> vector{1, 2, 3, 4};
  offload::put(vector, there).get();
  EXPECT_EQ(content(there), vector);
  const int plain[] = {5, 6, 7, 8};
  offload::put(plain, there).get();
  EXPECT_EQ(content(there), (std::vector{5, 6, 7, 8}));
  std::array<int, 2> array{9, 10};
  offload::put(array, there.subspan(1)).get();
  EXPECT_EQ(content(there), (std::vector{5, 9, 10, 8}));
  offload::put(std::span(vector).first(1), there.ptr() + 3).get();
  EXPECT_EQ(content(there), (std::vector{5, 9, 10, 1}));

  std::string text = "text";
  buffer<char> letters(2, 4);
  offload::put_sync(text, letters);
  text = "----";
  offload::get_sync(letters, text);
  EXPECT_EQ(text, "text");
}

TEST_P(spans, the_local_range_says_how_much) {
  buffer<int> there(1, 10);
  offload::put_sync(numbers(10), there);  // a temporary is fine where the call waits
  std::vector<int> some(3);
  offload::get(there.subspan(4), some).get();
  EXPECT_EQ(some, (std::vector{5, 6, 7}));
  offload::get(there, std::span(some).last(2)).get();
  EXPECT_EQ(some, (std::vector{5, 1, 2}));
  offload::get_sync(there.span().last(3), some);
  EXPECT_EQ(some, (std::vector{8, 9, 10}));
  offload::put(std::span<const int>(), there).get();
  EXPECT_EQ(content(there), numbers(10));
}

TEST_P(spans, copies_between_nodes) {
  buffer<int> one(1, 6);
  buffer<int> two(2, 6);
  offload::put_sync(numbers(6), one);
  offload::copy(one, two).get();
  EXPECT_EQ(content(two), numbers(6));
  offload::copy_sync(one.subspan(0, 2), two.subspan(4));
  EXPECT_EQ(content(two), (std::vector{1, 2, 3, 4, 1, 2}));
  offload::copy_sync(two.subspan(4), one.ptr() + 1);
  EXPECT_EQ(content(one), (std::vector{1, 1, 2, 4, 5, 6}));
}

TEST_P(spans, buffers_where_pointers_stand) {
  buffer<int> one(1, 4);
  buffer<int> two(2, 4);
  const auto sent = numbers(4);
  offload::put(sent.data(), one, 4).get();
  offload::put_sync(sent.data(), one, 4);
  offload::copy(one, two, 4).get();
  offload::copy_sync(one.ptr(), two, 4);
  std::vector<int> got(4);
  offload::get(two, got.data(), 4).get();
  EXPECT_EQ(got, sent);
  offload::get_sync(two.subspan(1), got.data(), 3);
  EXPECT_EQ(got, (std::vector{2, 3, 4, 4}));
}

TEST_P(spans, what_does_not_fit_is_refused_at_once) {
  buffer<int> there(1, 4);
  offload::put_sync(numbers(4), there);
  auto five = numbers(5, 100);
  const auto expect_refused = [&](auto what) {
    EXPECT_NE(message_of<buffer_error>(what).find("5 elements: the memory on the node has 4"), std::string::npos);
  };
  expect_refused([&] { offload::put(five, there).get(); });
  expect_refused([&] { offload::put_sync(five, there.span()); });
  expect_refused([&] { offload::get(there, five).get(); });
  expect_refused([&] { offload::get_sync(there, five.data(), 5); });
  expect_refused([&] { offload::put(five.data(), there, 5).get(); });
  buffer<int> larger(2, 5);
  expect_refused([&] { offload::copy(larger, there).get(); });
  expect_refused([&] { offload::copy(there, larger, 5).get(); });
  EXPECT_EQ(content(there), numbers(4));
  EXPECT_EQ(five, numbers(5, 100));
  EXPECT_THROW(offload::put(five, there.ptr()).get(), buffer_error) << "known to the node alone";
}

TEST_P(spans, parts_lie_inside) {
  buffer<int> there(1, 4);
  EXPECT_EQ(there.subspan(4).size(), 0U);
  EXPECT_EQ(there.subspan(1, 3).ptr(), there.ptr() + 1);
  EXPECT_EQ(there.span().first(2).size_bytes(), 8U);
  EXPECT_NE(message_of<buffer_error>([&] { (void)there.subspan(5); }).find("from 5 on are outside of a range of 4"),
            std::string::npos);
  EXPECT_THROW((void)there.subspan(1, 4), buffer_error);
  EXPECT_THROW((void)there.subspan(2, SIZE_MAX - 1), buffer_error);
  EXPECT_THROW((void)there.span().first(5), buffer_error);
  EXPECT_THROW((void)there.span().last(5), buffer_error);
}

TEST_P(spans, arguments_and_results_of_calls) {
  buffer<int> there(1, 4);
  offload::put_sync(numbers(4), there);
  EXPECT_EQ(offload::sync(1, fn<&sum>, there), 10);
  EXPECT_EQ(offload::sync(1, f2f(&sum, there.subspan(2))), 7);
  const auto inner = offload::sync(1, fn<&middle>, there);
  EXPECT_EQ(inner, there.subspan(1, 2));
  offload::sync(1, fn<&double_all>, inner);
  EXPECT_EQ(content(there), (std::vector{1, 4, 6, 4}));
  EXPECT_EQ(offload::sync(
                1, [](buffer_span<int> values) { return values.size(); }, there),
            4U);
}

TEST_P(spans, local_means_on_that_node) {
  buffer<int> there(1, 4);
  EXPECT_NE(message_of<buffer_error>([&] { (void)there.span().local(); }).find("memory of node 1"), std::string::npos);
  EXPECT_THROW((void)offload::sync(2, fn<&sum>, there), buffer_error);
  EXPECT_TRUE(buffer_span<int>().local().empty());
  buffer<int> here(0, 2);
  here.span().local()[1] = 5;
  EXPECT_EQ(here.span()[1], 5);
}

TEST(span_codec, hostile_sizes_are_refused) {
  const buffer_span<double> sent(offload::detail::buffer_ptr_access::make<double>(4096, 7, 1), 10);
  std::vector<std::byte> bytes(msg::encoded_size(sent));
  ASSERT_EQ(bytes.size(), 28U);
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, sent);
  msg::reader from(bytes.data(), bytes.size());
  EXPECT_EQ(msg::decode<buffer_span<double>>(from), sent);
  for (std::size_t at = 20; at < 28; ++at) bytes[at] = std::byte{0xff};
  msg::reader hostile(bytes.data(), bytes.size());
  EXPECT_THROW((void)msg::decode<buffer_span<double>>(hostile), protocol_error);
}

TEST(span_types, temporary_owners_do_not_convert) {
  static_assert(!std::is_convertible_v<buffer<int>, buffer_ptr<int>>);
  static_assert(!std::is_convertible_v<buffer<int>, buffer_ptr<const int>>);
  static_assert(!std::is_convertible_v<buffer<int>, buffer_span<int>>);
  static_assert(!std::is_convertible_v<const buffer<int>, buffer_span<const int>>);
  static_assert(std::is_convertible_v<buffer<int>&, buffer_ptr<int>>);
  static_assert(std::is_convertible_v<const buffer<int>&, buffer_ptr<const int>>);
  static_assert(std::is_convertible_v<const buffer<int>&, buffer_span<const int>>);
  static_assert(!std::is_convertible_v<buffer_span<const int>, buffer_span<int>>);
  static_assert(std::is_same_v<ham::future<int>, offload::future<int>>);
}

}  // namespace span_test
