// Functions that run on emulated GPUs, by every verb: groups, graphs, pools, batches, contexts; nodes of which some or
// all have a device.
// link: ham::ham
// timeout: 300
#include <ham/device.hpp>
#include <ham/offload/batch.hpp>
#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>
#include <ham/offload/pool.hpp>

#include "support.hpp"
#include "thrown_message.hpp"

#include <functional>
#include <numeric>

using namespace ham;
using namespace ham::test;

namespace device_verbs_test {

using numbers = offload::buffer_ptr<double>;
using word = offload::buffer_ptr<std::uint64_t>;

bool on_device() { return device::detail::this_lane() != nullptr; }

/// An odd number on a device, an even one elsewhere.
HAM_DEVICE int marked(int value) { return 2 * value + (on_device() ? 1 : 0); }
HAM_DEVICE int marked_by_block(int value) {
  device::sync();
  return marked(value);
}
HAM_DEVICE std::uint32_t threads_of_grid() { return device::size(); }
HAM_DEVICE int plus(int left, int right) { return left + right; }
/// Of the memory of the node that executes it.
HAM_DEVICE double own_sum(offload::group_place here, std::span<const numbers> all, std::size_t n) {
  double result = on_device() ? 0 : 0.5;
  for (std::size_t i = 0; i < n; ++i) result += all[here.position][i];
  return result;
}
HAM_DEVICE void counts_slowly(offload::group_place here, std::span<const word> all) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  *all[here.position].get() += here.size;
}
HAM_DEVICE void scaled(numbers x, std::size_t n, double factor) {
  for (std::size_t i = device::rank(); i < n; i += device::size()) x[i] *= factor;
  device::sync();
}
HAM_DEVICE double first_of(numbers x) { return on_device() ? x[0] : -x[0]; }
HAM_DEVICE double total_of(std::span<const double> of) {
  double sum = on_device() ? 0 : 1000;
  for (const double one : of) sum += one;
  return sum;
}
HAM_DEVICE std::uint64_t until_stopped(int /*value*/) {
  std::uint64_t polls = 1;
  while (!device::stop_requested()) ++polls;
  return on_device() ? polls : 0;
}
HAM_DEVICE int never_ends(int value) {
  volatile bool forever = true;
  while (forever) {
  }
  return value;
}
HAM_DEVICE int refuses_seven(int value) {
  if (value == 7) throw value;
  return marked(value);
}
HAM_DEVICE void faults_first(offload::group_place here) {
  if (here.position == 0) device::trap("an illegal memory access was encountered");
}
HAM_DEVICE void counts_at(word at) { *at.get() += 1; }

}  // namespace device_verbs_test

HAM_DEVICE_FUNCTION(device_verbs_test::marked, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::marked_by_block, block)
HAM_DEVICE_FUNCTION(device_verbs_test::threads_of_grid, grid)
HAM_DEVICE_FUNCTION(device_verbs_test::plus, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::own_sum, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::counts_slowly, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::scaled, block)
HAM_DEVICE_FUNCTION(device_verbs_test::first_of, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::total_of, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::until_stopped, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::never_ends, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::refuses_seven, thread)
HAM_DEVICE_FUNCTION(device_verbs_test::faults_first, warp)
HAM_DEVICE_FUNCTION(device_verbs_test::counts_at, thread)

