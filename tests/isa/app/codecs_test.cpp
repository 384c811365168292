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

namespace ham::inline v1::isa {
namespace {

using isa_types::with_fields;

}  // namespace

/// What the values look like here, and the values again. One function for many types: each costs the compiler seconds.
template <class... Ts>
std::pair<std::vector<std::string>, std::tuple<Ts...>> crossed(const Ts&... values) {
  return {{text_of(values)...}, std::tuple<Ts...>(values...)};
}
std::vector<double> echo(const std::vector<double>& value) { return value; }
std::string described_view(std::string_view text, std::span<const double> numbers) {
  return std::string(text) + text_of(std::vector<double>(numbers.begin(), numbers.end()));
}

namespace {

/// The target sees the same values, and they come back unchanged.
template <class... Ts>
void expect_cross(const Ts&... values) {
  with_each_target([&](node_t node) {
    const auto [texts, back] = offload::sync(node, fn<&crossed<Ts...>>, values...);
    EXPECT_EQ(texts, (std::vector<std::string>{text_of(values)...}));
    const auto same = [&](const Ts&... returned) { return std::vector<bool>{returned == values...}; };
    EXPECT_EQ(std::apply(same, back), std::vector<bool>(sizeof...(Ts), true)) << "they came back as other values";
  });
}

template <class... Ts>
void expect_numbers_cross() {
  expect_cross(std::numeric_limits<Ts>::min()...);
  expect_cross(std::numeric_limits<Ts>::max()...);
  expect_cross(static_cast<Ts>(1)...);
  expect_cross(std::vector<Ts>{0, 1, std::numeric_limits<Ts>::max(), std::numeric_limits<Ts>::min()}...);
  expect_cross(std::array<Ts, 3>{3, 2, 1}...);
}

TEST(codecs, numbers) {
  expect_numbers_cross<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                       std::int64_t, std::uint64_t, long, unsigned long long, float, double>();
}

TEST(codecs, other_scalars) {
  expect_cross(-0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min(), true, false,
               'x', static_cast<char>(0xe9), u'\x20ac', U'\x1f600', L'\x20ac', std::byte{0xa5}, isa_types::small::low,
               isa_types::large::value, nullptr);
}

TEST(codecs, strings) {
  expect_cross(std::string(), std::string("with\0zero", 9), std::string(100'000, 'x'), std::wstring(L"wide \x20ac"),
               std::u8string(u8"acht"), std::u16string(u"sechzehn \x20ac"), std::u32string(U"zweiunddreissig \x1f600"));
}

TEST(codecs, containers) {
  expect_cross(std::vector<std::string>{"a", "", "ccc"},
               std::vector<bool>{true, false, true, true, false, false, true, false, true},
               std::vector<std::vector<std::int16_t>>{{1, 2}, {}, {-3}}, std::deque<float>{1.5F, -2.5F},
               std::list<std::uint32_t>{1, 2, 0xdeadbeef}, std::forward_list<int>{3, 2, 1},
               std::array<std::string, 2>{"left", "right"});
  expect_cross(std::set<std::string>{"x", "y"}, std::multiset<int>{1, 1, 2},
               std::map<int, std::string>{{1, "one"}, {-2, "minus two"}},
               std::multimap<std::uint16_t, double>{{1, 0.5}, {1, 0.25}},
               std::unordered_map<std::string, std::int64_t>{{"a", 1}, {"b", -2}, {"c", 1LL << 40}},
               std::unordered_set<std::uint64_t>{1, 2, 1ULL << 60});
}

TEST(codecs, vocabulary_types) {
  // Standard libraries differ in what std::chrono::nanoseconds counts with.
  using nanoseconds = std::chrono::duration<std::int64_t, std::nano>;
  using choice = std::variant<std::monostate, int, std::string>;
  expect_cross(std::optional<double>(), std::optional<double>(0.1), choice("text"), choice(-7), choice(),
               std::tuple<std::int8_t, double, std::string>(-1, 2.5, "three"), std::tuple<>(),
               std::pair<std::uint16_t, std::int64_t>(1, -1), std::complex<double>(1.5, -2.5),
               std::complex<float>(0.5F, 0.25F), std::bitset<77>(0x123456789abcdefULL), nanoseconds(1'234'567'890'123),
               std::chrono::duration<double>(0.5), std::chrono::sys_time<nanoseconds>(nanoseconds(-77)),
               std::filesystem::path("/some/where"));
}

TEST(codecs, types_of_the_application) {
  with_fields value;
  value.position[0] = 0.1;
  value.position[2] = -1e300;
  value.name = "particle";
  value.samples = {1, -2, 300};
  expect_cross(value, std::vector<with_fields>{value, with_fields(), value},
               isa_types::with_serialize{-(1LL << 40), {{"pi", 3.14}, {"e", 2.72}}}, isa_types::with_codec{0x01020304},
               isa_types::nothing());
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
    const auto back = offload::sync(node, fn<&echo>, numbers);
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
