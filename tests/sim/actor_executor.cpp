// Steps whose results go on in a queue of work, or to a std::future.
#include <chrono>
#include <functional>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/std_future.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Continuations of calls, which this thread runs, each once, and no other one.
void actor::work_queue(random_source& random) {
  offload::work_queue mine;
  std::vector<pending> calls;
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const node_t node = any_node(random);
    const call_number call = the_oracle->issue(node, stream_to(node));
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      auto result =
          offload::async(node, fn<&work>, call, std::int64_t{23}, takes)
              .then(std::ref(mine), [own = running->current().number, ran = false](std::int64_t value) mutable {
                if (running->current().number != own) running->fail("a queue of work is run by another thread");
                if (std::exchange(ran, true)) running->fail("work of a queue runs twice");
                return value + 1;
              });
      calls.push_back({std::move(result), call, result_of(call, 23) + 1, false, false, false});
    });
  }
  const auto is_pending = [](pending& one) { return !one.result.test(); };
  while (std::ranges::any_of(calls, is_pending)) {
    if (mine.run() == 0) mine.run_for(std::chrono::nanoseconds(1'000 + random.below(50'000)));
  }
  for (pending& one : calls) settle(one);
  if (mine.size() != 0) running->fail("a queue has work of calls that have settled");
}

void actor::std_future(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const std::int64_t takes = some_time(random);
  attempt(call, false, [&] {
    std::future<std::int64_t> result =
        offload::to_std_future(offload::async(node, fn<&work>, call, std::int64_t{24}, takes));
    while (result.wait_for(std::chrono::nanoseconds(0)) != std::future_status::ready) {
      if (!offload::progress()) base::sleep_ns(static_cast<std::int64_t>(1'000 + random.below(50'000)));
    }
    the_oracle->settle(call, result.get(), result_of(call, 24));
  });
}

}  // namespace ham::sim