namespace {

using namespace device_verbs_test;

double halved(double value) { return value / 2; }
bool is_large(double value) { return value > 1000; }
bool runs_on_processor() { return !on_device(); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// ---- groups

TEST(device_group, runs_on_the_device_of_each_node_that_has_one) {
  const runtime rt(nodes("cuda-emulated:2,shm:2"));
  const offload::group all;
  EXPECT_EQ(offload::sync_all(all, fn<&marked>, 5), (std::vector<int>{11, 11, 10, 10}));
  EXPECT_EQ(offload::sync_all(all, pooled(fn<&marked_by_block>), 5), (std::vector<int>{11, 11, 10, 10}));
  EXPECT_EQ(offload::sync_all(all, fn<&threads_of_grid>), (std::vector<std::uint32_t>{8, 8, 1, 1}));
  EXPECT_EQ(offload::sync_all(all, fn<&runs_on_processor>), (std::vector<bool>{true, true, true, true}));
  const offload::group mixed{{0, 3, 1}};  // and the caller
  EXPECT_EQ(offload::sync_all(mixed, fn<&marked>, 1), (std::vector<int>{2, 2, 3}));
}

TEST(device_group, passes_calls_on_from_device_to_device) {
  const runtime rt(nodes("cuda-emulated:10/blocks=1/warps=1/lanes=1"));
  const offload::group all;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(offload::sync_all(all, fn<&marked>, i), std::vector<int>(10, 2 * i + 1));
    EXPECT_EQ(offload::reduce_all(all, fn<&marked>, std::plus<>(), i).get(), 10 * (2 * i + 1));
  }
}

TEST(device_group, reduces_what_devices_have_in_their_memory) {
  const runtime rt(nodes("cuda-emulated:3,shm:1"));
  constexpr std::size_t n = 50'000;  // more than one message of a broadcast
  const offload::group all;
  const auto parts = offload::allocate_all<double>(all, n);
  offload::broadcast(std::vector<double>(n, 2), parts).get().values();
  for (int node = 1; node <= 4; ++node)
    offload::sync(node, fn<&scaled>, parts[static_cast<std::size_t>(node - 1)], n, static_cast<double>(node));
  const std::span<const numbers> where(parts);
  EXPECT_EQ(offload::reduce_all(all, fn<&own_sum>, std::plus<>(), offload::group_place{}, where, n).get(),
            2.0 * n * (1 + 2 + 3 + 4) + 0.5);
  EXPECT_EQ(offload::reduce_all(all, fn<&marked>, fn<&plus>, 1).get(), 3 + 3 + 3 + 2) << "the processors add";
  offload::broadcast(parts, n);  // from the first device to the others
  EXPECT_EQ(offload::sync_all(all, fn<&own_sum>, offload::group_place{}, where, n),
            (std::vector<double>{2.0 * n, 2.0 * n, 2.0 * n, 2.0 * n + 0.5}));
  for (const auto& one : parts) offload::free(one);
}

TEST(device_group, has_a_barrier_behind_what_devices_execute) {
  const runtime rt(nodes("cuda-emulated:2,shm:1"));
  const offload::group all;
  const auto counts = offload::allocate_all<std::uint64_t>(all, 1);
  offload::broadcast(std::vector<std::uint64_t>(1), counts).get().values();
  offload::barrier(all).get().values();  // with nothing to wait for
  constexpr std::uint64_t calls = 30;    // more than a queue holds
  std::vector<offload::future<offload::group_result<void>>> under_way;
  for (std::uint64_t i = 0; i < calls; ++i)
    under_way.push_back(
        offload::async_all(all, fn<&counts_slowly>, offload::group_place{}, std::span<const word>(counts)));
  offload::barrier(all).get().values();
  for (const word& one : counts) {
    std::uint64_t count = 0;
    offload::get(one, &count, 1).get();
    EXPECT_EQ(count, calls * 3) << "on node " << one.node();
  }
  for (auto& one : under_way) one.get().values();
}

TEST(device_group, is_stopped_and_has_deadlines) {
  const runtime rt(nodes("cuda-emulated:2"));
  const offload::group all;
  auto running = offload::async_all(offload::stoppable(all), fn<&until_stopped>, 1);
  EXPECT_TRUE(running.request_stop());
  const auto stopped = running.get();
  for (std::size_t at = 0; at < stopped.size(); ++at)
    EXPECT_TRUE(!stopped.ok(at) || stopped[at] >= 1) << "it has not run, or gives what it returned";
  const auto late = offload::async_all(offload::within(all, 50ms), fn<&until_stopped>, 1).get();
  for (std::size_t at = 0; at < late.size(); ++at) {
    if (late.ok(at))
      EXPECT_GE(late[at], 1) << "it has seen the deadline, and ended before the host saw it";
    else
      EXPECT_THROW(std::rethrow_exception(late.error(at)), deadline_exceeded);
  }
  EXPECT_EQ(offload::sync_all(all, fn<&marked>, 2), std::vector<int>(2, 5)) << "the devices go on";
}

TEST(device_group, has_an_error_for_each_device_that_fails) {
  const runtime rt(nodes("cuda-emulated:3,shm:1"));
  const offload::group all;
  const auto thrown = offload::async_all(all, fn<&refuses_seven>, 7).get();
  for (std::size_t at = 0; at < 3; ++at) {
    const std::string why = message_of<call_error>([&] { std::rethrow_exception(thrown.error(at)); });
    EXPECT_TRUE(has(why, "exceptions do not leave devices")) << why;
  }
  EXPECT_FALSE(thrown.ok(3)) << "there it travels as any other";
  EXPECT_THROW(offload::reduce_all(all, fn<&refuses_seven>, std::plus<>(), 7).get(), offload::group_error);

  const offload::group two{{2, 3}};
  const auto fault = offload::async_all(two, fn<&faults_first>, offload::group_place{}).get();
  const std::string why = message_of<node_failure>([&] { std::rethrow_exception(fault.error(0)); });
  EXPECT_TRUE(has(why, "an illegal memory access was encountered") && has(why, "faults_first")) << why;
  EXPECT_TRUE(fault.ok(1));
  EXPECT_EQ(offload::sync_all(offload::group{{1, 3, 4}}, fn<&marked>, 1), (std::vector<int>{3, 3, 2}));
}

// ---- graphs

TEST(device_graphs, move_data_to_devices_and_back) {
  const runtime rt(nodes("cuda-emulated:2,shm:1"));
  constexpr std::size_t n = 40'000;
  std::vector<double> sent(n), got(n);
  const offload::buffer<double> first(1, n);
  const offload::buffer<double> second(2, n);
  offload::graph g;
  auto factor = g.input<double>();
  auto there = g.put(sent, first);
  auto grown = g.call(1, fn<&scaled>, first.ptr(), n, factor).after(there);
  auto moved = g.copy(first.ptr(), second.ptr(), n).after(grown);
  auto twice = g.call(2, fn<&scaled>, second.ptr(), n, 2.0).after(moved);
  auto back = g.get(second, got).after(twice);
  auto head = g.call(2, fn<&first_of>, second.ptr()).after(twice);
  auto half = g.call(3, fn<&halved>, head).after(back);
  auto step = g.compile(half);
  for (int round = 1; round <= 5; ++round) {
    std::iota(sent.begin(), sent.end(), static_cast<double>(round));
    EXPECT_EQ(step(3.0).get(), 3.0 * round);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 6 * sent[i]) << i;
  }
}

