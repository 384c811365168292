// Recorded graphs: what stages are given, in which order they run, how many messages they take; what is refused.
#include "ham/offload/graph.hpp"

#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "offload/graph_functions.hpp"

using namespace ham;
using namespace ham::test;

namespace graph_test {

using namespace graph_functions;

double half(double value) { return value / 2; }
int where(int /*unused*/) { return offload::this_node(); }
std::string join(const std::string& left, const std::string& right) { return left + right; }
std::size_t length(std::string_view text) { return text.size(); }
std::vector<double> ramp(std::uint64_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}
double total(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double first_of(offload::buffer_ptr<double> values) { return values[0]; }
std::mutex order_mutex;
std::string order;
void note(char what) {
  const std::lock_guard guard(order_mutex);
  order += what;
}
bool is_large(int value) { return value >= 1000; }
bool below_one(double value) { return value < 1; }
bool third_time(int /*unused*/) { return calls >= 3; }
std::uint64_t messages_of_all() {
  return offload::stats().calls_sent + offload::sync(1, fn<&offload::stats>).calls_sent +
         offload::sync(2, fn<&offload::stats>).calls_sent;
}

class graphs : public graph_nodes {
 protected:
  graphs() { order.clear(); }
};

// ---- values

TEST_F(graphs, results_go_from_stage_to_stage) {
  offload::graph g;
  auto in = g.input<int>();
  auto a = g.call(1, fn<&twice>, in);
  auto b = g.call(2, fn<&add>, a, 5);
  auto c = g.call(1, fn<&add>, b, a);
  auto step = g.compile(c);
  EXPECT_EQ(step(3).get(), 17);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(step(i).get(), 4 * i + 5) << i;
  EXPECT_EQ(step.in_flight(), 0U);
}

TEST_F(graphs, stages_run_on_their_nodes) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&add>, g.call(2, fn<&where>, 0), g.call(0, fn<&where>, 0)));
  EXPECT_EQ(step().get(), 2);
  offload::graph one;
  auto alone = one.compile(one.call(2, fn<&where>, one.call(1, fn<&where>, 0)));
  EXPECT_EQ(alone().get(), 2);
}

