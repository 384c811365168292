// Senders over loopback: how calls, futures and what runs on a node complete receivers, without a sender library.
#include "ham/offload/senders.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "ham/offload/group.hpp"  // behind senders.hpp: it has to compile in this order, too
#include "loopback_job.hpp"

namespace senders_test {

using namespace ham;
using namespace ham::test;
namespace execution = offload::execution;

std::atomic<int> ran{0};
std::atomic<int> begun{0};
std::atomic<bool> gate{false};

int count() { return ++ran; }
int twice(int value) { return 2 * value; }
void raise(const std::string& what) { throw std::invalid_argument(what); }
double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
node_t here() { return offload::this_node(); }
bool has_begun(int calls) {
  return eventually([calls] { return begun >= calls; });
}
void block() {
  ++begun;
  while (!gate) std::this_thread::yield();
}
/// Returns when it is stopped; or throws, as functions do that leave their work undone.
int until_stopped(bool throws) {
  const auto stop = this_call::stop_token();
  ++begun;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!stop.stop_requested())
    if (std::chrono::steady_clock::now() > until) return -1;
  if (throws) throw operation_cancelled("as you wish", call_outcome::may_have_run);
  return 7;
}

/// How an operation has completed.
template <class Value>
struct record {
  std::optional<Value> value{};
  std::exception_ptr error{};
  std::atomic<int> completions{0};
  std::atomic<bool> stopped{false};
  std::stop_source source{std::nostopstate};
};

struct stoppable_env {
  std::stop_token token;
  [[nodiscard]] std::stop_token query(execution::get_stop_token_t) const noexcept { return token; }
};

/// A receiver without an environment.
template <class Value>
struct recorder {
  using receiver_concept = execution::receiver_tag;
  record<Value>* to;
  template <class... Given>
  void set_value(Given&&... values) noexcept {
    to->value.emplace(static_cast<Given&&>(values)...);
    ++to->completions;
  }
  void set_error(std::exception_ptr why) noexcept {
    to->error = std::move(why);
    ++to->completions;
  }
  void set_stopped() noexcept {
    to->stopped = true;
    ++to->completions;
  }
};
/// The same with a stop token.
template <class Value>
struct stoppable_recorder : recorder<Value> {
  [[nodiscard]] stoppable_env get_env() const noexcept { return {this->to->source.get_token()}; }
};

template <class Value>
recorder<Value> into(record<Value>& one) {
  return {&one};
}
template <class Value>
stoppable_recorder<Value> stoppable_into(record<Value>& one) {
  one.source = std::stop_source();
  return {{&one}};
}
struct unit {};

template <class Value>
[[nodiscard]] bool completes(record<Value>& one) {
  return eventually([&one] {
    offload::progress();
    return one.completions != 0;
  });
}

class senders : public two_targets {
 protected:
  senders() {
    gate = false;
    ran = begun = 0;
  }
  ~senders() override { gate = true; }
};

// ---- call

TEST_F(senders, a_call_is_sent_when_it_is_started) {
  record<int> result;
  auto call = offload::call(1, fn<&count>);
  auto operation = std::move(call).connect(into(result));
  EXPECT_EQ(offload::sync(1, fn<&count>), 1) << "it would have been first";
  operation.start();
  ASSERT_TRUE(completes(result));
  EXPECT_EQ(result.value, 2);
  EXPECT_EQ(result.completions, 1);
}

TEST_F(senders, calls_take_what_async_takes) {
  const offload::context queue(2);
  const std::string text = "text";
  EXPECT_EQ(offload::sync_wait(offload::call(1, fn<&twice>, 4)), std::tuple(8));
  EXPECT_EQ(offload::sync_wait(offload::call(1, fn<&sum>, std::vector{1.0, 2.0})), std::tuple(3.0));
  EXPECT_EQ(offload::sync_wait(offload::call(1, f2f(&twice, 3))), std::tuple(6));
  EXPECT_EQ(offload::sync_wait(offload::call(queue, fn<&here>)), std::tuple(2));
  EXPECT_EQ(offload::sync_wait(offload::call(offload::within(1, 60s), pooled(fn<&here>))), std::tuple(1));
  EXPECT_EQ(
      offload::sync_wait(offload::call(
          2, [](const std::string& what, int n) { return what.substr(0, static_cast<std::size_t>(n)); }, text, 2)),
      std::tuple(std::string("te")));
}

TEST_F(senders, a_void_function_completes_without_values) {
  record<unit> result;
  auto operation = offload::call(1, [] { ++ran; }).connect(into(result));
  operation.start();
  ASSERT_TRUE(completes(result));
  EXPECT_TRUE(result.value.has_value());
  EXPECT_EQ(ran, 1);
}

