// Every kind of type that the library lets cross, to each target and back.
#include <array>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <limits>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support.hpp"
#include "text_of.hpp"

namespace isa_types {

enum class small : std::int8_t { low = -100, high = 100 };
enum class large : std::uint64_t { value = 0xfedcba9876543210 };

struct with_fields {
  double position[3] = {};
  std::string name;
  std::vector<std::int16_t> samples;
  HAM_FIELDS(position, name, samples)
  friend bool operator==(const with_fields& a, const with_fields& b) {
    return std::equal(a.position, a.position + 3, b.position) && a.name == b.name && a.samples == b.samples;
  }
  [[nodiscard]] std::string as_text() const {
    return ham::isa::text_of(std::vector<double>(position, position + 3)) + name + ham::isa::text_of(samples);
  }
};

struct with_serialize {
  std::int64_t number = 0;
  std::map<std::string, double> table;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, table);
  }
  bool operator==(const with_serialize&) const = default;
  [[nodiscard]] std::string as_text() const { return std::to_string(number) + ham::isa::text_of(table); }
};

struct with_codec {
  std::uint32_t parts = 0;
  bool operator==(const with_codec&) const = default;
  [[nodiscard]] std::string as_text() const { return std::to_string(parts); }
};

struct nothing {
  bool operator==(const nothing&) const = default;
  [[nodiscard]] std::string as_text() const { return "nothing"; }
};

}  // namespace isa_types

template <>
struct ham::codec<isa_types::with_codec> {
  static std::size_t size(const isa_types::with_codec&) { return 4; }
  static void write(ham::msg::writer& to, const isa_types::with_codec& value) {
    for (int shift = 0; shift < 32; shift += 8) ham::msg::encode(to, static_cast<std::uint8_t>(value.parts >> shift));
  }
  static isa_types::with_codec read(ham::msg::reader& from) {
    isa_types::with_codec value;
    for (int shift = 0; shift < 32; shift += 8) {
      value.parts |= static_cast<std::uint32_t>(ham::msg::decode<std::uint8_t>(from)) << shift;
    }
    return value;
  }
  static std::string layout() { return "four_bytes"; }
};

