// Stages of a graph that a device executes one after the other, without the host in between.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/offload/graph.hpp"
#include "runtime/device_job.hpp"
#include "runtime/graph_part.hpp"
#include "some_attempt.hpp"

namespace ham::inline v1::graph_chain_functions {

bool on_device() { return device::detail::this_lane() != nullptr; }

std::uint32_t next_of(std::uint32_t value) { return on_device() ? value + 1 : 0; }
struct pair_of_values {
  double first;
  float second;
};
double scaled(double x, float by, std::uint8_t more) { return on_device() ? x * static_cast<double>(by) + more : 0; }
pair_of_values both(double first, float second) { return {first, second}; }
double sum_of(pair_of_values of, std::span<const double> more, double last) {
  double result = of.first + static_cast<double>(of.second) + last;
  for (const double one : more) result += one;
  return on_device() ? result : 0;
}
void append(offload::buffer_ptr<std::uint32_t> to, std::uint32_t value) {
  if (device::rank() == 0) to[to[0] + 1] = value;
  device::sync();
  if (device::rank() == 0) ++to[0];
}
void append_by_warp(offload::buffer_ptr<std::uint32_t> to, std::uint32_t value) { append(to, value); }
std::uint32_t count_of(offload::buffer_ptr<std::uint32_t> in) { return on_device() ? in[0] : 0; }
offload::buffer_ptr<std::uint32_t> behind_first(offload::buffer_ptr<std::uint32_t> of) { return of + 1; }
std::uint32_t threads_of_grid(std::uint32_t value) { return value + device::size(); }
std::uint32_t refuses_five(std::uint32_t value) {
  if (value == 5) throw value;
  return value;
}
std::atomic<bool> waits{false};
std::atomic<std::uint32_t> begun{0}, behind_it{0};
std::uint32_t until_stopped(std::uint32_t value) {
  begun.fetch_add(1);
  while (waits.load() && !device::stop_requested()) std::this_thread::yield();
  return value;
}
std::uint32_t counts_itself(std::uint32_t value) {
  behind_it.fetch_add(1);
  return value;
}

/// Its codec refuses it if told to.
struct refusable {
  std::uint32_t value;
};
std::atomic<bool> refuses_arguments{false};
std::function<void()> while_reading;  // by its codec, once
std::uint32_t with_refusable(refusable of, std::uint32_t more) { return of.value + more; }

std::uint32_t tripled(std::uint32_t value) { return 3 * value; }
bool is_twelve_or_more(std::uint32_t value) { return value >= 12; }

}  // namespace ham::graph_chain_functions

template <>
struct ham::codec<ham::graph_chain_functions::refusable> {
  using type = ham::graph_chain_functions::refusable;
  static constexpr bool fixed = true;
  static constexpr std::size_t fixed_size = 4;
  static void write(msg::writer& to, const type& of) { to.number(of.value); }
  static type read(msg::reader& from) {
    const type made{from.number<std::uint32_t>()};
    if (ham::graph_chain_functions::refuses_arguments) throw std::runtime_error("refused");
    if (const auto meanwhile = std::exchange(ham::graph_chain_functions::while_reading, {})) meanwhile();
    return made;
  }
  static std::string layout() { return "refusable"; }
};

HAM_DEVICE_FUNCTION(ham::graph_chain_functions::next_of, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::scaled, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::both, block)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::sum_of, warp)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::append, block)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::append_by_warp, warp)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::count_of, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::behind_first, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::threads_of_grid, grid)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::refuses_five, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::until_stopped, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::counts_itself, thread)
HAM_DEVICE_FUNCTION(ham::graph_chain_functions::with_refusable, thread)

