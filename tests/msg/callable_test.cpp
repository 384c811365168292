// Every kind of callable: its signature, its call, its name.
#include "ham/msg/callable.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ham/msg/bound.hpp"
#include "ham/msg/f2f.hpp"
#include "ham/msg/names.hpp"
#include "ham/msg/signature.hpp"

namespace things {

int zero() { return 42; }
double mixed(int a, const std::string& b, const double c, std::vector<int>&& d) {
  return a + static_cast<double>(b.size()) + c + static_cast<double>(d.size());
}
int quiet(int x) noexcept { return -x; }
void nothing(char) {}
int over(int x) { return x; }
double over(double x) { return x / 2; }
template <class T>
T twice(T x) {
  return x + x;
}
template <class A, class B>
A convert(B b) {
  return static_cast<A>(b);
}
struct counter {
  static int add(int a, int b) { return a + b; }
  [[nodiscard]] int scaled(int by) const { return value * by; }
  int bump(int by) { return value += by; }
  int value = 0;
};
const std::string& reference() {
  static const std::string text = "text";
  return text;
}
int length(std::span<const int> values, std::string_view text) { return static_cast<int>(values.size() + text.size()); }

}  // namespace things

namespace {

using ham::fn;
using ham::msg::signature;
using ham::msg::tag_for;

template <class Callable, class... Args>
using result = typename signature<std::remove_cvref_t<Callable>, Args...>::result_type;
template <class Callable, class... Args>
using parameters = typename signature<std::remove_cvref_t<Callable>, Args...>::parameters;

template <class Callable, class... Params>
std::string pretty() {
  using tag = tag_for<std::remove_cvref_t<Callable>, Params...>;
  return ham::msg::pretty_name(ham::msg::canonical_name(typeid(tag).name()));
}

[[maybe_unused]] int hidden(int x) { return x; }

struct old_style {
  using result_type = double;
  explicit old_style(int v) : value(v) {}
  float operator()() const { return static_cast<float>(value) / 2; }
  int value;
};

struct overloaded {
  int operator()(int x) const { return x; }
  std::string operator()(const std::string& x) const { return x + "!"; }
};

template <class Message>
struct silent_policy {
  static void handler(void*) {}
};

TEST(Fn, CallsFunctionsOfAllKinds) {
  EXPECT_EQ(fn<&things::zero>(), 42);
  EXPECT_EQ(fn<things::zero>(), 42);
  EXPECT_EQ(fn<&things::quiet>(3), -3);
  EXPECT_EQ(fn<&things::twice<double>>(1.5), 3.0);
  EXPECT_EQ((fn<&things::convert<int, double>>(2.9)), 2);
  EXPECT_EQ(fn<&things::counter::add>(1, 2), 3);
  EXPECT_EQ(fn<static_cast<double (*)(double)>(&things::over)>(5), 2.5);
  EXPECT_EQ(fn<&things::counter::scaled>(things::counter{4}, 2), 8);
  EXPECT_EQ(fn<&hidden>(5), 5);
  static_assert(noexcept(fn<&things::quiet>(3)));
  static_assert(!noexcept(fn<&things::zero>()));
  static_assert(std::is_empty_v<std::remove_cvref_t<decltype(fn<&things::zero>)>>);
}

TEST(Signature, ComesFromTheFunctionNotFromTheArguments) {
  static_assert(std::is_same_v<result<decltype(fn<&things::mixed>), char, const char*, int, std::vector<int>>, double>);
  static_assert(std::is_same_v<parameters<decltype(fn<&things::mixed>), char, const char*, int, std::vector<int>>,
                               std::tuple<int, std::string, double, std::vector<int>>>);
  static_assert(std::is_same_v<result<decltype(fn<&things::nothing>), int>, void>);
  static_assert(std::is_same_v<result<decltype(fn<&things::reference>)>, std::string>);
  static_assert(std::is_same_v<parameters<decltype(fn<&things::quiet>), short>, std::tuple<int>>);
  static_assert(std::is_same_v<parameters<decltype(fn<&things::counter::scaled>), things::counter&, long>,
                               std::tuple<things::counter, int>>);
  static_assert(std::is_same_v<parameters<decltype(fn<&things::counter::bump>), things::counter, int>,
                               std::tuple<things::counter, int>>);
  static_assert(std::is_same_v<parameters<decltype(fn<&things::length>), std::vector<int>&, std::string>,
                               std::tuple<std::span<const int>, std::string_view>>);
}

TEST(Signature, OfLambdasAndFunctionObjects) {
  const auto plain = [](int, const std::string&) { return 1L; };
  static_assert(std::is_same_v<result<decltype(plain), char, const char*>, long>);
  static_assert(std::is_same_v<parameters<decltype(plain), char, const char*>, std::tuple<int, std::string>>);
  auto counting = [n = 0]() mutable noexcept { return ++n; };
  static_assert(std::is_same_v<result<decltype(counting)>, int>);
  const auto generic = [](auto a, const auto& b) { return a + b; };
  static_assert(std::is_same_v<result<decltype(generic), int&, const double&>, double>);
  static_assert(std::is_same_v<parameters<decltype(generic), int&, const double&>, std::tuple<int, double>>);
  static_assert(std::is_same_v<result<overloaded, std::string&>, std::string>);
  static_assert(std::is_same_v<result<overloaded, int>, int>);
  static_assert(std::is_same_v<result<std::plus<>, int, double>, double>);
  static_assert(std::is_same_v<parameters<std::plus<int>, char, char>, std::tuple<int, int>>);
  static_assert(std::is_same_v<result<old_style>, double>, "its result_type counts");
}

TEST(Signature, SeesThroughNamesAndPolicies) {
  const auto wrapped = ham::pooled(ham::named<"sum">([](int a, int b) { return a + b; }));
  static_assert(std::is_same_v<parameters<decltype(wrapped), char, char>, std::tuple<int, int>>);
  EXPECT_EQ(wrapped(2, 3), 5);
  static_assert(std::is_same_v<ham::msg::policy_of<std::remove_const_t<decltype(wrapped)>>::type<old_style>,
                               ham::msg::execution_policy_pooled<old_style>>);
  static_assert(
      std::is_same_v<ham::msg::policy_of<old_style>::type<old_style>, ham::msg::execution_policy_direct<old_style>>);
  using silent = decltype(ham::with_policy<silent_policy>(fn<&things::zero>));
  static_assert(std::is_same_v<ham::msg::policy_of<silent>::type<int>, silent_policy<int>>);
  static_assert(std::is_same_v<ham::msg::core_type_t<silent>, std::remove_cvref_t<decltype(fn<&things::zero>)>>);
}

TEST(Tag, NamesReadLikeCalls) {
  EXPECT_EQ(pretty<decltype(fn<&things::zero>)>(), "things::zero()");
  EXPECT_EQ(pretty<decltype(fn<&things::mixed>)>(),
            "things::mixed(int, std::string const&, double, std::vector<int>&&)");
  EXPECT_EQ(pretty<decltype(fn<&things::quiet>)>(), "things::quiet(int) noexcept");
  EXPECT_EQ(pretty<decltype(fn<&things::twice<double>>)>(), "double things::twice<double>(double)");
  EXPECT_EQ(pretty<decltype(fn<&things::counter::add>)>(), "things::counter::add(int, int)");
  EXPECT_EQ(pretty<decltype(fn<&things::counter::scaled>)>(), "things::counter::scaled(int) const");
  EXPECT_EQ(pretty<decltype(fn<&hidden>)>(), "(anonymous namespace)::hidden(int)");
  EXPECT_EQ(pretty<old_style>(), "(anonymous namespace)::old_style");
  EXPECT_EQ((pretty<overloaded, std::string>()), "(anonymous namespace)::overloaded(std::string)");
  EXPECT_EQ(pretty<decltype(ham::named<"sum, \xc3\xbc">(fn<&things::zero>))>(), "\"sum, \xc3\xbc\"");
  EXPECT_EQ(pretty<decltype(ham::pooled(fn<&things::zero>))>(), "things::zero() [pooled]");
}

TEST(Tag, NamedCallsDoNotDependOnTheCallable) {
  const auto one = ham::named<"key">([](int x) { return x; });
  const auto other = ham::named<"key">(fn<&things::quiet>);
  static_assert(!std::is_same_v<decltype(one), decltype(other)>);
  static_assert(std::is_same_v<tag_for<std::remove_const_t<decltype(one)>, int>,
                               tag_for<std::remove_const_t<decltype(other)>, int>>);
  const auto generic = ham::named<"key">([](auto x) { return x; });
  using generic_type = std::remove_const_t<decltype(generic)>;
  static_assert(!std::is_same_v<tag_for<generic_type, int>, tag_for<generic_type, double>>);
}

TEST(Bound, HoldsConvertedArgumentsAndCalls) {
  const auto scaled = [scale = 3](int x, const std::string& s) { return scale * x + static_cast<int>(s.size()); };
  const auto call = ham::bind_call(scaled, 2.9, "four");
  static_assert(std::is_same_v<decltype(call)::result_type, int>);
  EXPECT_EQ(std::get<0>(call.arguments()), 2);
  EXPECT_EQ(std::get<1>(call.arguments()), "four");
  EXPECT_EQ(call(), 10);
  EXPECT_EQ(call(), 10);
}

TEST(Bound, MayHoldWhatOnlyMoves) {
  const auto use = [](std::unique_ptr<int> p) { return *p; };
  auto call = ham::bind_call(use, std::make_unique<int>(7));
  auto moved = std::move(call);
  auto renamed = ham::named<"use">(std::move(moved));
  EXPECT_EQ(*std::get<0>(std::move(renamed).arguments()), 7);
}

TEST(Bound, NamesAndPoliciesApplyToItsCallable) {
  const auto call = ham::pooled(ham::named<"zero">(f2f(&things::zero)));
  EXPECT_EQ(call(), 42);
  using callable = decltype(call)::callable_type;
  EXPECT_EQ(pretty<callable>(), "\"zero\" [pooled]");
  static_assert(std::is_empty_v<callable>);
}

}  // namespace
