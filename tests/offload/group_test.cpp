// Calls of groups: results in the order of the nodes, errors of each, reductions, memory, and the shape of the tree.
#include "ham/offload/group.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bulk.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace group_test {

std::mutex mutex;
std::vector<std::pair<node_t, int>> noted;
std::atomic<bool> gate{false};

node_t where() { return offload::this_node(); }
std::string label(const std::string& text, int number) {
  return text + std::to_string(number) + "@" + std::to_string(offload::this_node());
}
void nothing() {}
void note(int what) {
  std::lock_guard guard(mutex);
  noted.emplace_back(offload::this_node(), what);
}
int refuse_on(node_t node) {
  if (offload::this_node() == node) throw std::out_of_range("not here");
  return static_cast<int>(offload::this_node());
}
std::string own_number() { return std::to_string(offload::this_node()); }
std::string join(std::string left, const std::string& right) { return left + "," + right; }
int fail_to_add(int left, int right) {
  if (left == 3 || right == 3) throw std::domain_error("three");
  return left + right;
}
std::vector<std::size_t> place() { return {*this_call::group_position(), this_call::group_size()}; }
bool outside() { return !this_call::group_position() && this_call::group_size() == 0; }
bool nested_is_outside() { return offload::sync(offload::this_node(), fn<&outside>); }
/// At the gate: how many nodes.
std::atomic<std::size_t> at_gate{0};
void wait_for_gate() {
  ++at_gate;
  while (!gate) std::this_thread::sleep_for(100us);
}
bool wait_for_stop() {
  const auto stop = this_call::stop_token();
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(100us);
  return stop.stop_requested();
}
/// Begun, and stopped: on how many nodes.
std::atomic<std::size_t> begun{0};
std::atomic<std::size_t> stopped{0};
bool begin_and_wait_for_stop() {
  ++begun;
  const bool asked = wait_for_stop();
  if (asked) ++stopped;
  return asked;
}
int one_if_stopped() { return begin_and_wait_for_stop() ? 1 : 0; }
void await(const std::atomic<std::size_t>& count, std::size_t expected) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (count < expected && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(100us);
  EXPECT_EQ(count, expected);
}
/// Of a node whose call was taken out of a queue, or that was never asked.
void expect_not_run(const std::exception_ptr& why) {
  ASSERT_NE(why, nullptr);
  try {
    std::rethrow_exception(why);
  } catch (const operation_cancelled& stop) {
    EXPECT_EQ(stop.outcome(), call_outcome::not_run) << stop.what();
  }
}
std::vector<double> contents(const std::vector<offload::buffer_ptr<double>>& of, std::size_t count) {
  const double* const here = of.at(*this_call::group_position()).get();
  return {here, here + count};
}
std::size_t group_of_a_target() {
  offload::group others;
  return offload::async_all(others, fn<&where>).get().values().size();
}

std::vector<node_t> numbers(node_t from, node_t to) {
  std::vector<node_t> all(static_cast<std::size_t>(to - from + 1));
  std::iota(all.begin(), all.end(), from);
  return all;
}

class group : public testing::TestWithParam<int> {
 protected:
  group() {
    gate = false;
    at_gate = 0;
    noted.clear();
    begun = 0;
    stopped = 0;
  }
  runtime job{loopback(GetParam())};
  const offload::group all{};
};

INSTANTIATE_TEST_SUITE_P(sizes, group, testing::Values(1, 2, 8, 9, 20), testing::PrintToStringParamName());

// ---- results

TEST_P(group, has_all_targets_in_order) { EXPECT_EQ(all.nodes(), numbers(1, GetParam())); }

TEST_P(group, gives_results_in_the_order_of_its_nodes) {
  EXPECT_EQ(offload::async_all(all, fn<&where>).get().values(), all.nodes());
  std::vector<node_t> backwards = all.nodes();
  std::reverse(backwards.begin(), backwards.end());
  const offload::group other(backwards);
  EXPECT_EQ(offload::sync_all(other, fn<&where>), backwards);
}

TEST_P(group, passes_arguments_to_every_node) {
  const std::vector<std::string> found = offload::sync_all(all, fn<&label>, "n", 7);
  for (std::size_t at = 0; at < found.size(); ++at) EXPECT_EQ(found[at], "n7@" + std::to_string(all.nodes()[at]));
}

