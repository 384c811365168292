// Replays of graphs that were recorded from C: values between functions of C and C++, transfers, repeats, and failures.
#include "c_api/replay.hpp"

#include <atomic>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c_api_job.hpp"

namespace c_api_test {

using ham::fn;
using ham::named;
namespace offload = ham::offload;

std::vector<double> ramp_in_cpp(double first, std::uint64_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}
double total_in_cpp(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double positive_in_cpp(double value) {
  if (value < 0) throw std::out_of_range("it is negative");
  return value;
}
bool is_below_one(double value) { return value < 1; }
double first_in_cpp(offload::buffer_ptr<double> values) { return values[0]; }
std::atomic<bool> replay_gate{false};
std::atomic<int> at_replay_gate{0};
double waits_in_cpp(double value) {
  ++at_replay_gate;
  while (!replay_gate) std::this_thread::yield();
  return value;
}

const bool graph_functions_offered = offload::offer(named<"c_replay.ramp">(fn<&ramp_in_cpp>)) &&
                                     offload::offer(named<"c_replay.total">(fn<&total_in_cpp>)) &&
                                     offload::offer(named<"c_replay.positive">(ham::pooled(fn<&positive_in_cpp>))) &&
                                     offload::offer(named<"c_replay.below_one">(fn<&is_below_one>)) &&
                                     offload::offer(named<"c_replay.first">(fn<&first_in_cpp>)) &&
                                     offload::offer(named<"c_replay.waits">(fn<&waits_in_cpp>));

int half_in_c(const void* argument, size_t size, ham_reply* reply, void*) {
  double value = 0;
  if (size != sizeof value) return ham_fail(reply, "one double is expected");
  std::memcpy(&value, argument, sizeof value);
  value /= 2;
  return ham_set_result(reply, &value, sizeof value);
}
int fails_in_c(const void*, size_t, ham_reply* reply, void*) {
  ham_fail(reply, "of the function");
  return 17;
}
const bool graph_functions_registered =
    ham_register_encoded("c_replay.half", "f8->f8", &half_in_c, nullptr) == HAM_OK &&
    ham_register_encoded("c_replay.fails", "f8->f8", &fails_in_c, nullptr) == HAM_OK;

class replayed_from_c : public two_targets {
 protected:
  replayed_from_c() {
    replay_gate = false;
    at_replay_gate = 0;
    EXPECT_EQ(ham_graph_create(&graph), HAM_OK);
  }
  ~replayed_from_c() override {
    replay_gate = true;
    ham_compiled_graph_release(&step);
    ham_graph_release(&graph);
  }

  ham_stage input() {
    ham_stage made = HAM_NO_STAGE;
    EXPECT_EQ(ham_graph_input(graph, "f8", &made), HAM_OK) << ham_error_message();
    return made;
  }
  ham_stage call(ham_node node, const char* name, const char* layout, const std::vector<ham_argument>& arguments) {
    ham_stage made = HAM_NO_STAGE;
    EXPECT_EQ(ham_graph_call(graph, node, name, layout, arguments.data(), arguments.size(), &made), HAM_OK)
        << ham_error_message();
    return made;
  }
  static ham_argument value_of(ham_stage stage) { return {stage, nullptr, 0}; }
  int compile(ham_stage result) { return ham_graph_compile(graph, result, 2, &step); }
  ham_future* start(double value, int64_t timeout_ms = -1) {
    const ham_argument in{HAM_NO_STAGE, &value, sizeof value};
    ham_future* made = nullptr;
    EXPECT_EQ(ham_graph_replay(step, &in, 1, timeout_ms, &made), HAM_OK) << ham_error_message();
    return made;
  }
  int replay(double value, double& result) {
    ham_future* made = start(value);
    return ham_result(&made, &result, sizeof result, nullptr);
  }

  ham_graph* graph = nullptr;
  ham_compiled_graph* step = nullptr;
};

TEST_F(replayed_from_c, values_go_between_functions_of_c_and_cpp) {
  const std::uint64_t count = 3;
  const ham_stage x = input();
  const ham_stage half = call(1, "c_replay.half", "f8->f8", {value_of(x)});
  const ham_stage ramp =
      call(2, "c_replay.ramp", "f8,u8->vec<f8>", {value_of(half), {HAM_NO_STAGE, &count, sizeof count}});
  const ham_stage total = call(1, "c_replay.total", "vec<f8>->f8", {value_of(ramp)});
  const ham_stage last = call(2, "c_replay.positive", "f8->f8", {value_of(total)});
  ASSERT_EQ(compile(last), HAM_OK) << ham_error_message();
  double result = 0;
  for (const double value : {1.0, 20.0}) {
    EXPECT_EQ(replay(value, result), HAM_OK) << ham_error_message();
    EXPECT_EQ(result, 3 * value / 2 + 3);
  }
  ham_future* first = start(2);
  ham_future* second = start(4);
  EXPECT_EQ(ham_result(&second, &result, sizeof result, nullptr), HAM_OK);
  EXPECT_EQ(result, 9);
  EXPECT_EQ(ham_result(&first, &result, sizeof result, nullptr), HAM_OK);
  EXPECT_EQ(result, 6);
}

TEST_F(replayed_from_c, transfers_are_stages) {
  ham_buffer one{}, two{};
  ASSERT_EQ(ham_allocate(1, sizeof(double), &one), HAM_OK);
  ASSERT_EQ(ham_allocate(2, sizeof(double), &two), HAM_OK);
  double here = 0, back = 0;
  ham_stage put = 0, copy = 0, get = 0;
  ASSERT_EQ(ham_graph_put(graph, &here, &one, 0, sizeof here, &put), HAM_OK);
  ASSERT_EQ(ham_graph_copy(graph, &one, 0, &two, 0, sizeof here, &copy), HAM_OK);
  ASSERT_EQ(ham_graph_get(graph, &two, 0, &back, sizeof back, &get), HAM_OK);
  struct [[gnu::packed]] {
    std::uint64_t address, tag;
    std::int32_t node;
  } const pointer{two.address, two.tag, two.node};
  const std::string layout = [] {
    char text[200] = "";
    EXPECT_EQ(ham_layout(2, "c_replay.first", -1, text, sizeof text, nullptr), HAM_OK);
    return std::string(text);
  }();
  const ham_stage first = call(2, "c_replay.first", layout.c_str(), {{HAM_NO_STAGE, &pointer, sizeof pointer}});
  EXPECT_EQ(ham_graph_after(graph, copy, put), HAM_OK);
  EXPECT_EQ(ham_graph_after(graph, get, copy), HAM_OK);
  EXPECT_EQ(ham_graph_after(graph, first, copy), HAM_OK);
  ASSERT_EQ(compile(first), HAM_OK) << ham_error_message();
  for (const double value : {3.5, -1.0}) {
    here = value;
    double result = 0;
    ham_future* made = nullptr;
    ASSERT_EQ(ham_graph_replay(step, nullptr, 0, -1, &made), HAM_OK) << ham_error_message();
    EXPECT_EQ(ham_result(&made, &result, sizeof result, nullptr), HAM_OK) << ham_error_message();
    EXPECT_EQ(result, value);
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(ham_free(&one), HAM_OK);
  EXPECT_EQ(ham_free(&two), HAM_OK);
}

TEST_F(replayed_from_c, repeats_end_where_their_condition_holds) {
  const ham_argument x = value_of(input());
  ham_stage value = 0, result = 0;
  ASSERT_EQ(ham_graph_begin_repeat(graph, "f8", &x, &value), HAM_OK) << ham_error_message();
  const ham_stage half = call(1, "c_replay.half", "f8->f8", {value_of(value)});
  const ham_stage small = call(2, "c_replay.below_one", "f8->bool", {value_of(half)});
  ASSERT_EQ(ham_graph_end_repeat(graph, half, small, &result), HAM_OK) << ham_error_message();
  ASSERT_EQ(compile(result), HAM_OK) << ham_error_message();
  double got = 0;
  EXPECT_EQ(replay(100, got), HAM_OK) << ham_error_message();
  EXPECT_EQ(got, 0.78125);
  EXPECT_EQ(replay(1, got), HAM_OK);
  EXPECT_EQ(got, 0.5);
}

TEST_F(replayed_from_c, repeats_have_an_end) {
  const ham_argument x = value_of(input());
  ham_stage value = 0;
  ASSERT_EQ(ham_graph_begin_repeat(graph, "f8", &x, &value), HAM_OK) << ham_error_message();
  const ham_stage half = call(1, "c_replay.half", "f8->f8", {value_of(value)});
  EXPECT_EQ(compile(half), HAM_ERROR_ARGUMENT);
  EXPECT_STREQ(ham_error_message(), "stage 1 (repeat) has no end; call ham_graph_end_repeat first");
}

TEST_F(replayed_from_c, failures_name_the_stage_and_its_error) {
  const ham_stage x = input();
  const ham_stage checked = call(1, "c_replay.positive", "f8->f8", {value_of(x)});
  const ham_stage last = call(2, "c_replay.fails", "f8->f8", {value_of(checked)});
  ASSERT_EQ(compile(last), HAM_OK) << ham_error_message();
  double got = 0;
  EXPECT_EQ(replay(-1, got), HAM_ERROR_STAGE);
  EXPECT_STREQ(ham_error_message(),
               "stage 1 (c_replay.positive) of a graph has failed on node 1: std::out_of_range: it is negative");
  EXPECT_EQ(ham_error_stage(), 1);
  EXPECT_EQ(ham_error_cause(), HAM_ERROR_EXCEPTION);
  EXPECT_STREQ(ham_error_cause_message(), "it is negative");
  EXPECT_EQ(replay(1, got), HAM_ERROR_STAGE);
  EXPECT_EQ(ham_error_stage(), 2);
  EXPECT_EQ(ham_error_cause(), HAM_ERROR_FUNCTION);
  EXPECT_EQ(ham_error_function_code(), 17);
  EXPECT_EQ(ham_graph_name(nullptr, 0, ""), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_error_stage(), -1);
  EXPECT_STREQ(ham_error_cause_message(), "");
}

TEST_F(replayed_from_c, bytes_that_are_no_such_values_fail_their_stage_only) {
  const std::uint64_t nonsense = ~std::uint64_t{0};  // a vector of so many elements
  const ham_stage total = call(1, "c_replay.total", "vec<f8>->f8", {{HAM_NO_STAGE, &nonsense, sizeof nonsense}});
  ASSERT_EQ(compile(total), HAM_OK) << ham_error_message();
  ham_future* made = nullptr;
  ASSERT_EQ(ham_graph_replay(step, nullptr, 0, -1, &made), HAM_OK);
  EXPECT_EQ(ham_result(&made, nullptr, 0, nullptr), HAM_ERROR_STAGE);
  EXPECT_EQ(ham_error_stage(), 0);
  int alive = 0;
  EXPECT_EQ(ham_alive(1, &alive), HAM_OK);
  EXPECT_EQ(alive, 1);
}

TEST_F(replayed_from_c, functions_are_checked_where_they_are) {
  const ham_stage x = input();
  const ham_stage other = call(1, "c_replay.half", "f8->f4", {value_of(x)});
  EXPECT_EQ(compile(other), HAM_ERROR_CALL);
  EXPECT_STREQ(ham_error_message(),
               "stage 1 (c_replay.half) of a graph: \"c_replay.half\" is f8->f8 on node 1, and was recorded as f8->f4");
  EXPECT_EQ(step, nullptr);
}

TEST_F(replayed_from_c, functions_that_are_nowhere_are_named) {
  const ham_stage none = call(2, "c_replay.none", "->f8", {});
  EXPECT_EQ(compile(none), HAM_ERROR_CALL);
  EXPECT_NE(std::string(ham_error_message()).find("stage 0 (c_replay.none) of a graph: no function is called"),
            std::string::npos)
      << ham_error_message();
}

TEST_F(replayed_from_c, cycles_are_named) {
  const ham_stage x = input();
  const ham_stage first = call(1, "c_replay.half", "f8->f8", {value_of(x)});
  const ham_stage second = call(2, "c_replay.half", "f8->f8", {value_of(first)});
  EXPECT_EQ(ham_graph_after(graph, first, second), HAM_OK);
  EXPECT_EQ(compile(second), HAM_ERROR_CONFIG);
  EXPECT_NE(std::string(ham_error_message()).find("cycle"), std::string::npos) << ham_error_message();
}

TEST_F(replayed_from_c, deadlines_and_stops_end_them) {
  const ham_stage waits = call(1, "c_replay.waits", "f8->f8", {value_of(input())});
  ASSERT_EQ(compile(waits), HAM_OK) << ham_error_message();
  ham_future* late = start(1, 20);
  EXPECT_EQ(ham_result(&late, nullptr, 0, nullptr), HAM_ERROR_DEADLINE);
  ham_future* stopped = start(1);
  EXPECT_EQ(ham_request_stop(stopped), HAM_OK) << ham_error_message();
  EXPECT_EQ(ham_result(&stopped, nullptr, 0, nullptr), HAM_ERROR_CANCELLED);
  replay_gate = true;
  double got = 0;
  EXPECT_EQ(replay(5, got), HAM_OK) << ham_error_message();
  EXPECT_EQ(got, 5);
}

TEST_F(replayed_from_c, inputs_are_counted) {
  const ham_stage x = input();
  ASSERT_EQ(compile(call(1, "c_replay.half", "f8->f8", {value_of(x)})), HAM_OK);
  ham_future* made = nullptr;
  EXPECT_EQ(ham_graph_replay(step, nullptr, 0, -1, &made), HAM_ERROR_CALL);
  EXPECT_EQ(made, nullptr);
  const ham_argument stage = value_of(x);
  EXPECT_EQ(ham_graph_replay(step, &stage, 1, -1, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_replay(step, nullptr, 1, -1, &made), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_graph_replay(nullptr, nullptr, 0, -1, &made), HAM_ERROR_ARGUMENT);
  ham_compiled_graph* other = step;
  EXPECT_EQ(ham_graph_compile(graph, 99, 0, &other), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(other, nullptr);
}

}  // namespace c_api_test
