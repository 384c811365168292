// Numbers, enumerations, arrays, objects as bytes, packs: values, exact bytes, sizes known at compile time.
#include "ham/msg/codec.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec_helpers.hpp"

namespace {

using namespace codec_test;
using namespace ham::msg;

enum class colour : std::uint16_t { red = 1, green = 0x0203 };
enum plain { first, second = 70000 };
enum class yes_no : bool { no, yes };

struct point {
  int x;
  double y;
  bool operator==(const point&) const = default;
};

struct without_default {
  explicit without_default(int v) : value(v) {}
  int value;
  bool operator==(const without_default&) const = default;
};

struct shape {
  explicit shape(int s) : sides(s) {}
  virtual ~shape() = default;
  virtual int area() const { return sides; }
  int sides;
};
struct square final : shape {
  explicit square(int s) : shape(s) {}
  int area() const override { return sides * sides; }
};

struct counts_copies {
  int value = 0;
  counts_copies() = default;
  counts_copies(const counts_copies& other) : value(other.value + 1) {}
};

/// Assigned element by element, which makes the class not trivially copyable.
class interval {
 public:
  interval() : ends_(0, 0) {}
  interval(double low, double high) : ends_(low, high) {}
  bool operator==(const interval&) const = default;

 private:
  std::pair<double, double> ends_;
};
/// Not default constructible, and moved element by element.
class entry {
 public:
  entry(int number, double value) : fields_(number, value, 'c') {}
  bool operator==(const entry&) const = default;

 private:
  std::tuple<int, double, char> fields_;
};
struct named_interval {  // an aggregate of one
  std::string name;
  interval range;
  bool operator==(const named_interval&) const = default;
};

struct empty_functor {
  int operator()() const { return 5; }
};

struct not_movable {
  std::string text;
  not_movable(const not_movable&) = delete;
};

}  // namespace

template <>
struct ham::is_bitwise_copyable<counts_copies> : std::true_type {};
template <>
struct ham::is_bitwise_copyable<volatile int*> : std::true_type {};

