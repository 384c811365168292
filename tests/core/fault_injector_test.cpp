// Which calls and connections the rules strike, what their errors say, and replies that are held back.
#include "core/fault_injector.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/callable.hpp"

namespace fault_injector_test {

using namespace ham;
using detail::fault_decision;
using detail::fault_injector;

constexpr node_t self = 0;

msg::handler_entry& function() { return msg::handler_registrar<test::callable>::entry(); }
/// As people name it.
std::string name() { return msg::handler_table::local().pretty_name(test::callable_key()); }

fault_injector with(const std::string& text) {
  static_cast<void>(test::callable_key());
  return {self, base::parse_faults(text, "HERE"), msg::handler_table::local()};
}

TEST(fault_injector, without_rules_for_calls_stays_out_of_the_way) {
  EXPECT_FALSE(with("").for_calls());
  EXPECT_FALSE(with("*:connect:1").for_calls());
  EXPECT_TRUE(with("*:reply:0").for_calls());
}

TEST(fault_injector, strikes_the_functions_that_a_rule_names) {
  EXPECT_EQ(with(name() + ":request:1").decide(function(), true).request, 1);
  EXPECT_EQ(with("nobody:request:1;*:request:1").decide(function(), true).request, 2);
  EXPECT_FALSE(with("nobody:request:1").decide(function(), true));
  EXPECT_FALSE(with("*:request:0").decide(function(), true));
}

TEST(fault_injector, takes_the_first_rule_of_each_point_that_strikes) {
  const fault_decision both = with("*:request:0;*:reply=drop:1;*:request=kill:1;*:reply:1").decide(function(), true);
  EXPECT_EQ(both.request, 3);
  EXPECT_EQ(both.reply, 2);
  EXPECT_EQ(with("*:reply:1").decide(function(), false).reply, 0) << "a ping has no reply";
}

TEST(fault_injector, decides_the_same_in_every_run_and_counts_each_rule_alone) {
  const auto decisions = [](fault_injector faults) {
    std::vector<int> result;
    for (int i = 0; i < 200; ++i) result.push_back(faults.decide(function(), true).request);
    return result;
  };
  const std::vector<int> first = decisions(with("*:request:0.5:9"));
  EXPECT_EQ(first, decisions(with("*:request:0.5:9")));
  EXPECT_EQ(first, decisions(with("*:request:0.5:9;*:reply:0.5:9")));
  EXPECT_NE(first, decisions(with("*:request:0.5:10")));
}

TEST(fault_injector, strikes_connections_of_one_node_or_of_all) {
  fault_injector one = with("2:connect:1");
  EXPECT_EQ(one.decide_connection(1, 1), nullptr);
  ASSERT_NE(one.decide_connection(2, 2), nullptr);
  EXPECT_NE(one.decide_connection(9, 2), nullptr) << "a process that was started in place of that of node 2";
  EXPECT_NE(one.decide_connection(2, 1), nullptr) << "a process by its own number";
  EXPECT_NE(with("*:connect:1").decide_connection(1, 1), nullptr);
  EXPECT_EQ(with("*:request:1").decide_connection(1, 1), nullptr);
}

TEST(fault_injector, errors_say_which_rule_it_was) {
  fault_injector faults = with("*:request:1:4");
  std::atomic<std::uint32_t> outboxes{0};
  detail::peer_place place;
  const detail::peer who(3, place, outboxes);
  try {
    std::rethrow_exception(faults.failure(who, function(), 17, call_outcome::not_run, faults.rule(1)));
  } catch (const node_failure& why) {
    EXPECT_EQ(why.node(), 3);
    EXPECT_EQ(why.call(), 17U);
    EXPECT_EQ(why.function(), name());
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
    EXPECT_NE(std::string(why.what()).find("HAM_FAULT asks for it (rule *:request:1:4)"), std::string::npos)
        << why.what();
  }
}

TEST(fault_injector, gives_replies_when_they_are_due) {
  fault_injector faults = with("*:reply=1s:1");
  EXPECT_FALSE(faults.holds_replies());
  faults.hold({1, 10, false, 300, {}});
  faults.hold({1, 11, true, 100, {}});
  EXPECT_TRUE(faults.holds_replies());
  EXPECT_FALSE(faults.take_due(99));
  const auto first = faults.take_due(100);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->call, 11U);
  EXPECT_TRUE(first->failed);
  EXPECT_FALSE(faults.take_due(299));
  EXPECT_EQ(faults.take_due(300)->call, 10U);
  EXPECT_FALSE(faults.holds_replies());
}

}  // namespace fault_injector_test