namespace ham::inline v1::detail {
namespace {

using namespace graph_chain_functions;
namespace wire = device::detail;

/// Its kernel stays: only calls take places in its queue.
class lasting_owner final : public transport::device_owner {
 public:
  explicit lasting_owner(std::int64_t read_ns) : read_ns_(read_ns) {}
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    auto made = std::make_unique<transport::cuda::emulated_device>(transport::cuda::geometry{
        .blocks = 2, .warps = 2, .lanes = 2, .read_ns = read_ns_, .linger_ns = base::never_ns / 2});
    device = made.get();
    return made;
  }
  [[nodiscard]] limits device_limits() const noexcept override { return {base::never_ns / 2, 10'000'000'000}; }
  transport::cuda::emulated_device* device = nullptr;

 private:
  const std::int64_t read_ns_;
};

/// Node 1 has a device.
class graph_chain : public testing::Test {
 protected:
  explicit graph_chain(std::int64_t read_ns = 0) : owner(read_ns) {
    calls = std::make_unique<device_calls>(node, owner);
  }
  /// Calls that were put into the first queue of the device, and replies that it has given.
  [[nodiscard]] std::uint64_t sent() const {
    std::uint64_t last = 0;
    for (wire::call_header& one : owner.device->queues()[0].headers)
      last = std::max(last, wire::acquire(one.what) >> wire::stamp_shift);
    return last;
  }
  [[nodiscard]] std::uint64_t replied() const {
    std::uint64_t last = 0;
    for (wire::reply_slot& one : owner.device->queues()[0].replies)
      last = std::max(last, wire::acquire(one.what) >> wire::stamp_shift);
    return last;
  }
  /// How many a replay takes.
  template <class Replay>
  std::uint64_t calls_of(Replay replay) {
    const std::uint64_t before = sent();
    replay();
    EXPECT_EQ(replied(), sent());
    return sent() - before;
  }

  runtime job{test::loopback(2)};
  engine& node =
      *reinterpret_cast<engine*>(offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&current()); }));
  lasting_owner owner;
  std::unique_ptr<device_calls> calls;
};

using value = offload::graph_value<std::uint32_t>;

value many_calls(offload::graph& g, value last, int count) {
  for (int i = 0; i < count; ++i) last = g.call(1, fn<&next_of>, last);
  return last;
}

TEST_F(graph_chain, of_eight_stages_is_one_call_and_one_reply) {
  offload::graph g;
  auto replay = g.compile(many_calls(g, g.input<std::uint32_t>(), 8));
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(1U).get(), 9U); }), 8U) << "the part learns what the device executes";
  for (std::uint32_t i = 0; i < 20; ++i)
    EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(i).get(), i + 8); }), 1U) << "replay " << i;
}

/// So slow that there is time for a chain before the device asks whether it is to stop.
class graph_chain_on_a_slow_link : public graph_chain {
 protected:
  graph_chain_on_a_slow_link() : graph_chain(20'000'000) {}
};

TEST_F(graph_chain_on_a_slow_link, of_eight_stages_crosses_it_twice) {
  offload::graph g;
  auto replay = g.compile(many_calls(g, g.input<std::uint32_t>(), 8));
  EXPECT_EQ(replay(1U).get(), 9U);
  EXPECT_TRUE(test::in_some_attempt([&] {
    const transport::cuda::link_counts before = owner.device->link().counts();
    EXPECT_EQ(replay(2U).get(), 10U);
    const transport::cuda::link_counts after = owner.device->link().counts();
    EXPECT_EQ(after.fences - before.fences, 1U) << "one reply, and nothing else for which the device waits";
    return after.reads - before.reads <= 2;
  })) << "the beginning of the call, and its arguments";
}

TEST_F(graph_chain, hands_results_to_any_later_stage) {
  offload::graph g;
  auto x = g.input<double>();
  auto by = g.input<float>();
  const std::vector<double> more{0.25, 0.5};
  auto first = g.call(1, fn<&scaled>, x, by, std::uint8_t{7});
  auto second = g.call(1, fn<&both>, first, by);
  auto third = g.call(1, fn<&scaled>, first, 2.0F, std::uint8_t{1});
  auto replay = g.compile(g.call(1, fn<&sum_of>, second, std::span<const double>(more), third));
  for (int i = 0; i < 10; ++i) {
    const double scaled_once = i * 1.5 + 7;
    const double expected = scaled_once + 1.5 + 0.75 + 2 * scaled_once + 1;
    const std::uint64_t taken =
        calls_of([&] { EXPECT_DOUBLE_EQ(replay(static_cast<double>(i), 1.5F).get(), expected); });
    if (i > 0) {
      EXPECT_EQ(taken, 1U);
    }
  }
}

TEST_F(graph_chain, keeps_the_order_of_stages_without_values) {
  offload::buffer<std::uint32_t> list(1, 20);
  offload::graph g;
  auto in = g.input<std::uint32_t>();
  auto last = g.call(1, fn<&append>, list.ptr(), in);
  for (std::uint32_t i = 1; i < 9; ++i)
    last = i % 2 == 0 ? g.call(1, fn<&append>, list.ptr(), i).after(last)
                      : g.call(1, fn<&append_by_warp>, list.ptr(), i).after(last);
  auto replay = g.compile(g.call(1, fn<&count_of>, list.ptr()).after(last));
  for (int round = 0; round < 5; ++round) {
    const std::vector<std::uint32_t> zeros(20);
    offload::put(zeros.data(), list.ptr(), 20).get();
    const std::uint64_t taken = calls_of([&] { EXPECT_EQ(replay(100U).get(), 9U); });
    if (round > 0) {
      EXPECT_EQ(taken, 1U);
    }
    std::vector<std::uint32_t> values(20);
    offload::get(list.ptr(), values.data(), 20).get();
    EXPECT_EQ(std::vector<std::uint32_t>(values.begin(), values.begin() + 10),
              (std::vector<std::uint32_t>{9, 100, 1, 2, 3, 4, 5, 6, 7, 8}));
  }
}

