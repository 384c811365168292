// Handler names for people: short, and in a time that their length bounds.
#include "msg/pretty_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "bulk.hpp"
#include "ham/msg/names.hpp"

namespace {

using ham::msg::canonical_name;
using ham::msg::pretty_name;

TEST(PrettyName, LeavesOutWhatNobodyWrote) {
  EXPECT_EQ(pretty_name(canonical_name(typeid(std::vector<std::string>).name())), "std::vector<std::string>");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::fn_t<double(*)(ham::offload::buffer_ptr<double>,unsigned long),&ip>>"),
            "ip(buffer_ptr<double>, unsigned long)");
}

std::string repeated(std::string_view what, std::size_t bytes, std::string_view end = "") {
  std::string result;
  while (result.size() + what.size() + end.size() <= bytes) result += what;
  return result.append(end);
}

std::string repeated_around(std::string_view begin, std::string_view end, std::size_t bytes) {
  const std::size_t levels = bytes / (begin.size() + end.size());
  return repeated(begin, levels * begin.size()) + repeated(end, levels * end.size());
}

/// What looked quadratic, or is what a name is made of.
std::vector<std::string> hostile_names(std::size_t bytes) {
  std::vector<std::string> result;
  for (const std::string_view one :
       {"<", "(", "&(", "(&", ",", "'lambda'(", "operator<", "->", "x<,", "ham::offload::", ",std::less<",
        ",std::hash<>", "ham::msg::call_tag<", "ham::binding<", "std::__1::"}) {
    result.push_back(repeated(one, bytes));
    result.push_back("ham::msg::call_tag<" + repeated(one, bytes) + ">");
    result.push_back("ham::msg::call_tag<ham::fn_t<" + repeated(one, bytes) + ",&f>>");
    result.push_back(repeated_around(one, ">", bytes));
  }
  result.push_back("ham::msg::call_tag<" + repeated_around("ham::msg::policy_tag<a,", ">", bytes) + ">");
  for (const std::string_view one : {"ham::binding<", "ham::binding<ham::offload::detail::run_chunk<x>,",
                                     "ham::binding<ham::offload::detail::run_chunk<"})
    result.push_back("ham::msg::call_tag<" + repeated_around(one, ">", bytes) + ">");
  result.push_back("ham::msg::call_tag<ham::msg::key_tag<" + repeated("(char)65,", bytes, "(char)65") + ">>");
  result.push_back("ham::msg::call_tag<ham::fn_t<" + repeated_around("x<", ">", bytes) + "(*)(" +
                   repeated_around("(", ")", bytes) + "),&" + repeated_around("f<", ">", bytes) + ">>");
  return result;
}

TEST(PrettyName, TakesWorkInProportionToTheLength) {
  constexpr std::size_t longest = ham::test::unless_sanitized(256'000, 32'000);
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{16000}, longest}) {
    for (const std::string& name : hostile_names(bytes)) {
      const auto [text, steps] = ham::msg::pretty_with_cost(name);
      EXPECT_LE(steps, 6 * name.size()) << name.substr(0, 60);
      EXPECT_LE(text.size(), 2 * name.size() + 2) << name.substr(0, 60);
    }
  }
}

TEST(PrettyName, OfCallsThatBringBytesAlong) {
  EXPECT_EQ(pretty_name("ham::detail::bringing_tag<ham::msg::call_tag<ham::fn_t<int(*)(long),&f>>>"),
            "f(long) [after put]");
  EXPECT_EQ(pretty_name("ham::detail::bringing_tag<a,b>"), "ham::detail::bringing_tag<a, b>");
}

TEST(PrettyName, OfCallsOfGroups) {
  EXPECT_EQ(pretty_name("ham::detail::group_tag<ham::msg::call_tag<ham::fn_t<int(*)(long),&f>>>"), "f(long) [group]");
  EXPECT_EQ(pretty_name("ham::detail::reduce_tag<ham::msg::call_tag<ham::fn_t<int(*)(long),&f>>,"
                        "ham::msg::call_tag<ham::fn_t<int(*)(int,int),&add>>>"),
            "f(long) [group, reduced by add(int, int)]");
}

TEST(PrettyName, OfChunksOfMaps) {
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::binding<ham::offload::detail::run_chunk<double>,"
                        "ham::fn_t<double(*)(double),&ns::solve>>,std::vector<double,std::allocator<double>>>"),
            "ns::solve(double) [map]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::msg::policy_tag<ham::msg::execution_policy_pooled,ham::binding<"
                        "ham::offload::detail::run_chunk<int>,ham::fn_t<int(*)(int),&f>>>,std::vector<int>>"),
            "f(int) [map] [pooled]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::binding<ham::offload::detail::run_chunk<int>,main::'lambda'(int)>,"
                        "std::vector<int>>"),
            "main::'lambda'(int) [map]");
  EXPECT_EQ(
      pretty_name("ham::msg::call_tag<ham::msg::key_tag<(char)104,(char)105,(char)91,(char)93>,std::vector<int>>"),
      "\"hi\" [map]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::msg::key_tag<(char)91,(char)93>>"), "\"[]\"");
}

TEST(PrettyName, OfBoundValues) {
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::binding<ham::fn_t<int(*)(int,long),&f>,int>,long>"),
            "f(int, long) [bind]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::binding<main::'lambda'(std::string const&,int),std::string>,int>"),
            "main::'lambda'(std::string const&, int)(int) [bind]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::binding<ham::offload::detail::run_chunk<int>,ham::binding<"
                        "ham::fn_t<int(*)(int,int),&f>,int>>,std::vector<int>>"),
            "f(int, int) [bind] [map]");
}

TEST(PrettyName, OfPolicies) {
  EXPECT_EQ(
      pretty_name("ham::msg::call_tag<ham::msg::policy_tag<ham::msg::execution_policy_pooled,ham::fn_t<int(*)(),&f>>>"),
      "f() [pooled]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::msg::policy_tag<a,ham::msg::policy_tag<b,ham::fn_t<int(*)(),&f>>>>"),
            "f() [b] [a]");
  EXPECT_EQ(pretty_name("ham::msg::call_tag<ham::msg::key_tag<(char)104,(char)105>>"), "\"hi\"");
  EXPECT_EQ(pretty_name("std::map<int,std::vector<x,std::allocator<x>>,std::less<int>>"),
            "std::map<int, std::vector<x>>");
}

}  // namespace
