// Steps that make calls as senders.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/msg/bind.hpp"
#include "ham/offload/progress.hpp"
#include "ham/offload/senders.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

namespace execution = offload::execution;

std::int64_t one_more(std::int64_t value) { return value + 1; }

/// How an operation has completed: what is in here is there when `times` is not 0.
struct completion {
  std::optional<std::int64_t> value;
  std::exception_ptr error;
  std::atomic<unsigned> times{0};

  void note() noexcept { times.fetch_add(1, std::memory_order_acq_rel); }
};

struct environment {
  std::stop_token token;
  [[nodiscard]] std::stop_token query(execution::get_stop_token_t) const noexcept { return token; }
};

struct receiver {
  using receiver_concept = execution::receiver_tag;
  completion* to;
  std::stop_token token;

  void set_value(std::int64_t value) noexcept {
    to->value = value;
    to->note();
  }
  void set_error(std::exception_ptr why) noexcept {
    to->error = std::move(why);
    to->note();
  }
  void set_stopped() noexcept { to->note(); }
  [[nodiscard]] environment get_env() const noexcept { return {token}; }
};

/// An operation that was started, and what came of it; stays until that is there.
struct started_operation {
  started_operation() = default;
  virtual ~started_operation() = default;
  started_operation(const started_operation&) = delete;
  started_operation& operator=(const started_operation&) = delete;

  completion result;
  std::stop_source source;
  call_number call = 0;
  std::int64_t expected = 0;
  bool polls = false;
  bool asked = false;  ///< to stop
};

template <class Sender>
struct operation_of final : started_operation {
  explicit operation_of(Sender sender) : running(std::move(sender).connect(receiver{&result, source.get_token()})) {}
  decltype(std::declval<Sender>().connect(std::declval<receiver>())) running;
};

template <class Sender>
std::unique_ptr<started_operation> begin_operation(Sender sender, bool stops_before) {
  auto made = std::make_unique<operation_of<Sender>>(std::move(sender));
  if (stops_before) made->source.request_stop();
  made->running.start();
  return made;
}

}  // namespace

void actor::sender(random_source& random) {
  if (random.once_in(3))
    sent_and_awaited(random);
  else
    sent_with_receivers(random);
}

/// By sync_wait: a call, functions on a node one behind the other, a future.
void actor::sent_and_awaited(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const std::int64_t takes = some_time(random);
  const std::uint64_t how = random.below(3);
  attempt(call, false, [&] {
    std::optional<std::tuple<std::int64_t>> got;
    switch (how) {
      case 0: got = offload::sync_wait(offload::call(node, fn<&work>, call, std::int64_t{18}, takes)); break;
      case 1:
        got = offload::sync_wait(offload::schedule(node) |
                                 offload::then(ham::bind(fn<&work>, call, std::int64_t{18}, takes)) |
                                 offload::then(fn<&one_more>));
        break;
      default:
        got = offload::sync_wait(offload::as_sender(offload::async(node, fn<&work>, call, std::int64_t{18}, takes)));
        break;
    }
    if (!got) running->fail(the_oracle->describe(call) + " is stopped, and nobody has asked for it");
    the_oracle->settle(call, std::get<0>(*got), result_of(call, 18) + (how == 1 ? 1 : 0));
  });
}

/// By receivers, each of which is completed once, on whichever thread; some are stopped by their tokens, before or
/// behind the start, by this thread or another one.
void actor::sent_with_receivers(random_source& random) {
  std::vector<std::unique_ptr<started_operation>> all;
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const node_t node = any_node(random);
    const bool polls = random.once_in(3);
    const bool is_future = random.once_in(3);
    const bool stops_before = polls && random.once_in(8);
    const std::int64_t takes = some_time(random);
    const call_number call = the_oracle->issue(node, stream_to(node));
    if (polls) the_oracle->allow_late(call);
    if (stops_before) the_oracle->ask_to_stop(call);
    if (stops_before && !is_future) the_oracle->forbid(call);
    attempt(call, false, [&] {
      std::unique_ptr<started_operation> one;
      const offload::destination to = polls ? offload::stoppable(node) : offload::destination(node);
      if (is_future)
        one = polls ? begin_operation(offload::as_sender(offload::async(to, fn<&until_stopped>, call)), stops_before)
                    : begin_operation(offload::as_sender(offload::async(to, fn<&work>, call, std::int64_t{19}, takes)),
                                      false);
      else
        one = polls ? begin_operation(offload::call(to, fn<&until_stopped>, call), stops_before)
                    : begin_operation(offload::call(to, fn<&work>, call, std::int64_t{19}, takes), false);
      one->call = call;
      one->expected = result_of(call, 19);
      one->polls = polls;
      one->asked = stops_before;
      all.push_back(std::move(one));
    });
  }
  if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(200'000)));
  const auto stop_all = [&all] {
    for (const auto& one : all) {
      if (!one->polls) continue;
      one->asked = true;
      the_oracle->ask_to_stop(one->call);
      one->source.request_stop();
    }
  };
  std::thread other;
  if (random.once_in(3))
    other = std::thread(stop_all);
  else
    stop_all();
  constexpr std::int64_t max_pause_ns = 1'000'000;
  for (const auto& one : all) {
    for (std::int64_t pause = 1'000; one->result.times.load(std::memory_order_acquire) == 0;
         pause = std::min(2 * pause, max_pause_ns)) {
      offload::progress();
      base::sleep_ns(pause);
    }
  }
  if (other.joinable()) other.join();
  for (const auto& one : all) settle_sent(one->call, one->result.error, one->result.value, one->polls, one->expected);
  for (const auto& one : all) {
    if (one->result.times.load() != 1) running->fail(the_oracle->describe(one->call) + " completes its receiver twice");
  }
}

void actor::settle_sent(call_number call, const std::exception_ptr& error, const std::optional<std::int64_t>& value,
                        bool polls, std::int64_t expected) {
  attempt(call, false, [&] {
    if (error != nullptr) std::rethrow_exception(error);
    if (!value && !polls) running->fail(the_oracle->describe(call) + " is stopped, and nobody has asked for it");
    if (!value)
      the_oracle->fail(call, call_outcome::may_have_run, "its receiver is told that it was stopped");
    else if (polls)
      the_oracle->settle(call);
    else
      the_oracle->settle(call, *value, expected);
  });
}

}  // namespace ham::sim