TEST_F(graphs, take_every_type_that_crosses) {
  offload::graph g;
  auto text = g.input<std::string>();
  auto count = g.input<std::uint64_t>();
  auto joined = g.call(1, fn<&join>, text, " and more");
  auto long_text = g.call(2, fn<&length>, joined);
  auto values = g.call(1, fn<&ramp>, count);
  auto sum = g.call(2, fn<&total>, values);
  const int factor = 3;
  auto all = g.call(
      1, [factor](std::size_t size, double other) { return factor * (static_cast<double>(size) + other); }, long_text,
      sum);
  auto step = g.compile(all, text, count);
  EXPECT_EQ(step("some", 4).get(), 3 * (13 + 6.0));
  EXPECT_EQ(step(std::string(100'000, 'x'), 100'000).get(), 3 * (100'009 + 99'999.0 * 50'000));
  EXPECT_EQ(step("", 0).get(), 27);
}

TEST_F(graphs, take_every_kind_of_callable) {
  offload::graph g;
  auto a = g.call(1, f2f(&twice, 4));
  auto b = g.call(2, pooled(fn<&twice>), a);
  auto c = g.call(1, named<"graph_test_twice">(fn<&twice>), b);
  auto d = g.call(
      1, ham::bind([](const std::string& text, int value) { return text.size() + value; }, std::string("abc")), c);
  EXPECT_EQ(g.compile(d)().get(), 35U);
}

TEST_F(graphs, an_input_may_be_used_by_several_nodes_and_stages) {
  offload::graph g;
  auto in = g.input<int>();
  auto unused = g.input<std::string>();
  auto sum = g.call(1, fn<&add>, g.call(2, fn<&twice>, in), g.call(0, fn<&add>, in, in));
  static_cast<void>(unused);
  auto step = g.compile(sum);
  EXPECT_EQ(step(5, std::string("not looked at")).get(), 20);
}

TEST_F(graphs, give_nothing_if_the_last_stage_gives_nothing) {
  offload::graph g;
  auto a = g.call(1, fn<&note>, 'a');
  auto b = g.call(2, fn<&note>, 'b').after(a);
  auto c = g.call(1, fn<&note>, 'c').after(b, a);
  auto step = g.compile(c);
  step().get();
  EXPECT_EQ(order, "abc");
}

TEST_F(graphs, a_replay_ends_when_all_stages_have_ended) {
  offload::graph g;
  auto result = g.call(1, fn<&twice>, 4);
  g.call(2, pooled(fn<&wait_for_gate>), 1);
  auto step = g.compile(result);
  auto running = step();
  EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
  EXPECT_FALSE(running.wait_for(10ms));
  gate = true;
  EXPECT_EQ(running.get(), 8);
}

TEST_F(graphs, move_data) {
  std::vector<double> here{2.5, 3.5};
  std::vector<double> back(2);
  offload::buffer<double> there(1, 2);
  offload::buffer<double> beside(2, 2);
  offload::graph g;
  auto written = g.put(here, there);
  auto copied = g.copy(there.ptr(), beside.ptr(), 2).after(written);
  auto read = g.get(beside, back).after(copied);
  auto value = g.call(2, fn<&first_of>, beside.ptr()).after(copied);
  static_cast<void>(read);
  auto step = g.compile(value);
  EXPECT_EQ(step().get(), 2.5);
  EXPECT_EQ(back, here);
  here = {7, 8};
  EXPECT_EQ(step().get(), 7);
  EXPECT_EQ(back, here);
}

TEST_F(graphs, inputs_that_the_compiler_knows_are_converted) {
  offload::graph g;
  auto x = g.input<double>();
  auto n = g.input<int>();
  auto y = g.call(
      1, [](double value, int times) { return value * times; }, x, n);
  EXPECT_EQ(g.compile(y, n, x)(3, 2.5F).get(), 7.5);
}

TEST_F(graphs, other_inputs_must_be_of_their_types) {
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&half>, g.input<double>()));
  EXPECT_EQ(step(3.0).get(), 1.5);
  EXPECT_NE(message_of<call_error>([&] { static_cast<void>(step(3)); }).find("is a int"), std::string::npos);
  EXPECT_NE(message_of<call_error>([&] { static_cast<void>(step()); }).find("0 inputs"), std::string::npos);
  EXPECT_EQ(step.in_flight(), 0U);
}

// ---- messages

TEST_F(graphs, a_chain_over_targets_takes_one_message_for_each_and_one_for_the_result) {
  for (const std::size_t length : {1U, 2U, 5U, 8U}) {
    offload::graph g;
    auto in = g.input<int>();
    auto at = g.call(1, fn<&add>, in, 1);
    for (std::size_t i = 1; i < length; ++i) at = g.call(i % 2 == 0 ? 1 : 2, fn<&add>, at, 1);
    auto step = g.compile(at);
    EXPECT_EQ(step(0).get(), static_cast<int>(length));
    const std::uint64_t to_ask = messages_of_all();
    const std::uint64_t before = messages_of_all();
    EXPECT_EQ(step(0).get(), static_cast<int>(length));
    EXPECT_EQ(messages_of_all() - before - (before - to_ask), length) << length << "; the result is no call";
  }
}

TEST_F(graphs, stages_of_one_target_take_no_messages_between_them) {
  offload::graph g;
  auto at = g.call(1, fn<&twice>, g.input<int>());
  for (int i = 0; i < 7; ++i) at = g.call(1, fn<&add>, at, 1);
  auto step = g.compile(at);
  EXPECT_EQ(step(1).get(), 9);
  const std::uint64_t to_ask = messages_of_all();
  const std::uint64_t before = messages_of_all();
  EXPECT_EQ(step(2).get(), 11);
  EXPECT_EQ(messages_of_all() - before - (before - to_ask), 1U) << "the result is no call";
}

TEST_F(graphs, the_host_sends_one_message_however_often_stages_are_repeated) {
  offload::graph g;
  auto in = g.input<int>();
  auto last = g.repeat(
      in, [&](offload::graph_value<int> value) { return g.call(2, fn<&add>, g.call(1, fn<&add>, value, 1), 0); },
      fn<&is_large>);
  auto step = g.compile(last);
  for (const int first : {0, 500, 999}) {
    const std::uint64_t before = offload::stats().calls_sent;
    EXPECT_EQ(step(first).get(), 1000);
    EXPECT_EQ(offload::stats().calls_sent - before, 1U) << first;
  }
}

// ---- repeat

TEST_F(graphs, a_repeat_ends_when_its_condition_holds) {
  offload::graph g;
  auto in = g.input<double>();
  auto rest = g.repeat(
      in, [&](offload::graph_value<double> value) { return g.call(1, fn<&half>, value); }, fn<&below_one>);
  auto step = g.compile(g.call(2, fn<&half>, rest));
  EXPECT_EQ(step(8.0).get(), 0.25);
  EXPECT_EQ(step(0.5).get(), 0.125);  // once in any case
  EXPECT_EQ(step(1024.0).get(), 0.25);
}

TEST_F(graphs, a_condition_may_be_a_stage_of_another_node) {
  offload::graph g;
  auto last = g.repeat(
      1, [&](offload::graph_value<int> value) { return g.call(1, fn<&twice>, value); },
      [&](offload::graph_value<int> value) { return g.call(2, fn<&is_large>, value); });
  auto step = g.compile(last);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step().get(), 1024);
}

