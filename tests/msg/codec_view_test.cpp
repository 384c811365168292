// Spans and string views: in place when aligned, a copy otherwise, always the right elements.
#include <bit>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec_helpers.hpp"
#include "ham/msg/codec.hpp"

namespace {

using namespace codec_test;
using namespace ham::msg;

// The payload of a view starts 8 bytes into its encoding; alignas(16) storage and an offset choose its alignment.
template <class T>
class received {
 public:
  received(const T& value, std::size_t offset) : storage_(64 + encoded_size(value)) {
    std::byte* start = storage_.data();
    while (reinterpret_cast<std::uintptr_t>(start) % 16 != 0) ++start;
    size_ = encoded_size(value);
    start_ = start + offset;
    writer to(start_, size_);
    encode(to, value);
  }
  [[nodiscard]] decode_result_t<T> get() const {
    reader from(start_, size_);
    auto result = decode<T>(from);
    from.expect_end();
    return result;
  }
  [[nodiscard]] bool contains(const void* at) const {
    return at >= storage_.data() && at < storage_.data() + storage_.size();
  }
  void expect_truncations_refused() const {
    for (std::size_t size = 0; size < size_; ++size) {
      reader from(start_, size);
      EXPECT_THROW((void)decode<T>(from), ham::protocol_error);
    }
  }

 private:
  bytes storage_;
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

TEST(codec_view, aligned_spans_are_seen_in_place) {
  std::vector<double> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0.5);
  const received<std::span<const double>> message(std::span<const double>(numbers), 0);
  const auto arrived = message.get();
  const bool as_on_the_wire = std::endian::native == std::endian::little;
  EXPECT_EQ(arrived.in_place(), as_on_the_wire);
  const std::span<const double> view = arrived;
  EXPECT_EQ(message.contains(view.data()), as_on_the_wire);
  EXPECT_TRUE(std::equal(view.begin(), view.end(), numbers.begin(), numbers.end()));
  message.expect_truncations_refused();
}

TEST(codec_view, unaligned_spans_are_copied) {
  std::vector<double> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0.5);
  const received<std::span<const double>> message(std::span<const double>(numbers), 3);
  auto arrived = message.get();
  EXPECT_FALSE(arrived.in_place());
  const auto moved = std::move(arrived);
  const std::span<const double> view = moved;
  EXPECT_FALSE(message.contains(view.data()));
  EXPECT_TRUE(std::equal(view.begin(), view.end(), numbers.begin(), numbers.end()));
  message.expect_truncations_refused();
}

TEST(codec_view, spans_of_other_elements) {
  const std::vector<std::string> words{"a", "bc"};
  const received<std::span<const std::string>> message{std::span<const std::string>(words), 0};
  const auto arrived = message.get();
  const std::span<const std::string> view = arrived;
  EXPECT_TRUE(std::equal(view.begin(), view.end(), words.begin(), words.end()));
  message.expect_truncations_refused();

  const bool truths[] = {true, false, true};
  const received<std::span<const bool>> flags(std::span<const bool>(truths), 1);
  const auto flags_arrived = flags.get();
  const std::span<const bool> flags_view = flags_arrived;
  EXPECT_TRUE(std::equal(flags_view.begin(), flags_view.end(), truths));

  const received<std::span<const int>> nothing(std::span<const int>(), 0);
  EXPECT_EQ(nothing.get().get().size(), 0U);
}

TEST(codec_view, truth_values_in_a_span_are_checked) {
  bytes wire = encoded(std::vector<char>{1, 2});
  reader from(wire);
  EXPECT_THROW((void)decode<std::span<const bool>>(from), ham::protocol_error);
}

TEST(codec_view, spans_of_fixed_extent) {
  const std::array<int, 3> numbers{1, 2, 3};
  using span = std::span<const int, 3>;
  const received<span> message(span(numbers), 0);
  const auto arrived = message.get();
  const span view = arrived;
  EXPECT_EQ(view[2], 3);
  const bytes two = encoded(std::vector<int>{1, 2});
  reader from(two);
  EXPECT_THROW((void)decode<span>(from), ham::protocol_error);
}

TEST(codec_view, string_views_are_seen_in_place) {
  const received<std::string_view> message(std::string_view("hello"), 1);
  const std::string_view view = message.get();
  EXPECT_EQ(view, "hello");
  EXPECT_TRUE(message.contains(view.data()));
  message.expect_truncations_refused();
  EXPECT_EQ(received<std::string_view>(std::string_view(), 0).get(), "");
  EXPECT_EQ(received<std::u8string_view>(std::u8string_view(u8"x"), 0).get(), u8"x");
}

TEST(codec_view, wide_string_views_at_any_alignment) {
  for (const std::size_t offset : {0U, 1U, 2U, 4U}) {
    const received<std::wstring_view> wide(std::wstring_view(L"wide"), offset);
    const auto wide_arrived = wide.get();
    EXPECT_EQ(std::wstring_view(wide_arrived), L"wide");
    wide.expect_truncations_refused();
    const received<std::u16string_view> sixteen(std::u16string_view(u"sixteen characters and more"), offset);
    const auto sixteen_arrived = sixteen.get();
    EXPECT_EQ(std::u16string_view(sixteen_arrived), u"sixteen characters and more");
  }
}

TEST(codec_view, views_and_owning_types_have_one_encoding) {
  const std::vector<int> numbers{1, 2, 3};
  EXPECT_EQ(encoded(std::span<const int>(numbers)), encoded(numbers));
  EXPECT_EQ(layout_text<std::span<const int>>(), layout_text<std::vector<int>>());
  EXPECT_EQ(encoded(std::string_view("abc")), encoded(std::string("abc")));
  EXPECT_EQ(layout_text<std::string_view>(), layout_text<std::string>());
}

TEST(codec_view, huge_counts_are_refused) {
  const bytes wire = encoded(~std::uint64_t{0} / 8 + 1);
  reader a(wire);
  EXPECT_THROW((void)decode<std::span<const double>>(a), ham::protocol_error);
  reader b(wire);
  EXPECT_THROW((void)decode<std::string_view>(b), ham::protocol_error);
  reader c(wire);
  EXPECT_THROW((void)decode<std::u32string_view>(c), ham::protocol_error);
}

}  // namespace
