// Steps that ask calls to stop.
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/stop.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

offload::when_stopped any_way(random_source& random) {
  return random.once_in(2) ? offload::when_stopped::after_answer : offload::when_stopped::at_once;
}

}  // namespace

/// Calls that poll for a stop, to one node or to several, and what stops them: each by its future, all by a token,
/// which this thread or another one stops, or the deadline. Nothing else is waited for before they were all asked.
void actor::cancel(random_source& random) {
  std::stop_source source;
  std::vector<stoppable_call> calls;
  const std::uint64_t count = 1 + random.below(5);
  const bool stopped_before = random.once_in(12);  // then none of them is made
  if (stopped_before) source.request_stop();
  for (std::uint64_t i = 0; i < count; ++i) {
    stoppable_call one;
    if (start(one, source.get_token(), random)) calls.push_back(std::move(one));
  }
  if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(200'000)));
  std::vector<call_number> by_token;
  for (const stoppable_call& one : calls) {
    if (one.has_token) by_token.push_back(one.call);
    if (one.has_token && one.inner != 0) by_token.push_back(one.inner);
  }
  auto stop_all = [source, by_token]() mutable {
    for (const call_number call : by_token) the_oracle->ask_to_stop(call);
    source.request_stop();
  };
  std::thread other;
  if (random.once_in(3)) {
    other = std::thread([stop_all, pause = static_cast<std::int64_t>(random.below(200'000))]() mutable {
      base::sleep_ns(pause);
      stop_all();
    });
  } else {
    stop_all();
  }
  for (stoppable_call& one : calls) {
    const auto how = any_way(random);
    if (one.has_token || (one.has_deadline && random.once_in(2))) continue;
    one.asked = true;
    the_oracle->ask_to_stop(one.call);
    if (one.inner != 0) the_oracle->ask_to_stop(one.inner);
    one.result.request_stop(how);
  }
  const std::uint64_t first = calls.empty() ? 0 : random.below(calls.size());
  for (std::uint64_t i = 0; i < calls.size(); ++i) settle(calls[(first + i) % calls.size()]);
  if (other.joinable()) other.join();
}

/// False: its node is lost.
bool actor::start(stoppable_call& one, const std::stop_token& token, random_source& random) {
  const bool in_context = !contexts_.empty() && random.once_in(4);
  remote_queue* const queue = in_context ? &contexts_[random.below(contexts_.size())] : nullptr;
  const node_t node = in_context ? queue->queue.node() : any_node(random);
  one.call = in_context ? the_oracle->issue_on(node, queue->stream) : the_oracle->issue(node, stream_to(node));
  the_oracle->allow_late(one.call);  // and need not run
  const bool makes_another = random.once_in(4);
  node_t to = node;
  if (makes_another) {
    to = any_node(random);
    one.inner = the_oracle->issue(to);
    the_oracle->set_nested(one.inner);
    the_oracle->issue(to);
    the_oracle->issue(to);
  }
  one.has_deadline = random.once_in(3);
  one.has_token = random.once_in(2);
  const std::chrono::nanoseconds limit(random.below(400'000));
  const auto how = any_way(random);
  may_be_late_ = one.has_deadline;
  const bool started = attempt(one.call, makes_another, [&] {
    offload::destination where = in_context ? offload::destination(queue->queue) : offload::destination(node);
    where = one.has_deadline ? offload::within(where, limit) : offload::stoppable(where);
    const auto begin = [&](const auto& there) {
      return makes_another ? offload::async(there, fn<&until_stopped_there>, one.call, to, one.inner)
                           : offload::async(there, fn<&until_stopped>, one.call);
    };
    one.asked = one.has_token;
    one.result = one.has_token ? begin(offload::stoppable_destination(where, token, how)) : begin(where);
  });
  may_be_late_ = false;
  return started;
}

void actor::settle(stoppable_call& one) {
  may_be_late_ = one.has_deadline;
  attempt(one.call, one.inner != 0, [&] {
    try {
      const std::int64_t stopped = one.result.get();
      the_oracle->settle(one.call);
      if (stopped != 0 && !one.asked && !one.has_deadline)
        running->fail(the_oracle->describe(one.call) + " is stopped, and nobody has asked for it");
    } catch (const operation_cancelled& stopped) {
      the_oracle->fail(one.call, stopped.outcome(), stopped.what());
      if (!one.asked) running->fail(the_oracle->describe(one.call) + " is cancelled, and nobody has asked for it");
    }
  });
  may_be_late_ = false;
}

}  // namespace ham::sim