namespace ham::isa {
namespace {

using isa_types::with_fields;

}  // namespace

template <class T>
T echo(const T& value) {
  return value;
}
template <class T>
std::string described(const T& value) {
  return text_of(value);
}
std::string described_view(std::string_view text, std::span<const double> numbers) {
  return std::string(text) + text_of(std::vector<double>(numbers.begin(), numbers.end()));
}

namespace {

/// The target sees the same value, and it comes back unchanged.
template <class T>
void expect_crosses(const T& value) {
  with_each_target([&](node_t node) {
    EXPECT_EQ(offload::sync(node, fn<&described<T>>, value), text_of(value));
    EXPECT_TRUE(offload::sync(node, fn<&echo<T>>, value) == value);
  });
}

template <class T>
void expect_limits_cross() {
  expect_crosses(std::numeric_limits<T>::min());
  expect_crosses(std::numeric_limits<T>::max());
  expect_crosses(static_cast<T>(1));
  expect_crosses(std::vector<T>{0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()});
  expect_crosses(std::array<T, 3>{3, 2, 1});
}

TEST(codecs, integers) {
  expect_limits_cross<std::int8_t>();
  expect_limits_cross<std::uint8_t>();
  expect_limits_cross<std::int16_t>();
  expect_limits_cross<std::uint16_t>();
  expect_limits_cross<std::int32_t>();
  expect_limits_cross<std::uint32_t>();
  expect_limits_cross<std::int64_t>();
  expect_limits_cross<std::uint64_t>();
  expect_limits_cross<long>();
  expect_limits_cross<unsigned long long>();
}

TEST(codecs, other_scalars) {
  expect_limits_cross<float>();
  expect_limits_cross<double>();
  expect_crosses(-0.0);
  expect_crosses(std::numeric_limits<double>::infinity());
  expect_crosses(std::numeric_limits<double>::denorm_min());
  expect_crosses(true);
  expect_crosses(false);
  expect_crosses('x');
  expect_crosses(static_cast<char>(0xe9));
  expect_crosses(u'\x20ac');
  expect_crosses(U'\x1f600');
  expect_crosses(L'\x20ac');
  expect_crosses(std::byte{0xa5});
  expect_crosses(isa_types::small::low);
  expect_crosses(isa_types::large::value);
  expect_crosses(nullptr);
}

TEST(codecs, strings) {
  expect_crosses(std::string());
  expect_crosses(std::string("with\0zero", 9));
  expect_crosses(std::string(100'000, 'x'));
  expect_crosses(std::wstring(L"wide \x20ac"));
  expect_crosses(std::u8string(u8"acht"));
  expect_crosses(std::u16string(u"sechzehn \x20ac"));
  expect_crosses(std::u32string(U"zweiunddreissig \x1f600"));
}

TEST(codecs, containers) {
  expect_crosses(std::vector<std::string>{"a", "", "ccc"});
  expect_crosses(std::vector<bool>{true, false, true, true, false, false, true, false, true});
  expect_crosses(std::vector<std::vector<std::int16_t>>{{1, 2}, {}, {-3}});
  expect_crosses(std::deque<float>{1.5F, -2.5F});
  expect_crosses(std::list<std::uint32_t>{1, 2, 0xdeadbeef});
  expect_crosses(std::forward_list<int>{3, 2, 1});
  expect_crosses(std::set<std::string>{"x", "y"});
  expect_crosses(std::multiset<int>{1, 1, 2});
  expect_crosses(std::map<int, std::string>{{1, "one"}, {-2, "minus two"}});
  expect_crosses(std::multimap<std::uint16_t, double>{{1, 0.5}, {1, 0.25}});
  expect_crosses(std::array<std::string, 2>{"left", "right"});
  with_each_target([](node_t node) {
    const std::unordered_map<std::string, std::int64_t> table{{"a", 1}, {"b", -2}, {"c", 1LL << 40}};
    EXPECT_EQ(offload::sync(node, fn<&echo<std::unordered_map<std::string, std::int64_t>>>, table), table);
    const std::unordered_set<std::uint64_t> some{1, 2, 1ULL << 60};
    EXPECT_EQ(offload::sync(node, fn<&echo<std::unordered_set<std::uint64_t>>>, some), some);
  });
}

TEST(codecs, vocabulary_types) {
  expect_crosses(std::optional<double>());
  expect_crosses(std::optional<double>(0.1));
  expect_crosses(std::variant<std::monostate, int, std::string>("text"));
  expect_crosses(std::variant<std::monostate, int, std::string>(-7));
  expect_crosses(std::tuple<std::int8_t, double, std::string>(-1, 2.5, "three"));
  expect_crosses(std::tuple<>());
  expect_crosses(std::pair<std::uint16_t, std::int64_t>(1, -1));
  expect_crosses(std::complex<double>(1.5, -2.5));
  expect_crosses(std::complex<float>(0.5F, 0.25F));
  expect_crosses(std::bitset<77>(0x123456789abcdefULL));
  // Standard libraries differ in what std::chrono::nanoseconds counts with.
  using nanoseconds = std::chrono::duration<std::int64_t, std::nano>;
  expect_crosses(nanoseconds(1'234'567'890'123));
  expect_crosses(std::chrono::duration<double>(0.5));
  expect_crosses(std::chrono::sys_time<nanoseconds>(nanoseconds(-77)));
  expect_crosses(std::filesystem::path("/some/where"));
}

TEST(codecs, types_of_the_application) {
  with_fields value;
  value.position[0] = 0.1;
  value.position[2] = -1e300;
  value.name = "particle";
  value.samples = {1, -2, 300};
  expect_crosses(value);
  expect_crosses(std::vector<with_fields>{value, with_fields(), value});
  expect_crosses(isa_types::with_serialize{-(1LL << 40), {{"pi", 3.14}, {"e", 2.72}}});
  expect_crosses(isa_types::with_codec{0x01020304});
  expect_crosses(isa_types::nothing());
}

TEST(codecs, views) {
  with_each_target([](node_t node) {
    const std::vector<double> numbers{1.5, -2.25, 1e-300};
    EXPECT_EQ(offload::sync(node, fn<&described_view>, std::string_view("seen: "), std::span<const double>(numbers)),
              "seen: " + text_of(numbers));
  });
}

TEST(codecs, large_messages) {
  with_each_target([](node_t node) {
    std::vector<double> numbers(1'000'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) * 0.5;
    const auto back = offload::sync(node, fn<&echo<std::vector<double>>>, numbers);
    EXPECT_TRUE(back == numbers);
    const double sum = offload::sync(node, named<"isa.sum">([](const std::vector<double>& all) {
                                       double total = 0;
                                       for (const double one : all) total += one;
                                       return total;
                                     }),
                                     numbers);
    EXPECT_EQ(sum, 0.5 * 999'999.0 * 1'000'000.0 / 2);
  });
}

}  // namespace
}  // namespace ham::isa