TEST(device_graphs, repeat_on_devices_and_processors) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  const offload::buffer<double> x(1, 8);
  const std::vector<double> ones(8, 1);
  offload::graph g;
  auto there = g.put(ones, x);
  auto last = g.repeat(
      [&] {
        auto grown = g.call(1, fn<&scaled>, x.ptr(), std::size_t{8}, 4.0).after(there);
        auto head = g.call(1, fn<&first_of>, x.ptr()).after(grown);
        return g.call(2, fn<&halved>, head);
      },
      fn<&is_large>);
  auto grow = g.compile(last);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(grow().get(), 2048) << "half of 4 to the power of 6";
}

TEST(device_graphs, end_by_their_deadline_and_go_on) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  const auto slow = [](int value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return value;
  };
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(1, fn<&marked>, g.call(2, slow, in)));
  EXPECT_THROW(static_cast<void>(step.within(20ms)(1).get()), deadline_exceeded);
  EXPECT_EQ(step(2).get(), 5);
}

TEST(device_graphs, tell_devices_that_their_replay_is_over) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(1, fn<&until_stopped>, in));
  EXPECT_THROW(static_cast<void>(step.within(50ms)(1).get()), deadline_exceeded);
  EXPECT_EQ(offload::sync(1, fn<&marked>, 1), 3) << "the function has ended";
  auto running = step(2);
  EXPECT_TRUE(running.request_stop());
  EXPECT_THROW(static_cast<void>(running.get()), operation_cancelled);
  EXPECT_EQ(offload::sync(1, fn<&marked>, 2), 5);
}