TEST_P(group, takes_lambdas_policies_and_functions_of_no_result) {
  const int factor = 3;
  const auto tripled = offload::sync_all(
      all, [factor](int value) { return factor * value; }, 5);
  EXPECT_EQ(tripled, std::vector<int>(all.size(), 15));
  EXPECT_EQ(offload::sync_all(all, pooled(fn<&where>)), all.nodes());
  offload::sync_all(all, fn<&nothing>);
  EXPECT_EQ(offload::sync_all(all, f2f(&label, std::string("x"), 1)).size(), all.size());
}

TEST_P(group, may_hold_the_caller) {
  const offload::group everybody(numbers(0, GetParam()));
  EXPECT_EQ(offload::sync_all(everybody, fn<&where>), everybody.nodes());
  std::vector<node_t> last = all.nodes();
  last.push_back(0);
  EXPECT_EQ(offload::sync_all(offload::group(last), fn<&where>), last);
}

TEST_P(group, is_called_by_targets_too) {
  const std::vector<std::size_t> found = offload::sync_all(all, fn<&group_of_a_target>);
  EXPECT_EQ(found, std::vector<std::size_t>(all.size(), all.size()));
}

// ---- order

TEST_P(group, begins_calls_of_one_thread_in_order_on_each_node) {
  constexpr int calls = 200;
  std::vector<offload::future<offload::group_result<void>>> sent;
  for (int i = 0; i < calls; ++i) sent.push_back(offload::async_all(all, fn<&note>, i));
  offload::barrier(all).get().values();
  for (auto& one : sent) EXPECT_TRUE(one.test());
  std::map<node_t, int> next;
  for (const auto& [node, what] : noted) EXPECT_EQ(what, next[node]++);
  EXPECT_EQ(noted.size(), all.size() * calls);
}

// ---- errors

TEST_P(group, keeps_the_error_of_each_node) {
  const node_t bad = all.nodes()[all.size() / 2];
  const auto found = offload::async_all(all, fn<&refuse_on>, bad).get();
  EXPECT_FALSE(found.all_ok());
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found.ok(at), all.nodes()[at] != bad);
    if (found.ok(at)) {
      EXPECT_EQ(found[at], all.nodes()[at]);
    }
  }
  EXPECT_THROW(static_cast<void>(found.value(all.size() / 2)), std::out_of_range);
  EXPECT_EQ(found.failures().size(), 1U);
  EXPECT_EQ(found.failures()[0].node, bad);
  const std::string text = message_of<offload::group_error>([&] { static_cast<void>(found.values()); });
  EXPECT_NE(text.find("1 of " + std::to_string(all.size()) + " nodes"), std::string::npos) << text;
  EXPECT_NE(text.find("not here"), std::string::npos) << text;
}

TEST_P(group, reports_nodes_that_the_job_does_not_have) {
  std::vector<node_t> nodes = all.nodes();
  nodes.insert(nodes.begin(), 1000);
  const offload::group wrong(nodes);
  const auto found = offload::async_all(wrong, fn<&where>).get();
  EXPECT_FALSE(found.ok(0));
  EXPECT_THROW(static_cast<void>(found.value(0)), call_error);
  for (std::size_t at = 1; at < found.size(); ++at) EXPECT_EQ(found[at], nodes[at]);  // another node took its place
}

TEST_P(group, refuses_what_is_no_group) {
  EXPECT_THROW(offload::group(std::vector<node_t>()), config_error);
  EXPECT_THROW(offload::group({1, 1}), config_error);
  EXPECT_THROW(offload::group({-1}), config_error);
  const auto found = offload::async_all(all, fn<&where>).get();
  EXPECT_THROW(static_cast<void>(found.error(all.size())), std::out_of_range);
}

// ---- reductions

TEST_P(group, reduces_from_left_to_right) {
  std::string expected;
  for (const node_t node : all.nodes()) expected += (expected.empty() ? "" : ",") + std::to_string(node);
  EXPECT_EQ(offload::reduce_all(all, fn<&own_number>, fn<&join>).get(), expected);
  EXPECT_EQ(offload::reduce_all(all, fn<&where>, std::plus<>()).get(), GetParam() * (GetParam() + 1) / 2);
  const std::string between = ";";
  std::vector<node_t> backwards = all.nodes();
  std::reverse(backwards.begin(), backwards.end());
  const char mark = ';';
  const auto with_mark = [mark](const std::string& left, const std::string& right) { return left + mark + right; };
  const std::string found = offload::reduce_all(offload::group(backwards), fn<&own_number>, with_mark).get();
  std::string reversed;
  for (const node_t node : backwards) reversed += (reversed.empty() ? "" : between) + std::to_string(node);
  EXPECT_EQ(found, reversed);
}

