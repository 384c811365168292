// Steps that give work to a pool of nodes.
#include <algorithm>
#include <utility>

#include "ham/offload/pool.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

/// Of a pool that nobody else keeps: its destructor waits.
offload::pool_options any_room(random_source& random) { return {.per_node = random.below(5)}; }

/// Ends a map.
struct no_more_results {};

}  // namespace

/// With a pool of its own, or with the one that the threads of the host share.
void actor::pool(random_source& random, bool on_device) {
  std::unique_ptr<offload::pool> own;
  if (faults_.pools.empty() || random.once_in(4)) {
    std::vector<node_t> members(nodes_.begin() + (random.once_in(2) ? 0 : 1), nodes_.end());
    if (members.size() > 2 && random.once_in(3)) members.resize(2);
    own = std::make_unique<offload::pool>(std::move(members), any_room(random));
  }
  const bool shared = own != nullptr && faults_.pools.size() < 3 && random.once_in(2);
  if (shared) faults_.pools.push_back(std::move(own));
  offload::pool* const workers =
      own != nullptr ? own.get()
                     : faults_.pools[shared ? faults_.pools.size() - 1 : random.below(faults_.pools.size())].get();
  if (random.once_in(4)) {
    map(*workers, on_device, random);
    return;
  }
  const std::uint64_t count = 1 + random.below(12);
  for (std::uint64_t i = 0; i < count; ++i) task(*workers, on_device, random);
  if (!faults_.any && workers->living() == 0) running->fail("a pool has no nodes left, and none was lost");
}

/// Its node is lost only for a reason; what is said of whether it ran is true.
template <class What>
bool actor::attempt_anywhere(call_number call, What what) {
  try {
    what();
    return true;
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node of a pool is lost without a reason: ") + lost.what());
    the_oracle->fail(call, lost.outcome(), lost.what());
  } catch (const call_error& refused) {
    if (!faults_.any) running->fail(std::string("a pool refuses a task without a reason: ") + refused.what());
    the_oracle->fail(call, call_outcome::not_run, refused.what());
  }
  return false;
}

void actor::task(offload::pool& workers, bool on_device, random_source& random) {
  const call_number call = the_oracle->issue(on_any_node);
  const auto value = static_cast<std::int64_t>(random.below(1000));
  const std::int64_t takes = some_time(random);
  const bool repeats = random.once_in(2);
  const bool only_if_there_is_room = random.once_in(4);
  if (repeats) the_oracle->allow_repeats(call);
  attempt_anywhere(call, [&] {
    const auto begin = [&](const auto& function) -> std::optional<offload::future<std::int64_t>> {
      if (only_if_there_is_room)
        return repeats ? workers.try_async(idempotent(function), call, value, takes)
                       : workers.try_async(function, call, value, takes);
      return repeats ? workers.async(idempotent(function), call, value, takes)
                     : workers.async(function, call, value, takes);
    };
    std::optional<offload::future<std::int64_t>> started =
        on_device ? begin(fn<&device_work_of_block>) : begin(fn<&work>);
    if (!started) {
      the_oracle->fail(call, call_outcome::not_run, "there was no room for it");
      return;
    }
    pending_.push_back({std::move(*started), call, result_of(call, value), false, false, false, true, on_device});
  });
}

/// Each element is a call. Those that have no result when the map fails may have run.
void actor::map(offload::pool& workers, bool on_device, random_source& random) {
  const bool repeats = random.once_in(2);
  std::vector<map_item> items(random.below(40));
  for (map_item& one : items) {
    one = {the_oracle->issue(on_any_node), random.once_in(8) ? some_time(random) : 0};
    if (repeats) the_oracle->allow_repeats(one.call);
  }
  std::vector<bool> has_result(items.size());
  const auto sink = [&](std::size_t at, std::int64_t result) {
    the_oracle->settle(items[at].call, result, result_of(items[at].call, 0));
    has_result[at] = true;
  };
  const bool in_order = items.size() % 3 == 0;   // its results come together, when all are there
  const bool gives_up = items.size() % 11 == 5;  // when half of them are there
  std::size_t done_before = 0;
  bool has_given_up = false;
  const auto on_progress = [&, own = running->current().number](std::size_t done, std::size_t total) {
    if (running->current().number != own) running->fail("the progress of a map is told by another thread");
    if (has_given_up) running->fail("a map goes on whose progress has thrown");
    if (total != items.size() || done <= done_before || done > total)
      running->fail("a map is said to have " + std::to_string(done) + " of " + std::to_string(total) +
                    " results behind " + std::to_string(done_before));
    if (!in_order && done != static_cast<std::size_t>(std::ranges::count(has_result, true)))
      running->fail("a map has other results than it is said to have");
    done_before = done;
    has_given_up = gives_up && 2 * done >= total;
    if (has_given_up) throw no_more_results();
  };
  const offload::map_options how{.chunk = random.below(6), .on_progress = on_progress};
  std::string why;
  const auto map_of = [&](const auto& function) {
    if (!in_order) {
      workers.map(items, function, sink, how);
      return;
    }
    const std::vector<std::int64_t> results = workers.map(items, function, how);
    if (results.size() != items.size()) running->fail("a map gives too few results, or too many");
    for (std::size_t i = 0; i < results.size(); ++i) sink(i, results[i]);
  };
  const auto map_by = [&](const auto& function) {
    if (repeats)
      map_of(idempotent(function));
    else
      map_of(function);
  };
  try {
    if (on_device)
      map_by(fn<&device_work_item>);
    else
      map_by(fn<&work_item>);
  } catch (const node_failure& lost) {
    why = lost.what();
  } catch (const call_error& refused) {
    why = refused.what();
  } catch (const no_more_results&) {
    why = "its progress has thrown";
  }
  if (!why.empty() && !faults_.any && !has_given_up) running->fail("a map fails without a reason: " + why);
  if (why.empty() && (has_given_up || done_before != items.size()))
    running->fail("a map ends, and its progress says otherwise");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (has_result[i]) continue;
    if (why.empty()) running->fail("a map has no result of " + the_oracle->describe(items[i].call));
    the_oracle->fail(items[i].call, call_outcome::may_have_run, why);
  }
}

void actor::settle_anywhere(pending& one) {
  attempt_anywhere(one.call, [&] {
    the_oracle->settle(one.call, one.result.get(), one.expected);
    if (one.on_device) the_oracle->expect_parts_ended(one.call);
  });
}

}  // namespace ham::sim