/// A busy machine may not begin the function before the deadline: then the replay gets a longer one.
TEST(device_graphs, are_under_the_watchdog) {
  const runtime rt(nodes("cuda-emulated:1/watchdog=500,shm:1"));
  offload::graph g;
  auto in = g.input<int>();
  auto step = g.compile(g.call(2, fn<&marked>, g.call(1, fn<&never_ends>, in)));
  EXPECT_THROW(
      {
        for (auto deadline = 50ms; deadline < 60s; deadline *= 2) {
          EXPECT_THROW(static_cast<void>(step.within(deadline)(1).get()), deadline_exceeded);
          EXPECT_EQ(offload::sync(1, fn<&marked>, 1), 3) << "it has not begun";
        }
      },
      node_failure);
  EXPECT_EQ(offload::sync(2, fn<&marked>, 1), 2) << "the other node goes on";
}

// ---- pools

TEST(device_pool, shares_tasks_between_devices) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::pool workers;
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(workers.async(fn<&marked>, i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(tasks[static_cast<std::size_t>(i)].get(), 2 * i + 1);
  EXPECT_EQ(workers.async(idempotent(fn<&marked_by_block>), 4).get(), 9);
  for (auto more = workers.try_async(fn<&marked>, 1); more; more.reset()) EXPECT_EQ(more->get(), 3);
}

TEST(device_pool, shares_tasks_between_nodes_with_and_without_a_device) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  offload::pool workers({1, 2}, {.per_node = 4});
  std::vector<offload::future<int>> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(workers.async(fn<&marked>, i));
  int on_devices = 0;
  for (int i = 0; i < 200; ++i) {
    const int found = tasks[static_cast<std::size_t>(i)].get();
    EXPECT_EQ(found / 2, i);
    on_devices += found % 2;
  }
  EXPECT_GT(on_devices, 0);
  EXPECT_LT(on_devices, 200);
}