TEST_P(group, fails_reductions_with_the_errors_of_all_nodes) {
  const node_t bad = all.nodes()[all.size() / 2];
  auto failed = offload::reduce_all(all, fn<&refuse_on>, std::plus<>(), bad);
  try {
    failed.get();
    ADD_FAILURE() << "it has a value";
  } catch (const offload::group_error& why) {
    ASSERT_EQ(why.failures().size(), 1U);
    EXPECT_EQ(why.failures()[0].node, bad);
    EXPECT_THROW(std::rethrow_exception(why.failures()[0].error), std::out_of_range);
  }
  if (GetParam() < 4) return;
  EXPECT_ANY_THROW(offload::reduce_all(all, fn<&where>, fn<&fail_to_add>).get());
}

// ---- places

TEST_P(group, tells_functions_their_place) {
  const auto found = offload::sync_all(all, fn<&place>);
  for (std::size_t at = 0; at < found.size(); ++at) EXPECT_EQ(found[at], (std::vector<std::size_t>{at, all.size()}));
  EXPECT_TRUE(outside());
  EXPECT_TRUE(offload::sync(1, fn<&outside>));
  EXPECT_EQ(offload::sync_all(all, fn<&nested_is_outside>), std::vector<bool>(all.size(), true));
}

// ---- deadlines and stops

TEST_P(group, fails_by_its_deadline) {
  const auto found = offload::async_all(offload::within(all, 50ms), fn<&wait_for_gate>).get();
  gate = true;
  for (std::size_t at = 0; at < found.size(); ++at)
    EXPECT_THROW(std::rethrow_exception(found.error(at)), deadline_exceeded) << at;
}

TEST_P(group, is_stopped_by_a_token) {
  std::stop_source source;
  auto running = offload::async_all(offload::stoppable(all, source.get_token()), fn<&wait_for_stop>);
  std::this_thread::sleep_for(5ms);
  source.request_stop();
  const auto found = running.get();
  for (std::size_t at = 0; at < found.size(); ++at) {
    if (found.ok(at))
      EXPECT_TRUE(found[at]);
    else
      EXPECT_THROW(std::rethrow_exception(found.error(at)), operation_cancelled);
  }
  auto late = offload::async_all(offload::within(all, 10s, source.get_token()), fn<&nothing>);
  EXPECT_THROW(late.get(), operation_cancelled);
}

TEST_P(group, is_stopped_on_all_nodes_by_its_future) {
  auto running = offload::async_all(offload::stoppable(all), fn<&begin_and_wait_for_stop>);
  await(begun, all.size());
  EXPECT_TRUE(running.request_stop());
  EXPECT_EQ(running.get().values(), std::vector<bool>(all.size(), true));
  EXPECT_EQ(stopped, all.size());
}

TEST_P(group, a_reduction_is_stopped_by_its_future) {
  auto running = offload::reduce_all(offload::stoppable(all), fn<&one_if_stopped>, std::plus<>());
  await(begun, all.size());
  EXPECT_TRUE(running.request_stop());
  EXPECT_EQ(running.get(), static_cast<int>(all.size()));
}

TEST_P(group, a_stop_at_once_settles_before_the_functions_have_ended) {
  auto running = offload::async_all(offload::stoppable(all), fn<&begin_and_wait_for_stop>);
  await(begun, all.size());
  EXPECT_TRUE(running.request_stop(offload::when_stopped::at_once));
  const auto found = running.get();
  for (std::size_t at = 0; at < found.size(); ++at) {
    ASSERT_FALSE(found.ok(at)) << at;
    try {
      std::rethrow_exception(found.error(at));
    } catch (const operation_cancelled& why) {
      EXPECT_EQ(why.outcome(), call_outcome::may_have_run) << at;
    }
  }
  await(stopped, all.size());
}

TEST_P(group, what_has_not_begun_is_not_run) {
  std::vector<offload::future<void>> before;
  for (const node_t node : all.nodes()) before.push_back(offload::async(node, fn<&wait_for_gate>));
  await(at_gate, all.size());  // the call of a group comes from another node and may overtake
  auto waiting = offload::async_all(offload::stoppable(all), fn<&begin_and_wait_for_stop>);
  EXPECT_TRUE(waiting.request_stop());
  gate = true;
  const auto found = waiting.get();
  for (std::size_t at = 0; at < found.size(); ++at) expect_not_run(found.error(at));
  for (auto& one : before) one.get();
  EXPECT_EQ(begun, 0U);
}