TEST_F(graphs, a_repeat_may_have_no_value_and_use_those_from_outside) {
  offload::graph g;
  auto in = g.input<int>();
  auto fixed = g.call(2, fn<&twice>, in);
  auto last = g.repeat(
      [&] {
        auto beside = g.call(2, fn<&add>, fixed, 1);  // nothing of the iteration goes in, and it is waited for
        static_cast<void>(beside);
        return g.call(1, fn<&count_call>, fixed);
      },
      fn<&third_time>);
  auto step = g.compile(last);
  EXPECT_EQ(step(5).get(), 10);
  EXPECT_EQ(calls, 3);
  calls = 0;
  EXPECT_EQ(step(6).get(), 12);
  EXPECT_EQ(calls, 3);
}

TEST_F(graphs, a_repeat_begins_after_what_it_comes_after) {
  offload::graph g;
  auto before = g.call(2, pooled(fn<&wait_for_gate>), 1);
  auto last = g.repeat(
      1, [&](offload::graph_value<int> value) { return g.call(1, fn<&count_call>, value); }, fn<&third_time>);
  auto step = g.compile(last.after(before));
  auto running = step();
  EXPECT_TRUE(eventually([] { return behind_gate == 1; }));
  EXPECT_EQ(offload::sync(1, fn<&twice>, 1), 2);  // its node has read all that it was sent
  EXPECT_EQ(calls, 0);
  gate = true;
  EXPECT_EQ(running.get(), 1);
  EXPECT_EQ(calls, 3);
}

TEST_F(graphs, several_repeats_follow_each_other) {
  offload::graph g;
  const auto body = [&](node_t node) {
    return [&g, node](offload::graph_value<int> value) { return g.call(node, fn<&twice>, value); };
  };
  auto one = g.repeat(1, body(1), fn<&is_large>);
  auto two = g.repeat(g.call(2, fn<&add>, one, -1023), body(2), fn<&is_large>);
  EXPECT_EQ(g.compile(g.call(1, fn<&add>, one, two))().get(), 2048);
}

// ---- what cannot be

TEST_F(graphs, a_cycle_is_refused_with_its_stages) {
  offload::graph g;
  auto a = g.call(1, fn<&note>, 'a').name("first");
  auto b = g.call(2, fn<&note>, 'b').after(a).name("second");
  auto c = g.call(2, fn<&note>, 'c').after(b);
  a.after(b);
  const std::string why = message_of<config_error>([&] { static_cast<void>(g.compile(c)); });
  EXPECT_NE(why.find("cycle"), std::string::npos) << why;
  EXPECT_NE(why.find("stage 0 (first)"), std::string::npos) << why;
  EXPECT_NE(why.find("stage 1 (second)"), std::string::npos) << why;
}

TEST_F(graphs, a_node_that_is_not_there_is_refused) {
  offload::graph g;
  auto a = g.call(7, fn<&twice>, 1).name("lost");
  const std::string why = message_of<call_error>([&] { static_cast<void>(g.compile(a)); });
  EXPECT_NE(why.find("stage 0 (lost)"), std::string::npos) << why;
  EXPECT_NE(why.find("no node 7"), std::string::npos) << why;
}

TEST_F(graphs, values_stay_in_their_graph_and_in_their_repeat) {
  offload::graph g, other;
  auto a = other.call(1, fn<&twice>, 1);
  EXPECT_THROW(g.call(1, fn<&twice>, a), config_error);
  EXPECT_THROW(g.call(1, fn<&twice>, 1).after(a), config_error);
  EXPECT_THROW(static_cast<void>(g.compile(a)), config_error);
  std::optional<offload::graph_value<int>> inside;
  auto last = g.repeat(
      1,
      [&](offload::graph_value<int> value) {
        inside = g.call(1, fn<&twice>, value);
        return *inside;
      },
      fn<&is_large>);
  auto leak = g.call(2, fn<&add>, last, *inside);
  EXPECT_NE(message_of<config_error>([&] { static_cast<void>(g.compile(leak)); }).find("is repeated"),
            std::string::npos);
}

TEST_F(graphs, a_repeat_within_a_repeat_is_refused) {
  offload::graph g;
  const auto nested = [&](offload::graph_value<int> value) {
    return g.repeat(
        value, [&](offload::graph_value<int> inner) { return g.call(1, fn<&twice>, inner); }, fn<&is_large>);
  };
  EXPECT_THROW(static_cast<void>(g.repeat(1, nested, fn<&is_large>)), config_error);
  EXPECT_EQ(g.compile(g.call(1, fn<&twice>, 4))().get(), 8);  // can still be recorded on
}

}  // namespace graph_test
