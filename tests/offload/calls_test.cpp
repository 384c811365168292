// The verbs that run functions, with every kind of callable, and calls in every direction.
#include <atomic>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <variant>

#include "bulk.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace calls_test {

int add(int a, int b) { return a + b; }
int add_noexcept(int a, int b) noexcept { return a + b; }
int overloaded(int value) { return value; }
int overloaded(double value) { return static_cast<int>(value * 10); }
template <class T>
T twice(T value) {
  return value + value;
}
struct tools {
  static int triple(int value) { return 3 * value; }
};
struct scale {
  int factor = 0;
  int operator()(int value) const { return factor * value; }
};
std::atomic<int> counter{0};
void count() { ++counter; }
std::size_t total(std::span<const double> values, std::string_view text) { return values.size() + text.size(); }
node_t where() { return offload::this_node(); }
node_t ask(node_t other) { return offload::sync(other, fn<&where>); }
int countdown(node_t partner, int depth) {
  return depth == 0 ? 0 : 1 + offload::sync(partner, fn<&countdown>, offload::this_node(), depth - 1);
}
std::unique_ptr<int> holder;

class calls : public two_targets {};

TEST_F(calls, every_spelling_of_a_function) {
  EXPECT_EQ(offload::sync(1, f2f(&add, 1, 2)), 3);
  EXPECT_EQ(offload::sync(1, ham::f2f<&add>(1, 2)), 3);
  EXPECT_EQ(offload::sync(1, fn<&add>, 1, 2), 3);
  EXPECT_EQ(offload::sync(1, fn<&add_noexcept>, 1, 2), 3);
  EXPECT_EQ(offload::sync(1, fn<static_cast<int (*)(double)>(&overloaded)>, 1.5), 15);
  EXPECT_EQ(offload::sync(1, fn<static_cast<int (*)(int)>(&overloaded)>, 1.5), 1);
  EXPECT_EQ(offload::sync(1, fn<&twice<double>>, 1.5), 3.0);
  EXPECT_EQ(offload::sync(1, fn<&twice<std::string>>, "ab"), "abab");
  EXPECT_EQ(offload::sync(1, fn<&tools::triple>, 4), 12);
  EXPECT_EQ(offload::sync(1, scale{5}, 4), 20);
  EXPECT_EQ(offload::sync(1, named<"calls_test.scale">(scale{6}), 4), 24);
  EXPECT_EQ(offload::sync(1, pooled(fn<&add>), 1, 2), 3);
  int more = 7;
  const std::string text = "captured";
  EXPECT_EQ(offload::sync(
                1, [more](int value) { return value + more; }, 1),
            8);
  EXPECT_EQ(offload::sync(
                1, [](int value) { return value; }, 1),
            1);
}

TEST_F(calls, arguments_and_results_of_many_types) {
  using table = std::map<std::string, std::vector<std::optional<int>>>;
  const table sent{{"a", {1, std::nullopt}}, {"", {}}};
  EXPECT_EQ(offload::sync(
                1, [](table what) { return what; }, sent),
            sent);
  const std::vector<double> values(1000, 2.0);
  EXPECT_EQ(offload::sync(1, fn<&total>, values, "text"), 1004U);
  using either = std::variant<int, std::string>;
  EXPECT_EQ(offload::sync(
                1, [](either what) { return what; }, either("x")),
            either("x"));
  const auto pair = offload::sync(1, [] { return std::pair(std::string(100, 'y'), 5L); });
  EXPECT_EQ(pair.first.size(), 100U);
  EXPECT_EQ(pair.second, 5);
  EXPECT_EQ(offload::sync(
                1, [](bool a, char b, long double c) { return a && b == 'b' && c == 0.5L; }, true, 'b', 0.5L),
            true);
}

TEST_F(calls, sizes_around_every_limit) {
  // One line, some lines, half of the ring, several fragments.
  for (const std::size_t size :
       {0U,   1U,    39U,     40U,     41U,     47U,     48U,     49U,     111U,    112U,
        113U, 4096U, 131000U, 131048U, 131056U, 131064U, 131072U, 131100U, 262144U, 1000000U}) {
    const std::string text(size, 'z');
    EXPECT_EQ(offload::sync(
                  1, [](const std::string& what) { return what + "!"; }, text),
              text + "!")
        << size;
  }
}

