// Callables with values of their own.
#include "ham/msg/bind.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1 {
namespace {

template <class Value>
Value there_and_back(const Value& of) {
  std::vector<std::byte> bytes(msg::encoded_size(of));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, of);
  to.expect_full();
  msg::reader from(bytes);
  Value back = msg::decode<Value>(from);
  from.expect_end();
  return back;
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(bind, is_called_with_its_values_first) {
  const auto twice = ham::bind(fn<&repeat>, std::string("ab"), 2);
  EXPECT_EQ(twice(), "abab");
  const auto some = ham::bind(fn<&repeat>, std::string("c"));
  EXPECT_EQ(some(3), "ccc");
}

TEST(bind, crosses_with_strings_and_containers) {
  const std::map<std::string, std::vector<int>> table{{"one", {1}}, {"more", {2, 3, 4}}};
  const auto count = ham::bind(
      [](const std::map<std::string, std::vector<int>>& in, const std::string& key) { return in.at(key).size(); },
      table);
  static_assert(msg::crosses<std::remove_const_t<decltype(count)>>);
  EXPECT_EQ(there_and_back(count)("more"), 3U);
}

TEST(bind, crosses_with_a_lambda_that_captures_bytes) {
  const int base = 40;
  const auto add =
      ham::bind([base](const std::string& text) { return base + static_cast<int>(text.size()); }, std::string("ab"));
  EXPECT_EQ(there_and_back(add)(), 42);
}

TEST(bind, crosses_with_lambdas_with_captures_among_its_values) {
  const long base = 40;
  const auto add = [base](int value) { return base + value; };
  // What GCC 12 takes a lambda for must not depend on whether a tuple has asked if it can be assigned.
  using in_tuple = std::tuple<std::remove_const_t<decltype(add)>>;
  static_assert(!std::is_copy_assignable_v<in_tuple>);
  const auto apply = ham::bind(
      [](const auto& first, const std::string& text, int value) { return text + std::to_string(first(value)); }, add,
      std::string("is "));
  static_assert(msg::crosses<std::remove_const_t<decltype(apply)>>);
  EXPECT_EQ(there_and_back(apply)(2), "is 42");
  static_assert(msg::crosses<in_tuple>);
  EXPECT_EQ(std::get<0>(there_and_back(in_tuple(add)))(1), 41);
}

TEST(bind, takes_a_lambda_with_captures_that_was_in_a_tuple) {
  const int base = 40;
  const auto add = [base](const std::vector<int>& more) { return base + more.front(); };
  static_assert(!std::is_copy_assignable_v<std::tuple<std::remove_const_t<decltype(add)>>>);
  const auto bound_add = ham::bind(add, std::vector<int>{2, 3});
  EXPECT_EQ(there_and_back(bound_add)(), 42);
}

TEST(bind, takes_an_empty_lambda_without_default_constructor) {
  const auto twice = [&](const std::string& text) { return text + text; };
  static_assert(std::is_empty_v<decltype(twice)> && !std::is_default_constructible_v<decltype(twice)>);
  static_assert(!std::is_copy_assignable_v<std::tuple<std::remove_const_t<decltype(twice)>>>);
  EXPECT_EQ(there_and_back(ham::bind(twice, std::string("ab")))(), "abab");
}

TEST(bind, sends_nothing_of_what_is_empty) {
  const auto alone = ham::bind([](int value) { return value; }, 7);
  EXPECT_EQ(msg::encoded_size(alone), sizeof(int));
  EXPECT_EQ(msg::encoded_size(ham::bind(fn<&repeat>, std::string())), msg::encoded_size(std::string()));
}

TEST(bind, values_are_moved_in) {
  std::vector<int> numbers(1000, 1);
  const int* const there = numbers.data();
  const auto holds = ham::bind([](const std::vector<int>& all) { return all.data(); }, std::move(numbers));
  EXPECT_EQ(holds(), there);
}

TEST(bind, does_not_cross_if_a_value_does_not) {
  static_assert(!msg::crosses<decltype(ham::bind([](const int* at) { return *at; }, static_cast<int*>(nullptr)))>);
  const std::string text = "x";
  static_assert(!msg::crosses<decltype(ham::bind([text](int) { return text.size(); }, 1))>);
}

TEST(bind, hostile_bytes_are_refused) {
  const auto join = ham::bind([](const std::vector<std::string>& all) { return all.size(); },
                              std::vector<std::string>{"abc", "defghi"});
  std::vector<std::byte> bytes(msg::encoded_size(join));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, join);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    msg::reader from(std::span<const std::byte>(bytes.data(), size));
    EXPECT_THROW((void)msg::decode<std::remove_const_t<decltype(join)>>(from), protocol_error) << size;
  }
}

TEST(bind, leaves_placeholders_to_the_standard_library) {
  using namespace std;
  using namespace std::placeholders;
  const auto minus = [](int left, int right) { return left - right; };
  EXPECT_EQ(bind(minus, _1, 2)(5), 3);
  EXPECT_EQ(bind(minus, 2, bind(minus, _1, 1))(5), -2);
  EXPECT_EQ(bind(minus, 5)(2), 3) << "ham::bind, which leaves the second argument to the caller";
}

}  // namespace
}  // namespace ham
