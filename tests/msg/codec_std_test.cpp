// Standard value types and containers, and what a hostile peer can write in their place.
#include <bitset>
#include <chrono>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <list>
#include <map>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "codec_helpers.hpp"
#include "ham/msg/codec.hpp"

namespace {

using namespace codec_test;
using namespace ham::msg;
using namespace std::chrono_literals;

struct empty_value {
  bool operator==(const empty_value&) const = default;
};

struct throws_when_made {
  throws_when_made() = default;
  explicit throws_when_made(int what) { throw what; }
  std::string text;
  HAM_FIELDS(text)
};

bytes count_only(std::uint64_t count, std::size_t extra = 0) {
  bytes wire = encoded(count);
  wire.resize(wire.size() + extra);
  return wire;
}

TEST(codec_std, strings_cross) {
  expect_crosses(std::string());
  expect_crosses(std::string("with\0zero", 9));
  expect_crosses(std::wstring(L"wide \x20ac"));
  expect_crosses(std::u8string(u8"acht"));
  expect_crosses(std::u16string(u"sechzehn"));
  expect_crosses(std::u32string(U"zweiunddreissig"));
  const std::string large(100000, 'x');
  EXPECT_EQ(round_trip(large), large);
}

TEST(codec_std, vectors_cross) {
  expect_crosses(std::vector<int>());
  expect_crosses(std::vector<double>{1, 2, 3});
  expect_crosses(std::vector<std::string>{"a", "", "ccc"});
  expect_crosses(std::vector<std::vector<short>>{{1, 2}, {}, {3}});
  expect_crosses(std::vector<empty_value>(5));
  expect_crosses(std::vector<std::monostate>(5));
  expect_crosses(std::vector<long double>{1, 2});
  std::vector<char> large(1 << 20);
  std::iota(large.begin(), large.end(), char{0});
  EXPECT_EQ(round_trip(large), large);
  std::pmr::vector<int> pmr{1, 2, 3};
  EXPECT_EQ(round_trip(pmr), pmr);
}

TEST(codec_std, vectors_of_bool_cross_as_bits) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<bool> bits(size);
    for (std::size_t i = 0; i < size; i += 3) bits[i] = true;
    expect_crosses(bits);
    EXPECT_EQ(encoded(bits).size(), 8 + (size + 7) / 8);
  }
  EXPECT_THROW((void)decoded<std::vector<bool>>(count_only(~std::uint64_t{0}, 1)), ham::protocol_error);
  EXPECT_THROW((void)decoded<std::vector<bool>>(count_only(9, 1)), ham::protocol_error);
}

TEST(codec_std, sequences_cross) {
  expect_crosses(std::deque<int>{1, 2, 3});
  expect_crosses(std::deque<bool>{true, false});
  expect_crosses(std::list<std::string>{"a", "b"});
  expect_crosses(std::forward_list<int>{1, 2, 3});
  expect_crosses(std::forward_list<std::string>{});
}

TEST(codec_std, sets_cross) {
  expect_crosses(std::set<int>{3, 1, 2});
  expect_crosses(std::set<std::string, std::greater<>>{"a", "b"});
  expect_crosses(std::multiset<int>{1, 1, 2});
  expect_crosses(std::unordered_set<std::string>{"a", "b"});
  expect_crosses(std::unordered_multiset<int>{1, 1, 2});
  static_assert(!crosses<std::set<int, bool (*)(int, int)>>);
}

TEST(codec_std, maps_cross) {
  expect_crosses(std::map<std::string, int>{{"a", 1}, {"b", 2}});
  expect_crosses(std::map<int, std::map<int, std::string>>{{1, {{2, "x"}}}, {3, {}}});
  expect_crosses(std::multimap<int, std::string>{{1, "first"}, {1, "second"}, {2, "third"}});
  expect_crosses(std::unordered_map<std::string, double>{{"a", 1}, {"b", 2}});
  expect_crosses(std::unordered_multimap<int, int>{{1, 1}, {1, 1}});
  expect_crosses(std::map<empty_value, empty_value, decltype([](empty_value, empty_value) { return false; })>{{}});
}

