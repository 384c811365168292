// Steps that end the process of a call.
#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/retry.hpp"
#include "sim/actor.hpp"
#include "sim/supervision.hpp"

namespace ham::inline v1::sim {

void actor::kill_call(random_source& random) {
  const bool can_end = number_ % max_threads == 0 && over_ != medium::loopback;
  const node_t node = any_target(random);
  const bool is_supervised = the_oracle->numbers.supervises(node);
  if (!can_end || random.once_in(2))
    refuse_to_end(random);
  else if (is_supervised ? may_end_processes(world_) : random.once_in(4))
    end_by_call(node, random);
}

/// The call fails, and its process has ended soon, whether the call has begun or not; all else of the node is lost,
/// too.
void actor::end_by_call(node_t node, random_source& random) {
  const bool is_supervised = the_oracle->numbers.supervises(node);
  if (is_supervised) {
    note_faults();
  } else {
    faults_.any = true;
    faults_.may_be_lost.insert(node);
    if (nodes_.size() > 2 && random.once_in(2)) std::erase(nodes_, node);
  }
  const call_number call = the_oracle->issue(node, stream_to(node));
  bool ended = false;
  node_t process = node;
  attempt(call, false, [&] {
    auto never_settles = offload::async(node, fn<&sim::hang>, call);
    if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(300'000)));
    process = offload::detail::future_access::slot(never_settles)->node.load();
    if (is_supervised) the_oracle->numbers.doom(process);
    ended = offload::kill_call(never_settles);
    if (!ended && !never_settles.test())
      running->fail(the_oracle->describe(call) + " is pending, and its process is not ended");
    static_cast<void>(never_settles.get());
    running->fail(the_oracle->describe(call) + " has a result, and its process was to be ended");
  });
  if (!ended) return;
  constexpr std::int64_t timeout_ns = 10'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  while (running->living_threads(world_.process_of(process)) != 0) {
    if (base::now_ns() > until) running->fail("the process of a call that was to be ended with it goes on");
    base::sleep_ns(1'000'000);
  }
}

/// What is no call to a target of this node is left alone, and has its result; so is what has settled.
void actor::refuse_to_end(random_source& random) {
  const auto expect_refused = [](auto& future, const char* what) {
    try {
      if (offload::kill_call(future)) running->fail(std::string("a process is ended for ") + what);
    } catch (const call_error&) {
      return;
    }
    if (!future.test()) running->fail(std::string("nothing is ended, and nothing said, for ") + what);
  };
  const std::uint64_t which = random.below(over_ == medium::loopback ? 5 : 4);
  const node_t node = which == 0 ? 0 : which == 3 ? any_target(random) : any_node(random);
  const std::int64_t takes = some_time(random);
  const call_number call = the_oracle->issue(node, which == 3 ? 0 : stream_to(node));
  const node_t other = any_node(random);
  const call_number inner = which == 3 ? the_oracle->issue(other) : 0;
  if (which == 3) {
    attempt(call, true, [&] {
      the_oracle->settle(call, offload::sync(node, fn<&end_from_here>, call, other, inner, takes), result_of(call, 22));
    });
    return;
  }
  attempt(call, false, [&] {
    auto future = offload::async(node, fn<&work>, call, std::int64_t{22}, takes);
    switch (which) {
      case 1:
        future = std::move(future).then([](std::int64_t value) { return value; });
        expect_refused(future, "what follows a call");
        break;
      case 2:
        future.wait();
        if (offload::kill_call(future)) running->fail("a process is ended for a call that has settled");
        break;
      default: expect_refused(future, "a call to a process that this node has not started"); break;
    }
    the_oracle->settle(call, future.get(), result_of(call, 22));
  });
}

}  // namespace ham::sim
