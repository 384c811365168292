// The rules of HAM_FAULT: grammar, errors, patterns, and that decisions repeat.
#include "base/fault_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

fault_rule only(const std::string& text) {
  const std::vector<fault_rule> rules = parse_faults(text, "HERE");
  EXPECT_EQ(rules.size(), 1U) << text;
  return rules.empty() ? fault_rule{} : rules[0];
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_faults(text, "HERE"));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(fault_rules, say_what_fails_where_how_and_how_often) {
  const fault_rule rule = only("solve:request:0.25:7");
  EXPECT_EQ(rule.subject, "solve");
  EXPECT_EQ(rule.point, fault_point::request);
  EXPECT_EQ(rule.action, fault_action::fail);
  EXPECT_EQ(rule.probability, 0.25);
  EXPECT_EQ(rule.seed, 7U);
  EXPECT_EQ(rule.text, "solve:request:0.25:7");
  EXPECT_EQ(only("*:reply:1").seed, 0U);
  EXPECT_EQ(only("*:reply:1").point, fault_point::reply);
  EXPECT_EQ(only("2:connect:1").point, fault_point::connect);
  EXPECT_EQ(only("2:connect:1").subject, "2");
}

TEST(fault_rules, have_actions) {
  EXPECT_EQ(only("f:reply=fail:1").action, fault_action::fail);
  EXPECT_EQ(only("f:reply=drop:1").action, fault_action::drop);
  EXPECT_EQ(only("f:request=kill:1").action, fault_action::kill);
  EXPECT_EQ(only("f:request=5ms:1").action, fault_action::delay);
  EXPECT_EQ(only("f:request=5ms:1").delay_ns, 5'000'000);
  EXPECT_EQ(only("f:request=1.5s:1").delay_ns, 1'500'000'000);
  EXPECT_EQ(only("f:request=20us:1").delay_ns, 20'000);
}

TEST(fault_rules, name_functions_with_colons_commas_and_brackets) {
  EXPECT_EQ(only("a::b<c::d, e>::f(int):request:1").subject, "a::b<c::d, e>::f(int)");
  EXPECT_EQ(only("::f:request:1").subject, "::f");
}

TEST(fault_rules, may_be_several) {
  EXPECT_TRUE(parse_faults("", "HERE").empty());
  const std::vector<fault_rule> rules = parse_faults("f:request:0.5;*:connect:0.1:3", "HERE");
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[1].seed, 3U);
  std::string many;
  for (std::size_t i = 0; i <= max_fault_rules; ++i) many += "f:reply:1;";
  EXPECT_NE(error_of(many).find("more than 100 rules"), std::string::npos);
}

TEST(fault_rules, that_cannot_be_read_are_errors_which_say_why) {
  const std::string form = std::string("; it has to be ") + fault_grammar;
  EXPECT_EQ(error_of("f"), "HERE: the rule \"f\" has too few parts" + form);
  EXPECT_EQ(error_of("f:request"), "HERE: the rule \"f:request\" has too few parts" + form);
  EXPECT_EQ(error_of("f:request:1:2:3"), "HERE: the rule \"f:request:1:2:3\" has too many parts" + form);
  EXPECT_EQ(error_of(":request:1"), "HERE: the rule \":request:1\" begins with no function" + form);
  EXPECT_EQ(error_of("f:answer:1"),
            "HERE: the rule \"f:answer:1\" has \"answer\" in place of request, reply or connect" + form);
  for (const char* const bad : {"1.1", "-0.1", "x", "", "nan", "1e-3"})
    EXPECT_NE(error_of("f:reply:" + std::string(bad)).find("no number from 0 to 1"), std::string::npos) << bad;
  for (const char* const bad : {"-1", "x", "", "1.5", "99999999999999999999"})
    EXPECT_NE(error_of("f:reply:1:" + std::string(bad)).find("the seed"), std::string::npos) << bad;
  for (const char* const bad : {"", "stop", "5", "0ms", "-5ms", "ms", "3601s", "5 ms"})
    EXPECT_NE(error_of("f:reply=" + std::string(bad) + ":1").find("the action"), std::string::npos) << bad;
  EXPECT_NE(error_of("f:connect:1").find("neither * nor the number of a node"), std::string::npos);
  EXPECT_NE(error_of("*:connect=drop:1").find("can only be made or not"), std::string::npos);
  EXPECT_NE(error_of("f:request:1;;g:request:1"), "none");
}

TEST(fault_rules, patterns) {
  for (const auto& [pattern, text] : {std::pair{"*", ""},
                                      {"*", "solve"},
                                      {"solve", "solve"},
                                      {"s*e", "solve"},
                                      {"s?lve", "solve"},
                                      {"*a*b*", "xaxxbx"},
                                      {"*ab", "aab"},
                                      {"**", "x"},
                                      {"", ""}})
    EXPECT_TRUE(matches_pattern(pattern, text)) << pattern << ' ' << text;
  for (const auto& [pattern, text] :
       {std::pair{"", "x"}, {"solve", "solves"}, {"s?e", "solve"}, {"*a", "ab"}, {"?", ""}, {"a*b*c", "acb"}})
    EXPECT_FALSE(matches_pattern(pattern, text)) << pattern << ' ' << text;
  EXPECT_FALSE(matches_pattern(std::string(1000, '*') + "b", std::string(10'000, 'a'))) << "in a bounded time";
}

TEST(fault_rules, name_functions_with_and_without_parameters_and_policies) {
  for (const char* const pattern :
       {"ns::f<x>(int, g(*)(y)) [pooled]", "ns::f<x>(int, g(*)(y))", "ns::f<x>", "ns::*", "*"})
    EXPECT_TRUE(names_function(pattern, "ns::f<x>(int, g(*)(y)) [pooled]")) << pattern;
  EXPECT_FALSE(names_function("ns::f", "ns::f<x>(int)"));
  EXPECT_FALSE(names_function("f", "ns::f(int)"));
  EXPECT_TRUE(names_function("(anonymous namespace)::f", "(anonymous namespace)::f(int)"));
  EXPECT_TRUE(names_function("solve", "\"solve\""));
  EXPECT_TRUE(names_function("\"solve\"", "\"solve\""));
}

std::vector<bool> decisions(const fault_rule& rule, std::size_t place, std::int64_t node, std::uint64_t count = 1000) {
  std::vector<bool> result;
  for (std::uint64_t n = 0; n < count; ++n) result.push_back(strikes(rule, place, node, n));
  return result;
}

TEST(fault_rules, decide_the_same_in_every_run) {
  const fault_rule rule = only("f:request:0.3:5");
  const std::vector<bool> first = decisions(rule, 0, 1);
  EXPECT_EQ(first, decisions(rule, 0, 1));
  EXPECT_NE(first, decisions(rule, 1, 1)) << "another rule";
  EXPECT_NE(first, decisions(rule, 0, 2)) << "another node";
  EXPECT_NE(first, decisions(only("f:request:0.3:6"), 0, 1)) << "another seed";
}

TEST(fault_rules, strike_as_often_as_they_say) {
  const auto share = [](const std::string& text) {
    const std::vector<bool> all = decisions(only(text), 0, 0, 100'000);
    return static_cast<double>(std::count(all.begin(), all.end(), true)) / 100'000;
  };
  EXPECT_EQ(share("f:request:0"), 0);
  EXPECT_EQ(share("f:request:1"), 1);
  EXPECT_NEAR(share("f:request:0.25"), 0.25, 0.01);
  EXPECT_NEAR(share("f:request:0.001"), 0.001, 0.0005);
}

}  // namespace
}  // namespace ham::base
