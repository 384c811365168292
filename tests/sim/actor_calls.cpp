// Steps that make calls.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

const auto named_work = named<"sim.work">([](call_number call, std::int64_t value) { return work(call, value, 0); });

/// One call, and then another with its result.
offload::task<std::int64_t> work_twice(node_t node, call_number first, call_number second) {
  std::int64_t value = 0;
  try {
    value = co_await offload::async(node, fn<&work>, first, std::int64_t{2}, std::int64_t{0});
  } catch (const node_failure& lost) {
    the_oracle->fail(first, lost.outcome(), lost.what());
    throw;
  } catch (const call_error& refused) {
    the_oracle->fail(first, call_outcome::not_run, refused.what());
    throw;
  }
  the_oracle->settle(first, value, result_of(first, 2));
  co_return co_await offload::async(node, fn<&work>, second, value, std::int64_t{0});
}

}  // namespace

void actor::call(step kind, random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const auto value = static_cast<std::int64_t>(random.below(1000));
  const std::int64_t takes = some_time(random);
  const std::chrono::nanoseconds limit(random.below(400'000));
  may_be_late_ = kind == step::deadline;
  if (may_be_late_) the_oracle->allow_late(call);
  const bool done = attempt(call, false, [&] {
    switch (kind) {
      case step::sync:
        if (takes != 0 && value % 2 == 0) {
          offload::sync(node, fn<&note>, call, takes);
          the_oracle->settle_ended(call);
        } else if (takes != 0)
          the_oracle->settle(call, offload::sync(node, fn<&work>, call, value, takes), result_of(call, value));
        else if (value % 2 == 0)
          the_oracle->settle(call, offload::sync(node, named_work, call, value), result_of(call, value));
        else
          the_oracle->settle(call, offload::sync(node, with_policy<plain_policy>(fn<&work>), call, value, takes),
                             result_of(call, value));
        break;
      case step::throwing:
        pending_.push_back({offload::async(node, fn<&throwing>, call), call, 0, false, true, false});
        break;
      case step::deadline:
        pending_.push_back({offload::async(offload::within(node, limit), fn<&work>, call, value, takes), call,
                            result_of(call, value), true, false, false});
        break;
      case step::abandon: offload::async(node, fn<&work>, call, value, takes).detach(); break;
      default:
        pending_.push_back(
            {offload::async(node, fn<&work>, call, value, takes), call, result_of(call, value), false, false, false});
        break;
    }
  });
  may_be_late_ = false;
  if (done && kind == step::abandon) the_oracle->leave_unanswered(call);
}

/// Some pings, and now and then a call, behind which they must have run.
void actor::ping(random_source& random) {
  const node_t node = any_node(random);
  const std::uint64_t count = 1 + random.below(random.once_in(8) ? 200 : 12);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node, stream_to(node));
    if (attempt(call, false, [&] { offload::ping(node, fn<&note>, call, random.once_in(16) ? 10'000 : 0); }))
      the_oracle->leave_unanswered(call);
  }
  if (!random.once_in(3)) return;
  const call_number last = the_oracle->issue(node, stream_to(node));
  bool answered = false;
  attempt(last, false, [&] {
    the_oracle->settle(last, offload::sync(node, fn<&work>, last, 1, 0), result_of(last, 1));
    answered = true;
  });
  if (answered && !the_oracle->numbers.may_fail(node, 0))
    the_oracle->expect_all_ran(stream_to(node));  // by one process
}

void actor::batch(random_source& random) {
  const node_t node = any_node(random);
  std::vector<pending> members;
  const std::uint64_t count = 1 + random.below(20);
  const call_number first = the_oracle->issue(node, stream_to(node));
  std::vector<call_number> calls{first};
  for (std::uint64_t i = 1; i < count; ++i) calls.push_back(the_oracle->issue(node, stream_to(node)));
  const bool sent = use(node, [&] {
    offload::batch together(node);
    for (const call_number call : calls) {
      members.push_back({together.add(fn<&work>, call, std::int64_t{7}, std::int64_t{0}), call, result_of(call, 7),
                         false, false, false});
    }
    together.submit();
  });
  if (!sent && members.empty()) {
    for (const call_number call : calls) the_oracle->fail(call, call_outcome::not_run, "it was not added to its batch");
    return;
  }
  for (pending& one : members) pending_.push_back(std::move(one));
  for (std::size_t i = members.size(); i < calls.size(); ++i)
    the_oracle->fail(calls[i], call_outcome::not_run, "it was not added to its batch");
}

void actor::queue(random_source& random) {
  if (contexts_.empty() || (contexts_.size() < 4 && random.once_in(4))) {
    const node_t node = any_node(random);
    use(node, [&] {
      contexts_.push_back({offload::context(node), the_oracle->new_stream(), the_oracle->new_stream()});
    });
    return;
  }
  const std::size_t at = random.below(contexts_.size());
  remote_queue& to = contexts_[at];
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue_on(to.queue.node(), to.stream);
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      pending_.push_back({offload::async(to.queue, fn<&work>, call, std::int64_t{3}, takes), call, result_of(call, 3),
                          false, false, false});
    });
  }
  if (!random.once_in(6)) return;
  const node_t node = to.queue.node();
  use(node, [&] {
    if (random.once_in(2))
      to.queue.drain();
    else
      to.queue.close();
    the_oracle->expect_all_ran(to.stream);
    the_oracle->expect_all_ran(to.of_device);
  });
  if (!to.queue.valid() || faults_.may_be_lost.contains(node) || the_oracle->numbers.may_be_lost(node))
    contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
}

void actor::nested(random_source& random) {
  std::vector<node_t> route;
  std::vector<call_number> calls;
  const std::uint64_t hops = random.below(6);
  for (std::uint64_t i = 0; i < hops; ++i) {
    route.push_back(any_node(random));
    calls.push_back(the_oracle->issue(route.back()));
  }
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const std::vector<char> load(random.once_in(3) ? random.below(12'000) : 8);
  attempt(call, true, [&] {
    pending_.push_back({offload::async(node, fn<&along>, call, route, calls, load), call,
                        static_cast<std::int64_t>(load.size() + hops), false, false, true});
  });
}

void actor::long_message(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  std::vector<std::int32_t> values(random.below(1500));
  for (std::int32_t& one : values) one = static_cast<std::int32_t>(random.next());
  attempt(call, false, [&] {
    std::vector<std::int32_t> back = offload::sync(node, fn<&reversed>, call, values);
    std::ranges::reverse(back);
    the_oracle->settle(call, back == values ? 1 : 0, 1);
  });
}

void actor::then(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  attempt(call, false, [&] {
    pending_.push_back({offload::async(node, fn<&work>, call, std::int64_t{5}, some_time(random))
                            .then([ran = false](std::int64_t value) mutable {
                              if (std::exchange(ran, true)) running->fail("a continuation runs twice");
                              return value + 1;
                            }),
                        call, result_of(call, 5) + 1, false, false, false});
  });
}

/// A call that is made only if there is room for it.
void actor::try_call(random_source& random) {
  const node_t node = any_node(random);
  const std::uint64_t count = 1 + random.below(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node, stream_to(node));
    attempt(call, false, [&] {
      auto started = offload::try_async(node, fn<&work>, call, std::int64_t{4}, std::int64_t{0});
      if (started)
        pending_.push_back({std::move(*started), call, result_of(call, 4), false, false, false});
      else
        the_oracle->fail(call, call_outcome::not_run, "there was no room for it");
    });
  }
}

/// Calls to several nodes, of which all, or the first, are waited for.
void actor::join(random_source& random) {
  if (random.once_in(3)) {
    in_turn(random);
    return;
  }
  std::vector<pending> calls;
  std::vector<offload::future<std::int64_t>> results;
  const std::uint64_t count = 1 + random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const node_t node = any_node(random);
    const call_number call = the_oracle->issue(node, stream_to(node));
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      results.push_back(offload::async(node, fn<&work>, call, std::int64_t{6}, takes));
      calls.push_back({{}, call, result_of(call, 6), false, false, false});
    });
  }
  if (results.empty()) return;
  if (random.once_in(2)) {
    results = offload::when_all(std::move(results)).get();
    for (const auto& one : results) {
      if (!one.valid()) running->fail("a future of when_all has no result");
    }
  } else {
    const std::size_t first = offload::when_any(results).get();
    if (first >= results.size() || !results[first].test()) running->fail("the first of when_any has not settled");
    for (const auto& one : results) one.wait();
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].result = std::move(results[i]);
    settle(calls[i]);
  }
}