TEST_F(calls, ping_runs_once_and_is_ordered_with_calls) {
  counter = 0;
  for (int i = 0; i < 1000; ++i) offload::ping(1, fn<&count>);
  EXPECT_EQ(offload::sync(1, [] { return counter.load(); }), 1000);
}

TEST_F(calls, ping_that_throws_is_reported_and_harmless) {
  offload::ping(1, [] { throw std::runtime_error("nobody waits for this"); });
  EXPECT_EQ(offload::sync(1, fn<&add>, 2, 2), 4);
}

TEST_F(calls, fifo_per_node) {
  static std::vector<int> order;
  order.clear();
  std::vector<offload::future<void>> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(offload::async(
        1, [](int number) { order.push_back(number); }, i));
  }
  for (auto& one : all) one.get();
  std::vector<int> expected(5000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(calls, fifo_of_small_and_big_messages) {
  static std::vector<int> order;
  order.clear();
  std::vector<offload::future<void>> all;
  for (int i = 0; i < 60; ++i) {
    const std::string ballast(i % 3 == 0 ? 300000 : 5, 'b');
    all.push_back(offload::async(
        1, [](int number, const std::string&) { order.push_back(number); }, i, ballast));
  }
  for (auto& one : all) one.get();
  std::vector<int> expected(60);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(calls, nested_in_every_direction) {
  for (node_t from = 0; from <= 2; ++from) {
    for (node_t to = 0; to <= 2; ++to) EXPECT_EQ(offload::sync(from, fn<&ask>, to), to) << from;
  }
  EXPECT_EQ(offload::sync(1, fn<&countdown>, 0, 200), 200);
  EXPECT_EQ(offload::sync(1, fn<&countdown>, 2, 200), 200);
  EXPECT_EQ(offload::sync(1, fn<&countdown>, 1, 50), 50) << "a target that calls itself";
}

TEST_F(calls, a_node_calls_itself) {
  EXPECT_EQ(offload::sync(0, fn<&where>), 0);
  EXPECT_EQ(offload::sync(0, fn<&countdown>, 0, 100), 100);
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 6000; ++i) all.push_back(offload::async(0, fn<&add>, i, 1));
  for (int i = 0; i < 6000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i + 1);
  EXPECT_THROW(offload::sync(0, []() -> int { throw std::out_of_range("own"); }), std::out_of_range);
  const std::vector<int> big(1 << 20, 3);
  EXPECT_EQ(offload::sync(
                0, [](const std::vector<int>& what) { return what; }, big),
            big);
}

TEST_F(calls, destinations_that_do_not_exist) {
  EXPECT_NE(message_of<call_error>([] { offload::sync(3, fn<&where>); }).find("no node 3"), std::string::npos);
  EXPECT_THROW(offload::sync(-1, fn<&where>), call_error);
  EXPECT_THROW((void)offload::async(1000000, fn<&where>), call_error);
  EXPECT_THROW(offload::ping(3, fn<&where>), call_error);
  EXPECT_THROW((void)offload::try_async(3, fn<&where>), call_error);
  EXPECT_THROW((void)offload::get_node_descriptor(3), call_error);
  EXPECT_THROW(offload::context(3), call_error);
}

TEST_F(calls, descriptions_of_nodes) {
  EXPECT_EQ(offload::num_nodes(), 3U);
  EXPECT_TRUE(offload::is_host());
  EXPECT_TRUE(offload::is_host(0));
  EXPECT_FALSE(offload::is_host(1));
  for (node_t node = 0; node <= 2; ++node) {
    const auto described = offload::get_node_description(node);
    EXPECT_EQ(described.node(), node);
    EXPECT_EQ(described.pid(), ::getpid()) << node;
    EXPECT_FALSE(described.name().empty()) << node;
    EXPECT_EQ(described.device_type(), "cpu");
    EXPECT_FALSE(described.isa().empty());
  }
  EXPECT_EQ(offload::get_node_descriptor(1).transport(), "loopback");
}

TEST_F(calls, statistics_count) {
  const auto before = offload::stats();
  for (int i = 0; i < 10; ++i) offload::sync(1, fn<&where>);
  offload::ping(1, fn<&where>);
  const auto between = offload::stats();
  EXPECT_EQ(between.calls_sent - before.calls_sent, 11U);
  offload::sync(1, [] { offload::sync(0, fn<&where>); });
  EXPECT_EQ(offload::stats().calls_executed - before.calls_executed, 1U);
}

TEST_F(calls, statistics_count_the_bytes_of_messages) {
  constexpr std::size_t head = 16;
  const auto before = offload::stats();
  EXPECT_EQ(offload::sync(
                1, [](const std::string& text) { return text; }, std::string(1000, 'x'))
                .size(),
            1000U);
  const auto after = offload::stats();
  EXPECT_GE(after.bytes_sent - before.bytes_sent, head + 1000);
  EXPECT_LT(after.bytes_sent - before.bytes_sent, head + 1100);
  EXPECT_GE(after.bytes_received - before.bytes_received, head + 1000);
  EXPECT_LT(after.bytes_received - before.bytes_received, head + 1100);
}

// ---- a full queue

std::atomic<bool> gate_open{false};
void wait_at_gate() {
  while (!gate_open.load()) std::this_thread::sleep_for(100us);
}

TEST_F(calls, try_async_says_that_the_queue_is_full) {
  gate_open = false;
  auto blocker = offload::async(1, fn<&wait_at_gate>);
  std::vector<offload::future<int>> sent;
  bool refused = false;
  for (int i = 0; i < 1'000'000 && !refused; ++i) {
    auto one = offload::try_async(1, fn<&add>, i, 1);
    if (one)
      sent.push_back(std::move(*one));
    else
      refused = true;
  }
  EXPECT_TRUE(refused);
  EXPECT_GT(sent.size(), 100U);
  EXPECT_TRUE(offload::try_async(2, fn<&add>, 1, 1).has_value()) << "the queue to another node is another queue";
  gate_open = true;
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].get(), static_cast<int>(i) + 1);
  blocker.get();
  auto again = offload::try_async(1, fn<&add>, 1, 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->get(), 2);
}