TEST_F(graph_chain, ends_where_others_wait_for_a_result) {
  offload::graph g;
  auto half_way = many_calls(g, g.input<std::uint32_t>(), 4);
  auto elsewhere = g.call(2, fn<&tripled>, half_way);
  auto here = many_calls(g, g.call(1, fn<&tripled>, many_calls(g, half_way, 3)), 3);
  auto grid = g.call(1, fn<&threads_of_grid>, here);
  auto replay = g.compile(g.call(
      0, [](std::uint32_t a, std::uint32_t b) { return a + b; }, elsewhere, many_calls(g, grid, 3)));
  for (std::uint32_t i = 0; i < 5; ++i) {
    const std::uint32_t expected = 3 * (i + 4) + 3 * (i + 7) + 3 + 8 + 3;
    const std::uint64_t taken = calls_of([&] { EXPECT_EQ(replay(i).get(), expected); });
    if (i > 0) {
      EXPECT_EQ(taken, 5U) << "4, 3, 3, that of the grid, 3";
    }
  }
}

TEST_F(graph_chain, is_in_the_body_of_a_repeat) {
  offload::graph g;
  auto in = g.input<std::uint32_t>();
  auto outside = g.call(1, fn<&next_of>, in);
  auto last = g.repeat(
      outside, [&](value of) { return many_calls(g, of, 4); }, fn<&is_twelve_or_more>);
  auto replay = g.compile(last);
  EXPECT_EQ(replay(0U).get(), 13U);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(0U).get(), 13U); }), 1U + 3U) << "one for each of three iterations";
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(20U).get(), 25U); }), 1U + 1U);
}

TEST_F(graph_chain, of_more_stages_than_fit_is_several) {
  offload::graph g;
  auto replay = g.compile(many_calls(g, g.input<std::uint32_t>(), 150));
  EXPECT_EQ(replay(1U).get(), 151U);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(i).get(), i + 150); }), 3U) << "each call takes 16 bytes of 1000";
}

TEST_F(graph_chain, ends_before_a_stage_that_takes_what_has_a_codec_of_its_own) {
  offload::buffer<std::uint32_t> list(1, 20);
  const std::vector<std::uint32_t> numbers{7, 8, 9};
  offload::put(numbers.data(), list.ptr(), 3).get();
  offload::graph g;
  auto moved = g.call(1, fn<&behind_first>, g.call(1, fn<&behind_first>, list.ptr()));
  auto replay = g.compile(many_calls(g, g.call(1, fn<&count_of>, moved), 2));
  EXPECT_EQ(replay().get(), 11U);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay().get(), 11U); }), 3U) << "two, and a chain of three";
}

TEST_F(graph_chain, names_the_stage_that_fails) {
  offload::graph g;
  auto in = g.input<std::uint32_t>();
  auto risky = g.call(1, fn<&refuses_five>, many_calls(g, in, 3)).name("risky");
  auto replay = g.compile(many_calls(g, risky, 3));
  const auto text = [&](std::uint32_t of) -> std::string {
    try {
      return std::to_string(replay(of).get());
    } catch (const stage_error& failed) {
      return failed.what();
    }
  };
  EXPECT_EQ(text(1), "7");
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(text(2).find("risky"), std::string::npos) << text(2);
    EXPECT_EQ(text(3), "9") << "the graph goes on";
  }
}

TEST_F(graph_chain, ends_before_a_stage_whose_arguments_are_refused) {
  offload::graph g;
  auto before = g.call(1, fn<&counts_itself>, many_calls(g, g.input<std::uint32_t>(), 2));
  auto bad = g.call(1, fn<&with_refusable>, refusable{10}, before).name("bad");
  auto replay = g.compile(g.call(1, fn<&counts_itself>, bad));
  EXPECT_EQ(replay(1U).get(), 13U);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(replay(1U).get(), 13U); }), 1U);
  const std::uint32_t counted = behind_it.load();
  refuses_arguments = true;
  try {
    static_cast<void>(replay(1U).get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const stage_error& failed) {
    EXPECT_NE(std::string(failed.what()).find("bad"), std::string::npos) << failed.what();
  }
  refuses_arguments = false;
  EXPECT_EQ(behind_it.load() - counted, 1U) << "what is before it has run";
}