TEST_F(senders, a_sender_can_be_connected_again) {
  const auto call = offload::call(1, fn<&count>);
  EXPECT_EQ(offload::sync_wait(call), std::tuple(1));
  EXPECT_EQ(offload::sync_wait(call), std::tuple(2));
}

TEST_F(senders, several_are_under_way_at_once) {
  record<unit> blocked;
  record<int> other;
  auto first = offload::call(1, fn<&block>).connect(into(blocked));
  auto second = offload::call(2, fn<&twice>, 5).connect(into(other));
  first.start();
  second.start();
  ASSERT_TRUE(completes(other));
  EXPECT_EQ(blocked.completions, 0);
  gate = true;
  ASSERT_TRUE(completes(blocked));
  EXPECT_EQ(other.value, 10);
}

TEST_F(senders, an_operation_may_end_within_its_completion) {
  struct owner {
    struct receiver {
      owner* of;
      void set_value(int) noexcept { of->operation.reset(); }
      void set_error(std::exception_ptr) noexcept {}
      void set_stopped() noexcept {}
    };
    using operation_type = decltype(offload::call(1, fn<&count>).connect(std::declval<receiver>()));
    struct holder {
      explicit holder(owner* of) : it(offload::call(1, fn<&count>).connect(receiver{of})) {}
      operation_type it;
    };
    std::unique_ptr<holder> operation;
  };
  owner all;
  all.operation = std::make_unique<owner::holder>(&all);
  all.operation->it.start();
  EXPECT_TRUE(eventually([&all] {
    offload::progress();
    return all.operation == nullptr;
  }));
}

// ---- errors

TEST_F(senders, what_the_function_throws_is_the_error) {
  record<unit> result;
  auto operation = offload::call(1, fn<&raise>, "no such matrix").connect(into(result));
  operation.start();
  ASSERT_TRUE(completes(result));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { std::rethrow_exception(result.error); }), "no such matrix");
  EXPECT_EQ(result.completions, 1);
}

TEST_F(senders, a_call_that_cannot_be_sent_fails_within_start) {
  record<int> result;
  auto operation = offload::call(77, fn<&count>).connect(into(result));
  EXPECT_EQ(result.completions, 0);
  operation.start();
  EXPECT_EQ(result.completions, 1);
  EXPECT_THROW(std::rethrow_exception(result.error), call_error);
}

TEST_F(senders, a_deadline_that_passes_is_an_error) {
  record<unit> result;
  auto operation = offload::call(offload::within(1, 20ms), fn<&block>).connect(into(result));
  operation.start();
  ASSERT_TRUE(completes(result));
  EXPECT_THROW(std::rethrow_exception(result.error), deadline_exceeded);
}

TEST(senders_at_the_end, what_is_pending_fails_with_the_loss_of_the_node) {
  record<int> result;
  std::optional<runtime> job(loopback(1));
  auto operation = offload::call(0, fn<&count>).connect(into(result));  // to this very node, which does nothing before
  operation.start();
  EXPECT_EQ(result.completions, 0);
  job.reset();
  ASSERT_EQ(result.completions, 1);
  EXPECT_THROW(std::rethrow_exception(result.error), node_failure);
}

// ---- stop tokens

TEST_F(senders, a_token_that_is_stopped_before_sends_nothing) {
  record<int> result;
  auto operation = offload::call(1, fn<&count>).connect(stoppable_into(result));
  result.source.request_stop();
  operation.start();
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(offload::sync(1, fn<&count>), 1);
}

TEST_F(senders, a_function_that_is_told_and_gives_up_is_stopped) {
  record<int> result;
  auto operation = offload::call(1, fn<&until_stopped>, true).connect(stoppable_into(result));
  operation.start();
  ASSERT_TRUE(has_begun(1));
  result.source.request_stop();
  ASSERT_TRUE(completes(result));
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.error, nullptr);
}

TEST_F(senders, a_function_that_is_told_and_returns_has_a_value) {
  record<int> result;
  auto operation = offload::call(1, fn<&until_stopped>, false).connect(stoppable_into(result));
  operation.start();
  ASSERT_TRUE(has_begun(1));
  result.source.request_stop();
  ASSERT_TRUE(completes(result));
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.value, 7);
}

TEST_F(senders, a_call_that_waits_on_its_node_never_runs) {
  auto blocked = offload::async(1, fn<&block>);
  ASSERT_TRUE(has_begun(1));
  record<int> result;
  auto operation = offload::call(1, fn<&count>).connect(stoppable_into(result));
  operation.start();
  result.source.request_stop();
  gate = true;
  ASSERT_TRUE(completes(result));
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(ran, 0);
  blocked.get();
}