void actor::in_turn(random_source& random) {
  const node_t node = any_node(random);
  const call_number first = the_oracle->issue(node);
  const call_number second = the_oracle->issue(node);
  attempt(second, false, [&] {
    const std::int64_t value = work_twice(node, first, second).get();
    the_oracle->settle(second, value, result_of(second, result_of(first, 2)));
  });
}

/// More bytes between two targets than a relay lets be under way without an acknowledgement.
void actor::stream(random_source& random) {
  if (nodes_.size() < 3 || !random.once_in(4)) return;
  const node_t from = any_target(random);
  const node_t to = any_target(random);
  if (from == to) return;
  const std::uint32_t order = the_oracle->new_stream();
  std::vector<call_number> calls(1 + random.below(24));
  for (call_number& one : calls) one = the_oracle->issue(to, order);
  const auto bytes = static_cast<std::uint32_t>(random.below(40'000));
  const call_number call = the_oracle->issue(from, stream_to(from));
  attempt(call, true, [&] {
    pending_.push_back({offload::async(from, fn<&pump>, call, to, calls, bytes), call,
                        static_cast<std::int64_t>(calls.size() * bytes), false, false, true});
  });
}

/// On the threads of a pool, which are those of the process: only where no process is killed.
void actor::pooled_call(random_source& random) {
  if (over_ != medium::loopback || world_.process_of(0) != 0) return;  // the pool ends with the first job
  const node_t node = any_node(random);
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node);
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      pending_.push_back({offload::async(node, pooled(fn<&work>), call, std::int64_t{9}, takes), call,
                          result_of(call, 9), false, false, false});
    });
  }
}

}  // namespace ham::sim