/// Of replays of a part.
struct observed final : replay_observer {
  void on_result(std::uint32_t, std::span<const std::byte>) noexcept override { results.fetch_add(1); }
  void on_failed(std::uint32_t, std::uint32_t, std::exception_ptr why) noexcept override {
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& thrown) {
      failure = thrown.what();
    }
  }
  void on_lost(node_t, const std::string&) noexcept override {}
  std::atomic<std::uint32_t> results{0};
  std::string failure;
};

/// What nobody sends: messages of a peer that begin a stage which waits for others of its node.
TEST_F(graph_chain, fails_if_a_peer_begins_one_of_its_stages) {
  using offload::detail::no_stage;
  const engine_scope scope(&node);
  auto& next = call_of<std::decay_t<decltype(fn<&next_of>)>, std::uint32_t>::message::entry();
  auto& both = call_of<std::decay_t<decltype(fn<&with_refusable>)>, refusable, std::uint32_t>::message::entry();
  constexpr auto call = static_cast<std::uint8_t>(offload::detail::stage_kind::call);
  constexpr auto finish = static_cast<std::uint8_t>(offload::detail::stage_kind::finish);
  offload::detail::part_plan plan;
  plan.parts = {{1, 1}};
  plan.inputs = 1;
  plan.starting = {0};
  plan.ports = {{2}};
  plan.stages.resize(4);
  const auto describe = [&](std::uint32_t stage, std::uint8_t kind, std::uint32_t key, std::uint32_t needs,
                            std::vector<std::uint32_t> before, std::vector<offload::detail::graph_argument> sources) {
    offload::detail::part_stage& one = plan.stages[stage];
    one.kind = kind;
    one.number = stage;
    one.key = key;
    one.needs = needs;
    one.next = std::move(before);
    one.sources = std::move(sources);
  };
  describe(0, call, next.resolve(), 1, {1, 2}, {{5, {}}});
  describe(1, call, both.resolve(), 1, {2}, {{no_stage, std::vector<std::byte>(4)}, {0, {}}});
  describe(2, call, next.resolve(), 2, {3}, {{0, {}}});
  describe(3, finish, 0, 1, {}, {{2, {}}});
  const auto seen = std::make_shared<observed>();
  const auto part = std::make_shared<graph_part>(node, 1, plan, seen);
  const std::vector<std::byte> input{std::byte{4}, {}, {}, {}, std::byte{5}, {}, {}, {}};
  const auto ends = [&](std::uint32_t replay) {
    part->start(replay, input);
    return test::eventually([&] { return seen->results.load() == replay; });
  };
  ASSERT_TRUE(ends(1)) << seen->failure;
  EXPECT_EQ(calls_of([&] { ASSERT_TRUE(ends(2)) << seen->failure; }), 1U);
  while_reading = [&] {
    for (int i = 0; i < 2; ++i) part->deliver(3, 0, {});
  };
  ASSERT_TRUE(ends(3));
  EXPECT_NE(seen->failure.find("began before what it waits for"), std::string::npos) << seen->failure;
}

TEST_F(graph_chain, begins_no_stage_behind_a_stop_or_a_deadline) {
  offload::graph g;
  auto first = g.call(1, fn<&until_stopped>, g.input<std::uint32_t>());
  auto replay = g.compile(g.call(1, fn<&counts_itself>, g.call(1, fn<&counts_itself>, first)));
  EXPECT_EQ(replay(5U).get(), 5U);
  const std::uint32_t counted = behind_it.load();
  waits.store(true);
  for (const bool by_deadline : {false, true}) {
    const std::uint32_t before = begun.load();
    auto stopped = by_deadline ? replay.within(std::chrono::seconds(5))(5U) : replay.stoppable()(5U);
    ASSERT_TRUE(test::eventually([&] { return begun.load() != before; }));
    if (!by_deadline) static_cast<void>(stopped.request_stop());
    EXPECT_ANY_THROW(static_cast<void>(stopped.get()));
  }
  EXPECT_TRUE(test::eventually([&] { return replied() == sent(); }));
  waits.store(false);
  EXPECT_EQ(behind_it.load(), counted);
  EXPECT_EQ(replay(6U).get(), 6U) << "the device goes on";
  EXPECT_EQ(behind_it.load(), counted + 2);
}

TEST_F(graph_chain, has_many_replays_in_flight) {
  offload::graph g;
  auto replay = g.compile(many_calls(g, g.input<std::uint32_t>(), 5));
  for (int round = 0; round < 5; ++round) {
    std::vector<offload::future<std::uint32_t>> running;
    for (std::uint32_t i = 0; i < 100; ++i) running.push_back(replay(i));
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(running[i].get(), i + 5);
  }
}

}  // namespace
}  // namespace ham::detail