TEST(codec_std, optional_and_variant_cross) {
  expect_crosses(std::optional<int>());
  expect_crosses(std::optional<int>(5));
  expect_crosses(std::optional<std::vector<std::string>>({"a"}));
  expect_crosses(std::optional<std::optional<bool>>(std::optional<bool>()));
  expect_crosses(std::variant<std::monostate, int, std::string>());
  expect_crosses(std::variant<std::monostate, int, std::string>(5));
  expect_crosses(std::variant<std::monostate, int, std::string>("text"));
  expect_crosses(std::variant<int, int>(std::in_place_index<1>, 3));
  expect_crosses(std::monostate());
  EXPECT_THROW((void)decoded<std::optional<int>>(bytes(5, std::byte{2})), ham::protocol_error);
  EXPECT_THROW((void)(decoded<std::variant<int, int>>(bytes(5, std::byte{2}))), ham::protocol_error);
  EXPECT_THROW((void)(decoded<std::variant<int, int>>(bytes(5, std::byte{0xff}))), ham::protocol_error);
}

TEST(codec_std, valueless_variant_is_refused_by_the_sender) {
  std::variant<int, throws_when_made> value(3);
  EXPECT_THROW(value.emplace<1>(1), int);
  ASSERT_TRUE(value.valueless_by_exception());
  EXPECT_THROW((void)encoded_size(value), ham::error);
}

TEST(codec_std, tuples_and_pairs_cross) {
  int place = 0;
  expect_crosses(std::tuple<>());
  expect_crosses(std::tuple<int, std::string, std::vector<double>>(1, "two", {3}));
  expect_crosses(std::tuple<void*>(&place));
  expect_crosses(std::tuple<const char*, int*>("x", &place));
  expect_crosses(std::tuple<std::tuple<int>>(std::tuple<int>(1)));
  expect_crosses(std::pair<std::string, int>("a", 1));
  expect_crosses(std::vector<std::tuple<>>(3));
}

TEST(codec_std, times_cross) {
  expect_crosses(15ms);
  expect_crosses(std::chrono::duration<double>(1.5));
  expect_crosses(std::chrono::system_clock::now());
  expect_crosses(std::chrono::sys_days(std::chrono::days(3)));
  expect_crosses(std::vector<std::chrono::nanoseconds>{1ns, 2ns});
}

TEST(codec_std, bitsets_and_paths_cross) {
  expect_crosses(std::bitset<0>());
  expect_crosses(std::bitset<1>(1));
  expect_crosses(std::bitset<64>(0x123456789abcdef0));
  expect_crosses(std::bitset<67>("1010000000000000000000000000000000000000000000000000000000000000111"));
  expect_crosses(std::filesystem::path("/tmp/a b"));
}

TEST(codec_std, counts_larger_than_the_message_are_refused_before_any_allocation) {
  for (const std::uint64_t count :
       {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{1} << 40, std::uint64_t{3}}) {
    for (const std::size_t extra : {0U, 1U, 2U}) {
      const bytes wire = count_only(count, extra);
      EXPECT_THROW((void)decoded<std::string>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::u32string>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::vector<int>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::vector<std::string>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::vector<std::monostate>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::vector<std::tuple<>>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::deque<char>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::list<bool>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::forward_list<int>>(wire), ham::protocol_error);
      EXPECT_THROW((void)decoded<std::set<int>>(wire), ham::protocol_error);
      EXPECT_THROW((void)(decoded<std::unordered_map<int, int>>(wire)), ham::protocol_error);
    }
  }
}

TEST(codec_std, few_bytes_do_not_reserve_much_memory) {
  struct large {
    char content[1 << 20];
  };
  EXPECT_THROW((void)decoded<std::vector<std::optional<large>>>(count_only(std::uint64_t{1} << 20, 1 << 10)),
               ham::protocol_error);
  // A count that the bytes can back: only the elements that arrive take memory.
  bytes wire = count_only(1 << 12, 1 << 12);
  wire[8 + 3] = std::byte{2};
  EXPECT_THROW((void)decoded<std::vector<std::optional<large>>>(wire), ham::protocol_error);
}

TEST(codec_std, empty_elements_must_be_marked) {
  bytes wire = encoded(std::vector<std::monostate>(2));
  wire.back() = std::byte{1};
  EXPECT_THROW((void)decoded<std::vector<std::monostate>>(wire), ham::protocol_error);
}

TEST(codec_std, unsorted_and_repeated_keys_are_harmless) {
  const bytes wire = encoded(std::vector<int>{3, 1, 3, 2});
  EXPECT_EQ(decoded<std::set<int>>(wire), (std::set<int>{1, 2, 3}));
}

}  // namespace