TEST_F(calls, try_async_of_a_long_message_does_not_wait) {
  gate_open = false;
  auto blocker = offload::async(1, fn<&wait_at_gate>);
  const std::vector<int> big(1 << 20, 3);  // sixteen times what the queue holds
  const auto size_of = [](const std::vector<int>& what) { return what.size(); };
  auto first = offload::try_async(1, size_of, big);
  ASSERT_TRUE(first) << "nothing else waits";
  EXPECT_FALSE(first->test());
  for (int i = 0; i < unless_sanitized(100, 10); ++i) {  // no more of them are kept
    EXPECT_FALSE(offload::try_async(1, size_of, big));
    EXPECT_FALSE(offload::try_async(1, fn<&add>, 1, 1)) << "order is kept";
  }
  EXPECT_TRUE(offload::try_async(2, size_of, big).has_value());
  gate_open = true;
  EXPECT_EQ(first->get(), big.size());
  auto again = offload::try_async(1, size_of, big);
  ASSERT_TRUE(again);
  EXPECT_EQ(offload::sync(1, fn<&add>, 1, 1), 2) << "behind the long one";
  EXPECT_EQ(again->get(), big.size());
  blocker.get();
}

TEST_F(calls, what_never_left_is_not_counted) {
  gate_open = false;
  auto blocker = offload::async(1, fn<&wait_at_gate>);
  const std::vector<int> big(1 << 20, 3);
  const auto size_of = [](const std::vector<int>& what) { return what.size(); };
  auto first = offload::try_async(1, size_of, big);
  ASSERT_TRUE(first);
  const auto before = offload::stats();
  EXPECT_THROW((void)offload::sync(offload::within(1, 10ms), size_of, big), deadline_exceeded);
  EXPECT_EQ(offload::stats().calls_sent, before.calls_sent);
  gate_open = true;
  EXPECT_EQ(first->get(), big.size());
  blocker.get();
}