TEST_P(group, nodes_behind_others_are_stopped_and_say_whether_they_have_run) {
  const node_t last = all.nodes().back();
  offload::sync_all(all, fn<&nothing>);  // so that nodes are connected: the last one will greet nobody for a while
  auto before = offload::async(last, fn<&wait_for_gate>);
  await(at_gate, 1);  // the call of a group comes from another node and may overtake
  auto running = offload::async_all(offload::stoppable(all), fn<&begin_and_wait_for_stop>);
  await(begun, all.size() - 1);
  EXPECT_TRUE(running.request_stop());
  await(stopped, all.size() - 1);
  gate = true;
  before.get();
  const auto found = running.get();
  for (std::size_t at = 0; at + 1 < found.size(); ++at) EXPECT_TRUE(found[at]) << at;
  // The stop may arrive there when the call has begun. It is never unknown which.
  if (found.ok(found.size() - 1))
    EXPECT_TRUE(found[found.size() - 1]);
  else
    expect_not_run(found.error(found.size() - 1));
}

TEST_P(group, what_is_over_cannot_be_stopped) {
  auto over = offload::async_all(offload::stoppable(all), fn<&where>);
  over.wait();
  EXPECT_FALSE(over.request_stop());
  EXPECT_EQ(over.get().values(), all.nodes());
}

// ---- memory

TEST_P(group, writes_the_same_data_to_all_nodes) {
  constexpr std::size_t parts = unless_sanitized<std::size_t>(100'000, 40'000);  // more than one of a broadcast
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, parts}) {
    const auto buffers = offload::allocate_all<double>(all, count);
    ASSERT_EQ(buffers.size(), all.size());
    for (std::size_t at = 0; at < buffers.size(); ++at) EXPECT_EQ(buffers[at].node(), all.nodes()[at]);
    std::vector<double> data(count);
    std::iota(data.begin(), data.end(), 0.5);
    offload::broadcast(data, buffers).get().values();
    const auto found = offload::sync_all(all, fn<&contents>, buffers, count);
    for (const std::vector<double>& one : found) EXPECT_TRUE(same_bytes(one, data));
    data.assign(count, 2.0);
    offload::put(data.data(), buffers.front(), count).get();
    offload::broadcast(buffers, count);
    EXPECT_TRUE(same_bytes(offload::sync_all(all, fn<&contents>, buffers, count).back(), data));
    for (const auto& one : buffers) offload::free(one);
    const auto stale = offload::broadcast(data, buffers).get();
    for (std::size_t at = 0; at < stale.size(); ++at)
      EXPECT_THROW(std::rethrow_exception(stale.error(at)), buffer_error);
  }
}

TEST_P(group, a_broadcast_has_a_deadline_and_a_token) {
  constexpr std::size_t count = 40'000;  // more than one message
  auto buffers = offload::allocate_all<double>(all, count);
  std::vector<double> data(count, 1.5);
  std::reverse(buffers.begin(), buffers.end());
  offload::broadcast(offload::within(all, 60s), data, buffers).get().values();
  offload::put(std::vector<double>(count, 2.5).data(), buffers.front(), count).get();
  offload::broadcast(offload::within(all, 60s), buffers, count);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(offload::broadcast(offload::stoppable(all, source.get_token()), data, buffers).get(),
               operation_cancelled);
  if (all.size() > 1) {  // else there is nothing to be copied
    EXPECT_THROW(offload::broadcast(offload::stoppable(all, source.get_token()), buffers, count), operation_cancelled);
  }
  std::reverse(buffers.begin(), buffers.end());
  const auto found = offload::sync_all(all, fn<&contents>, buffers, count);
  for (const std::vector<double>& one : found) EXPECT_TRUE(same_bytes(one, std::vector<double>(count, 2.5)));
  const std::vector<buffer_ptr<double>> fewer(buffers.begin() + 1, buffers.end());
  EXPECT_THROW(static_cast<void>(offload::broadcast(offload::within(all, 60s), data, fewer)), config_error);
  EXPECT_THROW(offload::broadcast(offload::within(all, 60s), fewer, count), config_error);
  for (const auto& one : buffers) offload::free(one);
}

// ---- the tree

TEST_P(group, costs_the_caller_no_more_than_eight_messages) {
  offload::sync_all(all, fn<&nothing>);
  const auto before = offload::stats().calls_sent;
  offload::sync_all(all, fn<&nothing>);
  EXPECT_LE(offload::stats().calls_sent - before, 8U);
}

}  // namespace group_test