namespace {

TEST(codec, numbers_cross) {
  expect_crosses<char>('x');
  expect_crosses<signed char>(-3);
  expect_crosses<unsigned char>(200);
  expect_crosses<short>(-12345);
  expect_crosses<unsigned short>(54321);
  expect_crosses<int>(-123456789);
  expect_crosses<unsigned>(4123456789U);
  expect_crosses<long>(std::numeric_limits<long>::min());
  expect_crosses<unsigned long>(std::numeric_limits<unsigned long>::max());
  expect_crosses<long long>(std::numeric_limits<long long>::min());
  expect_crosses<unsigned long long>(std::numeric_limits<unsigned long long>::max());
  expect_crosses<float>(1.5F);
  expect_crosses<double>(-2.25e300);
  expect_crosses<long double>(std::numeric_limits<long double>::epsilon() + 1);
  expect_crosses<long double>(-std::numeric_limits<long double>::max());
  expect_crosses<wchar_t>(L'\x20ac');
  expect_crosses<char8_t>(u8'y');
  expect_crosses<char16_t>(u'\x20ac');
  expect_crosses<char32_t>(U'\x1f600');
  expect_crosses(true);
  expect_crosses(false);
  expect_crosses(std::byte{0x5a});
  expect_crosses(nullptr);
  EXPECT_TRUE(std::isnan(round_trip(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::signbit(round_trip(-0.0L)));
}

TEST(codec, enumerations_cross) {
  expect_crosses(colour::green);
  EXPECT_EQ(round_trip(second),
            second);  // no damage: without a fixed underlying type the language forbids other values
  expect_truncations_refused(second);
  expect_crosses(yes_no::yes);
  EXPECT_THROW((void)decoded<yes_no>(bytes{std::byte{2}}), ham::protocol_error);
}

TEST(codec, bytes_are_little_endian_and_packed) {
  const auto text = [](const bytes& from) {
    std::string hex;
    for (const std::byte b : from) {
      constexpr const char* digits = "0123456789abcdef";
      hex += digits[static_cast<unsigned>(b) >> 4U];
      hex += digits[static_cast<unsigned>(b) & 15U];
    }
    return hex;
  };
  EXPECT_EQ(text(encoded(std::uint32_t{0x01020304})), "04030201");
  EXPECT_EQ(text(encoded(colour::green)), "0302");
  EXPECT_EQ(text(encoded(1.0)), "000000000000f03f");
  EXPECT_EQ(text(encoded(true)), "01");
  EXPECT_EQ(text(encoded(std::string("ab"))), "02000000000000006162");
  EXPECT_EQ(text(encoded(std::tuple<char, std::uint16_t>('a', std::uint16_t{0x0102}))), "610201");
  EXPECT_EQ(text(encoded(std::vector<bool>{true, false, true})), "030000000000000005");
  EXPECT_EQ(text(encoded(std::optional<std::uint8_t>(7))), "0107");
  EXPECT_EQ(text(encoded(std::variant<std::uint8_t, std::uint16_t>(std::uint16_t{3}))), "010300");
}

TEST(codec, sizes_are_known_at_compile_time) {
  static_assert(fixed_encoded_size_v<int> == 4);
  static_assert(fixed_encoded_size_v<std::tuple<char, double, void*>> == 17);
  static_assert(fixed_encoded_size_v<std::array<point, 3>> == 3 * sizeof(point));
  static_assert(fixed_encoded_size_v<empty_functor> == 0);
  static_assert(fixed_encoded_size_v<std::pair<int, bool>> == 5);
  static_assert(!fixed_size_v<std::string>);
  static_assert(!fixed_size_v<std::tuple<int, std::string>>);
  static_assert(encoded_size(5) == 4);
  static_assert(fixed_pack_size_v<int, double, point> == 12 + sizeof(point));
  static_assert(fixed_pack_size_v<> == 0);
  static_assert(!fixed_pack_v<int, std::span<const int>>);
}

TEST(codec, what_crosses_and_what_does_not) {
  static_assert(crosses<int> && crosses<point> && crosses<std::string> && crosses<std::tuple<void*>>);
  static_assert(crosses<std::span<const double>> && !crosses_back<std::span<const double>>);
  static_assert(crosses<std::string_view> && !crosses_back<std::string_view>);
  static_assert(crosses_back<void> && crosses_back<std::vector<int>>);
  static_assert(!crosses<int*> && !crosses<const char*> && !crosses<int&> && !crosses<void (*)()> && !crosses<void>);
  static_assert(crosses<volatile int*>);
  static_assert(!crosses<int point::*> && !crosses<int (point::*)()> && !crosses<std::reference_wrapper<int>>);
  static_assert(!crosses<std::span<int>> && !crosses<std::initializer_list<int>> && !crosses<std::coroutine_handle<>>);
  static_assert(!crosses<std::vector<int*>> && !crosses<std::array<int*, 2>> && !crosses<std::pair<int*, int>>);
  static_assert(!crosses<std::tuple<void (*)()>> && !crosses<std::tuple<int&>>);
  static_assert(!crosses<std::unique_ptr<int>> && !crosses<std::shared_ptr<int>> && !crosses<not_movable>);
  static_assert(!crosses<std::vector<std::string_view>> && !crosses<std::optional<std::span<const int>>>);
  static_assert(!crosses<int[3]> && !crosses<std::atomic<int>> && !crosses<std::vector<bool>::reference>);
  static_assert(!crosses<std::runtime_error> && !crosses<std::error_code> && !crosses<std::exception_ptr>);
}

TEST(codec, arrays_cross) {
  expect_crosses(std::array<int, 3>{1, 2, 3});
  expect_crosses(std::array<int, 0>{});
  expect_crosses(std::array<bool, 3>{true, false, true});
  expect_crosses(std::array<std::string, 2>{"a", "bc"});
  expect_crosses(std::array<without_default, 2>{without_default(1), without_default(2)});
  expect_crosses(std::array<std::array<double, 2>, 2>{{{1, 2}, {3, 4}}});
  EXPECT_THROW((void)(decoded<std::array<bool, 2>>(bytes{std::byte{1}, std::byte{3}})), ham::protocol_error);
}

TEST(codec, complex_numbers_cross) {
  expect_crosses(std::complex<float>(1, -2));
  expect_crosses(std::complex<double>(1, -2));
  expect_crosses(std::complex<long double>(1, -2));
}

TEST(codec, trivially_copyable_classes_cross_as_their_bytes) {
  expect_crosses(point{1, 2.5});
  expect_crosses(without_default(7));
  EXPECT_EQ(encoded(point{1, 2}).size(), sizeof(point));
  EXPECT_EQ(round_trip(empty_functor{})(), 5);
}

TEST(codec, classes_that_are_only_copied_trivially_cross_as_their_bytes) {
  static_assert(!std::is_trivially_copyable_v<interval> && !std::is_trivially_copyable_v<entry>);
  expect_crosses(interval(1, 2));
  expect_crosses(entry(1, 2.5));
  expect_crosses(std::vector<interval>{{1, 2}, {3, 5}});
  expect_crosses(std::array<entry, 2>{entry(1, 2), entry(3, 4)});
  expect_crosses(named_interval{"range", {1, 2}});
  EXPECT_EQ(encoded(interval(1, 2)).size(), sizeof(interval));
  const auto capturing = [of = std::tuple<int, double>(2, 1.5)](int k) { return std::get<0>(of) * k; };
  EXPECT_EQ(round_trip(capturing)(4), 8);
}

TEST(codec, lambdas_cross_with_their_captures) {
  const double scale = 2.5;
  const auto capturing = [scale](int k) { return scale * k; };
  EXPECT_EQ(round_trip(capturing)(4), 10.0);
  const auto captureless = [](int k) { return k + 1; };
  EXPECT_EQ(encoded(captureless).size(), 0U);
  EXPECT_EQ(round_trip(captureless)(4), 5);
}

TEST(codec, polymorphic_objects_get_the_virtual_table_of_the_receiver) {
  bytes wire = encoded(square(4));
  EXPECT_EQ(wire.size(), sizeof(square));
  EXPECT_EQ(decoded<square>(wire).area(), 16);
#ifndef HAM_TEST_SANITIZED  // -fsanitize=vptr checks the pointer that the copy constructor never reads
  std::fill_n(wire.begin(), sizeof(void*), std::byte{0xee});  // the sender's address of it means nothing here
#endif
  const square arrived = decoded<square>(wire, 3);
  const shape& base = arrived;
  EXPECT_EQ(base.area(), 16);
}

TEST(codec, marked_types_cross_as_their_bytes) {
  counts_copies value;
  value.value = 10;
  EXPECT_EQ(round_trip(value).value, 11);
  EXPECT_EQ(round_trip(std::vector<counts_copies>(3)).size(), 3U);
  static volatile int place = 0;
  volatile int* const pointer = &place;
  EXPECT_EQ(round_trip(pointer), &place);
}

TEST(codec, packs_cross_in_order) {
  const std::vector<double> numbers{1, 2, 3};
  const std::tuple<int, std::string_view, std::span<const double>, point> arguments(1, "two", numbers, point{4, 5});
  bytes buffer(encoded_pack_size(arguments));
  writer to(buffer.data(), buffer.size());
  encode_pack(to, arguments);
  EXPECT_EQ(to.remaining(), 0U);

  reader from(buffer);
  const auto arrived = decode_pack<int, std::string_view, std::span<const double>, point>(from);
  from.expect_end();
  const auto use = [](int a, std::string_view b, std::span<const double> c, const point& d) {
    return a == 1 && b == "two" && c.size() == 3 && c[2] == 3 && d == point{4, 5};
  };
  EXPECT_TRUE(std::apply(use, arrived));
  for (std::size_t size = 0; size < buffer.size(); ++size) {
    reader cut(buffer.data(), size);
    EXPECT_THROW((void)(decode_pack<int, std::string_view, std::span<const double>, point>(cut)), ham::protocol_error);
  }
}

TEST(codec, a_writer_writes_what_was_announced_and_nothing_else) {
  std::array<std::byte, 12> buffer{};
  writer to(buffer.data(), 8);
  to.number(std::uint32_t{1});
  EXPECT_THROW(to.expect_full(), ham::call_error);
  EXPECT_THROW(to.number(std::uint64_t{~0ULL}), ham::call_error);
  EXPECT_THROW(to.bytes(buffer.data(), 5), ham::call_error);
  to.number(std::uint32_t{2});
  EXPECT_NO_THROW(to.expect_full());
  EXPECT_THROW((void)to.take(1), ham::call_error);
  EXPECT_EQ(std::vector(buffer.begin() + 8, buffer.end()), std::vector<std::byte>(4))
      << "nothing behind it was touched";
}

TEST(codec, empty_pack_takes_no_bytes) {
  EXPECT_EQ(encoded_pack_size(std::tuple<>()), 0U);
  writer to(nullptr, 0);
  encode_pack(to, std::tuple<>());
  reader from(nullptr, 0);
  EXPECT_EQ(decode_pack<>(from), std::tuple<>());
}

}  // namespace