TEST_F(senders, a_token_may_be_stopped_by_another_thread_at_any_time) {
  for (int round = 0; round < 200; ++round) {
    record<int> result;
    auto operation = offload::call(1, fn<&until_stopped>, true).connect(stoppable_into(result));
    std::jthread other([&result] { result.source.request_stop(); });
    operation.start();
    ASSERT_TRUE(completes(result));
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.completions, 1);
  }
}

TEST_F(senders, a_token_outlives_the_operation) {
  record<int> result;
  {
    auto operation = offload::call(1, fn<&count>).connect(stoppable_into(result));
    operation.start();
    ASSERT_TRUE(completes(result));
  }
  result.source.request_stop();
  EXPECT_EQ(result.value, 1);
  EXPECT_FALSE(result.stopped);
}

/// As those of sender libraries are.
struct foreign_token {
  template <class Function>
  using callback_type = std::stop_callback<Function>;
  std::stop_token of;
  operator std::stop_token() const noexcept { return of; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool stop_requested() const noexcept { return of.stop_requested(); }
  [[nodiscard]] bool stop_possible() const noexcept { return of.stop_possible(); }
};
struct foreign_recorder : recorder<int> {
  struct env {
    foreign_token token;
    [[nodiscard]] foreign_token query(execution::get_stop_token_t) const noexcept { return token; }
  };
  [[nodiscard]] env get_env() const noexcept { return {{to->source.get_token()}}; }
};

TEST_F(senders, tokens_of_other_classes_bring_their_callbacks) {
  record<int> result;
  result.source = std::stop_source();
  auto operation = offload::call(1, fn<&until_stopped>, true).connect(foreign_recorder{{&result}});
  operation.start();
  ASSERT_TRUE(has_begun(1));
  result.source.request_stop();
  ASSERT_TRUE(completes(result));
  EXPECT_TRUE(result.stopped);
}

// ---- futures

TEST_F(senders, futures_complete_receivers) {
  EXPECT_EQ(offload::sync_wait(offload::as_sender(offload::async(1, fn<&twice>, 2))), std::tuple(4));
  EXPECT_EQ(offload::sync_wait(offload::as_sender(offload::make_ready_future<int>(5))), std::tuple(5));
  auto chained = offload::async(1, fn<&twice>, 2).then([](int value) { return std::to_string(value); });
  EXPECT_EQ(offload::sync_wait(offload::as_sender(std::move(chained))), std::tuple(std::string("4")));
  const offload::buffer<int> memory(1, 4);
  const int values[4]{1, 2, 3, 4};
  EXPECT_TRUE(offload::sync_wait(offload::as_sender(offload::put(values, memory.ptr(), 4))).has_value());
  EXPECT_THROW(static_cast<void>(offload::sync_wait(offload::as_sender(offload::async(1, fn<&raise>, "oh")))),
               std::invalid_argument);
}

TEST_F(senders, a_future_that_is_not_valid_is_an_error) {
  record<int> result;
  auto operation = offload::as_sender(offload::future<int>()).connect(into(result));
  operation.start();
  ASSERT_EQ(result.completions, 1);
  EXPECT_THROW(std::rethrow_exception(result.error), error);
}

TEST_F(senders, a_token_stops_the_call_of_a_future) {
  record<int> result;
  auto running = offload::async(offload::stoppable(1), fn<&until_stopped>, true);
  auto operation = offload::as_sender(std::move(running)).connect(stoppable_into(result));
  ASSERT_TRUE(has_begun(1));
  result.source.request_stop();
  operation.start();
  ASSERT_TRUE(completes(result));
  EXPECT_TRUE(result.stopped);
}

TEST_F(senders, a_batch_is_sent_for_a_receiver_of_its_call) {
  offload::batch calls(1);
  auto one = offload::as_sender(calls.add(fn<&twice>, 21));
  EXPECT_EQ(offload::sync_wait(std::move(one)), std::tuple(42));
}

// ---- schedule

TEST_F(senders, then_behind_schedule_runs_on_the_node) {
  EXPECT_EQ(offload::sync_wait(offload::schedule(1) | offload::then(fn<&here>)), std::tuple(1));
  EXPECT_EQ(offload::sync_wait(offload::schedule(2) | offload::then([] { return offload::this_node(); })),
            std::tuple(2));
}

TEST_F(senders, each_further_then_goes_on_there) {
  struct secret {  // crosses neither there nor back
    std::unique_ptr<int> owned;
  };
  auto work = offload::schedule(2) | offload::then([] { ++ran; }) |
              offload::then([] { return secret{std::make_unique<int>(offload::this_node())}; }) |
              offload::then([](const secret& what) { return *what.owned + 10 * offload::this_node(); });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(offload::sync_wait(work), std::tuple(22));
  EXPECT_EQ(ran, 1);
}

TEST_F(senders, functions_on_a_node_bring_their_captures) {
  const int base = 40;
  const std::string name = "pressure";
  auto length = ham::bind([](const std::string& text) { return text.size(); }, name);
  EXPECT_EQ(offload::sync_wait(offload::schedule(1) | offload::then([base] { return base + 2; })), std::tuple(42));
  EXPECT_EQ(offload::sync_wait(offload::schedule(1) | offload::then(length)), std::tuple(std::size_t{8}));
  EXPECT_EQ(offload::sync_wait(offload::schedule(1) | offload::then(length) |
                               offload::then([base](std::size_t n) { return static_cast<int>(n) + base; })),
            std::tuple(48));
}

// ---- sync_wait

TEST_F(senders, waiting_gives_values_or_nothing_or_throws) {
  EXPECT_TRUE(offload::sync_wait(offload::call(1, [] {})).has_value());
  EXPECT_THROW(static_cast<void>(offload::sync_wait(offload::call(1, fn<&raise>, "oh"))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(offload::sync_wait(offload::call(77, fn<&count>))), call_error);
  auto call = offload::async(offload::stoppable(1), fn<&until_stopped>, true);
  ASSERT_TRUE(has_begun(1));
  call.request_stop();
  EXPECT_EQ(offload::sync_wait(offload::as_sender(std::move(call))), std::nullopt);
}

/// A sender of somebody else: completed by a thread of its own, with two values or a code.
struct foreign_sender : offload::detail::sender_of<void> {
  using completion_signatures = execution::completion_signatures<execution::set_value_t(int, std::string),
                                                                 execution::set_error_t(std::error_code)>;
  template <class Self, class... Env>
  static consteval completion_signatures get_completion_signatures() noexcept {
    return {};
  }
  bool fails = false;

  template <class Receiver>
  struct operation {
    using operation_state_concept = execution::operation_state_tag;
    Receiver receiver;
    bool fails;
    std::jthread other{};
    void start() & noexcept {
      other = std::jthread([this] {
        if (fails)
          execution::set_error(std::move(receiver), std::make_error_code(std::errc::timed_out));
        else
          execution::set_value(std::move(receiver), 3, std::string("three"));
      });
    }
  };
  template <class Receiver>
  [[nodiscard]] operation<Receiver> connect(Receiver receiver) const {
    return {std::move(receiver), fails};
  }
};

TEST_F(senders, waiting_takes_senders_of_others) {
  foreign_sender other;
  EXPECT_EQ(offload::sync_wait(other), (std::tuple(3, std::string("three"))));
  other.fails = true;
  EXPECT_THROW(static_cast<void>(offload::sync_wait(other)), std::system_error);
}

int wait_over_there(node_t node) { return std::get<0>(*offload::sync_wait(offload::call(node, fn<&twice>, 4))); }

TEST_F(senders, functions_on_nodes_wait_for_senders) {
  EXPECT_EQ(offload::sync(1, fn<&wait_over_there>, node_t{2}), 8);
  EXPECT_EQ(offload::sync(1, fn<&wait_over_there>, node_t{0}), 8);
}

TEST_F(senders, waiting_makes_progress_of_the_runtime_of_the_sender) {
  runtime other(loopback(1));
  EXPECT_EQ(offload::sync_wait(offload::call(job.node(2), fn<&here>)), std::tuple(2));
  EXPECT_EQ(offload::sync_wait(offload::schedule(job.node(2)) | offload::then(fn<&here>)), std::tuple(2));
  EXPECT_EQ(offload::sync_wait(offload::as_sender(offload::async(job.node(2), fn<&here>))), std::tuple(2));
  EXPECT_THROW(static_cast<void>(offload::sync_wait(offload::call(2, fn<&here>))), call_error);
}

// ---- what the types say

using of_call = decltype(offload::call(1, fn<&twice>, 1));
static_assert(std::is_same_v<
              of_call::completion_signatures,
              execution::completion_signatures<execution::set_value_t(int), execution::set_error_t(std::exception_ptr),
                                               execution::set_stopped_t()>>);
static_assert(std::is_same_v<
              execution::completion_signatures_of_t<decltype(offload::call(1, fn<&block>))>,
              execution::completion_signatures<execution::set_value_t(), execution::set_error_t(std::exception_ptr),
                                               execution::set_stopped_t()>>);
static_assert(std::is_same_v<of_call::sender_concept, execution::sender_tag>);
static_assert(std::is_copy_constructible_v<of_call>);
using operation_of_call = decltype(std::declval<of_call>().connect(std::declval<recorder<int>>()));
static_assert(std::is_same_v<operation_of_call::operation_state_concept, execution::operation_state_tag>);
static_assert(!std::is_move_constructible_v<operation_of_call>);
static_assert(!std::is_copy_constructible_v<decltype(offload::as_sender(offload::future<int>()))>);

}  // namespace senders_test
