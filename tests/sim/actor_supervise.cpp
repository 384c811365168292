// Steps of jobs whose nodes are started again, and faults of such nodes.
#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/retry.hpp"
#include "sim/actor.hpp"
#include "sim/supervision.hpp"

namespace ham::inline v1::sim {

std::optional<node_t> actor::any_supervised(random_source& random) const {
  std::vector<node_t> numbers;
  for (const node_t node : nodes_) {
    if (the_oracle->numbers.supervises(node)) numbers.push_back(node);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers[random.below(numbers.size())];
}

void actor::supervise(random_source& random) {
  const std::optional<node_t> number = any_supervised(random);
  if (!number) return;
  switch (random.below(8)) {
    case 0:
      try {
        supervise_somehow(plan_, *number, random.once_in(2) ? *number : offload::process_of(*number), random, world_);
      } catch (const config_error& refused) {
        if (the_oracle->numbers.supervises(*number))
          running->fail(std::string("a node cannot be supervised again: ") + refused.what());
      }
      break;
    case 1:
    case 2:
    case 3: retry(*number, random); break;
    case 4:
      if (random.once_in(4))
        hang(*number);
      else if (random.once_in(4))
        be_long(*number);
      break;
    case 5: end_next_start(random); break;
    case 6:
      use_old_handles();
      keep_handles(*number);
      break;
    default: reach(*number); break;
  }
}

/// A call whose process is killed while it runs, some times: without repetitions, with enough of them, or with too few.
void actor::retry(node_t number, random_source& random) {
  const auto times = static_cast<unsigned>(random.below(4));
  const auto deaths =
      static_cast<std::uint32_t>(may_end_processes(world_) && random.once_in(2) ? random.below(times + 3) : 0);
  const call_number call = the_oracle->issue(number);
  the_oracle->allow_repeats(call, times + 1);
  if (deaths != 0) note_faults();
  attempt(call, false, [&] {
    auto result = times == 0 ? offload::async(number, fn<&work_after_deaths>, call, std::int64_t{15}, deaths)
                             : offload::async(offload::retry(number, times), idempotent(fn<&work_after_deaths>), call,
                                              std::int64_t{15}, deaths);
    pending_.push_back({std::move(result), call, result_of(call, 15), false, false, false});
  });
}

/// Its process is killed by who watches it.
void actor::hang(node_t number) {
  if (number != watched_node || !may_end_processes(world_)) return;
  note_faults();
  const call_number call = the_oracle->issue(number);
  attempt(call, false, [&] {
    pending_.push_back({offload::async(number, fn<&sim::hang>, call), call, 0, false, false, false});
  });
}

/// It takes its time, and is left alone.
void actor::be_long(node_t number) {
  if (number != watched_node) return;
  const call_number call = the_oracle->issue(number);
  attempt(call, false, [&] {
    pending_.push_back({offload::async(number, fn<&work_long>, call, std::int64_t{18}), call, result_of(call, 18),
                        false, false, false});
  });
}

/// The next process that is started dies early: before it has joined, while it is prepared, or soon after.
void actor::end_next_start(random_source& random) {
  if (!may_end_processes(world_)) return;
  note_faults();
  world_.at_next_start([&in = world_, after = random.below(600)](node_t node) {
    the_oracle->numbers.doom(node);
    running->kill_after(in.process_of(node), after);
  });
}

void actor::keep_handles(node_t number) {
  constexpr std::size_t max_kept = 4;
  constexpr std::size_t elements = 8;
  if (handles_.size() == max_kept) handles_.erase(handles_.begin());
  use(number, [&] {
    const auto memory = offload::allocate<std::int32_t>(number, elements);
    const node_t process = memory.node();
    handles made{process, memory, offload::make<counter>(process, std::int64_t{30}), offload::context(process)};
    if (made.object.node() == process && made.queue.node() == process) handles_.push_back(std::move(made));
  });
}

/// Those whose process another one has replaced must be errors, and reach nobody.
void actor::use_old_handles() {
  const auto expect_refused = [](const handles& one, const char* what, auto use) {
    try {
      use();
    } catch (const node_failure&) {
      return;
    } catch (const object_error&) {
      return;
    }
    running->fail(std::string(what) + " of process " + std::to_string(one.process) +
                  " can be used, which another one has replaced");
  };
  std::erase_if(handles_, [&](handles& one) {
    if (!the_oracle->numbers.is_replaced(one.process)) return false;
    const std::vector<std::int32_t> values{1, 2, 3};
    std::vector<std::int32_t> back(3);
    expect_refused(one, "memory", [&] { offload::put(values.data(), one.memory, values.size()).get(); });
    expect_refused(one, "memory", [&] { offload::get(one.memory, back.data(), back.size()).get(); });
    const auto try_call = [&](const char* what, auto make) {
      const call_number call = the_oracle->issue_on(one.process);
      the_oracle->forbid(call);
      expect_refused(one, what, [&] { make(call); });
      the_oracle->fail(call, call_outcome::not_run, "its handle is old");
    };
    try_call("an object",
             [&](call_number call) { static_cast<void>(one.object.call<&counter::add>(call, std::int64_t{1})); });
    try_call("a context", [&](call_number call) {
      static_cast<void>(offload::sync(one.queue, fn<&work>, call, std::int64_t{16}, std::int64_t{0}));
    });
    return true;
  });
}

/// A call is made until one is answered, or the node is given up; also by the number of the process.
void actor::reach(node_t number) {
  constexpr int most = 60;
  for (int i = 0; i < most; ++i) {
    const call_number call = the_oracle->issue(number, stream_to(number));
    bool given_up = false;
    const bool answered = attempt(call, false, [&] {
      try {
        const std::int64_t value = offload::sync(number, fn<&work>, call, std::int64_t{17}, std::int64_t{0});
        the_oracle->settle(call, value, result_of(call, 17));
      } catch (const error& lost) {
        given_up = std::string(lost.what()).find("is given up: ") != std::string::npos;
        throw;
      }
    });
    if (given_up || !the_oracle->numbers.supervises(number)) return;
    if (!answered) continue;
    const node_t process = offload::process_of(number);
    if (offload::number_of(process) != number && the_oracle->numbers.supervises(number))
      running->fail("process " + std::to_string(process) + " does not have the number of which it is said to be");
    return;
  }
  running->fail("node " + std::to_string(number) + " cannot be reached though it is not given up");
}

void actor::fault_of_supervised(step kind, random_source& random) {
  if (number_ % max_threads != 0 || !random.once_in(2)) return;
  const node_t number = any_target(random);
  const node_t process = offload::process_of(number);
  const bool stays = the_oracle->numbers.supervises(number);
  if (kind == step::stop) {
    running->stop(world_.process_of(process), static_cast<std::int64_t>(random.below(5'000'000)));
    return;
  }
  if (!may_end_processes(world_) || (!stays && !random.once_in(4))) return;
  note_faults();
  if (kind == step::cut) {
    const node_t other = offload::process_of(any_node(random));
    if (other == process) return;
    if (other == 0) the_oracle->numbers.doom(process);
    world_.net().cut(process, other);
    if (other != 0 || stays) return;
  } else {
    the_oracle->numbers.doom(process);
    running->kill_after(world_.process_of(process), random.below(400));
    if (stays || random.once_in(2)) return;
  }
  if (nodes_.size() > 2) std::erase(nodes_, number);
}

}  // namespace ham::sim