TEST_F(calls, async_waits_while_the_queue_is_full) {
  gate_open = false;
  auto blocker = offload::async(1, fn<&wait_at_gate>);
  std::thread opener([] {
    std::this_thread::sleep_for(50ms);
    gate_open = true;
  });
  std::vector<offload::future<int>> sent;
  for (int i = 0; i < 30000; ++i) sent.push_back(offload::async(1, fn<&add>, i, 1));
  for (int i = 0; i < 30000; ++i) EXPECT_EQ(sent[static_cast<std::size_t>(i)].get(), i + 1);
  opener.join();
}

TEST_F(calls, both_sides_flood_each_other) {
  const auto flood = [](node_t to) {
    std::vector<offload::future<int>> sent;
    for (int i = 0; i < 20000; ++i) sent.push_back(offload::async(to, fn<&add>, i, 1));
    long sum = 0;
    for (auto& one : sent) sum += one.get();
    return sum;
  };
  auto there = offload::async(1, flood, 0);
  EXPECT_EQ(flood(1), 20000L * 20001 / 2);
  EXPECT_EQ(there.get(), 20000L * 20001 / 2);
}

TEST_F(calls, both_sides_flood_each_other_with_big_messages) {
  const auto flood = [](node_t to) {
    const std::vector<char> big(400000, 'q');
    std::vector<offload::future<std::vector<char>>> sent;
    for (int i = 0; i < 10; ++i) {
      sent.push_back(offload::async(
          to, [](const std::vector<char>& what) { return what; }, big));
    }
    std::size_t sum = 0;
    for (auto& one : sent) sum += one.get().size();
    return sum;
  };
  auto there = offload::async(1, flood, 0);
  EXPECT_EQ(flood(1), 4000000U);
  EXPECT_EQ(there.get(), 4000000U);
}

// ---- arguments that cannot be encoded

struct moody {
  std::vector<std::uint32_t> words;
  bool refuses = false;
};

}  // namespace calls_test

template <>
struct ham::codec<calls_test::moody> {
  static std::size_t size(const calls_test::moody& value) { return msg::encoded_size(value.words) + 1; }
  static void write(msg::writer& to, const calls_test::moody& value) {
    msg::encode(to, value.words);
    if (value.refuses) throw std::domain_error("not today");
    msg::encode(to, value.refuses);
  }
  static calls_test::moody read(msg::reader& from) {
    calls_test::moody result;
    result.words = msg::decode<std::vector<std::uint32_t>>(from);
    result.refuses = msg::decode<bool>(from);
    return result;
  }
};

namespace calls_test {

TEST_F(calls, a_codec_that_throws_sends_nothing) {
  const auto size = [](const moody& what) { return what.words.size(); };
  // The words equal a line's arrival stamp in the first laps of the ring.
  for (std::uint32_t lap = 0; lap < 3; ++lap) {
    moody value;
    value.words.assign(2000, 0x80000000U + lap);
    for (int i = 0; i < 40; ++i) {
      value.refuses = true;
      EXPECT_THROW(offload::sync(1, size, value), std::domain_error);
      EXPECT_THROW(offload::ping(1, size, value), std::domain_error);
      value.refuses = false;
      EXPECT_EQ(offload::sync(1, fn<&add>, i, 1), i + 1);
      EXPECT_EQ(offload::sync(1, size, value), 2000U);
    }
  }
  const auto make = [](bool refuses) { return moody{std::vector<std::uint32_t>(2000, 0x80000000U), refuses}; };
  for (int i = 0; i < 40; ++i) {
    EXPECT_THROW((void)offload::sync(1, make, true), std::domain_error) << "a result that cannot be encoded";
    EXPECT_EQ(offload::sync(1, make, false).words.size(), 2000U);
  }
  moody huge;
  huge.words.assign(1 << 20, 1);
  huge.refuses = true;
  EXPECT_THROW(offload::sync(1, size, huge), std::domain_error);
  EXPECT_EQ(offload::sync(1, fn<&add>, 1, 1), 2);
  offload::batch several(1);
  auto good = several.add(fn<&add>, 1, 2);
  EXPECT_THROW((void)several.add(size, huge), std::domain_error);
  auto better = several.add(fn<&add>, 3, 4);
  several.submit();
  EXPECT_EQ(good.get(), 3);
  EXPECT_EQ(better.get(), 7);
}

}  // namespace calls_test