TEST(device_pool, maps_elements_on_devices) {
  const runtime rt(nodes("cuda-emulated:2"));
  offload::pool workers;
  std::vector<int> elements(3'000);
  std::iota(elements.begin(), elements.end(), 0);
  for (const std::size_t chunk : {0U, 1U, 700U}) {
    const auto found = workers.map(elements, fn<&marked>, {.chunk = chunk});
    ASSERT_EQ(found.size(), elements.size());
    for (int i = 0; i < 3'000; ++i) ASSERT_EQ(found[static_cast<std::size_t>(i)], 2 * i + 1);
  }
  elements.resize(100);  // the threads of a block wait for each other, perhaps on few cores
  const auto blocks = workers.map(elements, pooled(idempotent(fn<&marked_by_block>)), {.chunk = 40});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(blocks[static_cast<std::size_t>(i)], 2 * i + 1);
  const std::vector<std::vector<double>> lists{{1, 2, 3}, {}, {4}};
  EXPECT_EQ(workers.map(lists, fn<&total_of>), (std::vector<double>{6, 0, 4}));
}

TEST(device_pool, maps_elements_on_nodes_with_and_without_a_device) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  offload::pool workers;
  const std::vector<int> elements(2'000, 3);
  const auto found = workers.map(elements, fn<&marked>, {.chunk = 10});
  const auto on_devices = std::count(found.begin(), found.end(), 7);
  EXPECT_EQ(on_devices + std::count(found.begin(), found.end(), 6), 2'000);
  EXPECT_GT(on_devices, 0);
  EXPECT_LT(on_devices, 2'000);
}

TEST(device_pool, maps_what_gives_nothing) {
  const runtime rt(nodes("cuda-emulated:1"));
  const offload::buffer<std::uint64_t> count(1, 1);
  std::uint64_t value = 0;
  offload::put(&value, count.ptr(), 1).get();
  offload::pool workers;
  workers.map(std::vector<word>(500, count.ptr()), fn<&counts_at>, {.chunk = 90});
  offload::get(count.ptr(), &value, 1).get();
  EXPECT_EQ(value, 500U) << "one after the other";
}

TEST(device_pool, maps_fail_with_what_a_device_has_against_an_element) {
  const runtime rt(nodes("cuda-emulated:1"));
  offload::pool workers;
  std::vector<int> elements(1'000, 1);
  elements[500] = 7;
  const std::string why =
      message_of<call_error>([&] { static_cast<void>(workers.map(elements, fn<&refuses_seven>, {.chunk = 1'000})); });
  EXPECT_TRUE(has(why, "has thrown an exception")) << why;
  elements[500] = 8;
  EXPECT_EQ(workers.map(elements, fn<&refuses_seven>)[500], 17) << "the device goes on";
}

// ---- batches, contexts, names

TEST(device_batches, have_functions_of_both_kinds) {
  const runtime rt(nodes("cuda-emulated:1"));
  const offload::context ordered(1);
  for (int round = 0; round < 5; ++round) {
    offload::batch several(1);
    auto first = several.add(fn<&marked>, 1);
    auto second = several.add(fn<&halved>, 5.0);
    auto third = several.add(fn<&refuses_seven>, 7);
    auto fourth = several.add(fn<&marked_by_block>, 2);
    several.submit();
    EXPECT_EQ(first.get(), 3);
    EXPECT_EQ(second.get(), 2.5);
    EXPECT_THROW(static_cast<void>(third.get()), call_error);
    EXPECT_EQ(fourth.get(), 5);
    EXPECT_EQ(offload::sync(ordered, fn<&marked>, round), 2 * round + 1);
    EXPECT_EQ(offload::sync(ordered, fn<&halved>, 3.0), 1.5);
  }
}

TEST(device_functions, run_under_names_and_policies) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  EXPECT_EQ(offload::sync(1, named<"device_verbs.marked">(fn<&marked>), 4), 9);
  EXPECT_EQ(offload::sync(2, named<"device_verbs.marked">(fn<&marked>), 4), 8);
  EXPECT_EQ(offload::sync(1, pooled(fn<&marked>), 4), 9);
  EXPECT_EQ(offload::sync(offload::retry(1, 3), idempotent(fn<&marked>), 4), 9);
  EXPECT_EQ(offload::async(1, fn<&marked>, 4).then([](int value) { return value + 1; }).get(), 10);
}

TEST(device_functions, in_other_callables_are_refused_where_the_processor_would_execute_them) {
  const runtime rt(nodes("cuda-emulated:1,shm:1"));
  const auto bound = ham::bind(fn<&plus>, 40);
  EXPECT_EQ(offload::sync(2, bound, 2), 42);
  const std::string why = message_of<call_error>([&] { offload::sync(1, bound, 2); });
  EXPECT_TRUE(has(why, "call the device function itself")) << why;
  EXPECT_THROW(offload::sync(1, ham::bind(named<"device_verbs.plus">(fn<&plus>), 40), 2), call_error);
  EXPECT_THROW(offload::sync(1, ham::bind(idempotent(fn<&plus>), 40), 2), call_error);
  EXPECT_EQ(offload::sync(1, f2f(fn<&plus>, 40, 2)), 42) << "that is the function with its arguments";

  const auto in_group = offload::async_all(offload::group(), bound, 2).get();
  EXPECT_TRUE(in_group.ok(1));
  const std::string in_group_why = message_of<call_error>([&] { std::rethrow_exception(in_group.error(0)); });
  EXPECT_TRUE(has(in_group_why, "holds a device function")) << in_group_why;

  offload::pool workers({1});
  EXPECT_THROW(static_cast<void>(workers.map(std::vector<int>{1, 2}, bound)), call_error);
  EXPECT_EQ(offload::sync(1, fn<&marked>, 1), 3) << "the node goes on";
}

}  // namespace
