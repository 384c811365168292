// Steps in which device functions are parts of something: stages, members, tasks; and copies between devices, what they
// print, and the watchdog.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/offload/stop.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

/// Values on two nodes with devices, and what they must be.
struct two_memories {
  buffer_ptr<std::int32_t> at[2];
  std::vector<std::int32_t> model[2];
};

/// Copies of parts of them that do not overlap, all at once, in both directions.
void copy_both_ways(two_memories& of, random_source& random) {
  const std::size_t parts = 1 + random.below(6);
  const std::size_t count = of.model[0].size() / parts;
  std::vector<offload::future<void>> copies;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * count;
    const std::size_t from = random.below(2);
    copies.push_back(offload::copy(of.at[from] + begin, of.at[1 - from] + begin, count));
    std::copy_n(of.model[from].begin() + static_cast<std::ptrdiff_t>(begin), count,
                of.model[1 - from].begin() + static_cast<std::ptrdiff_t>(begin));
  }
  for (auto& one : copies) one.wait();  // so that none is under way when another one has failed
  for (auto& one : copies) one.get();
}

/// Values that the one device, or the host, writes where the next copy reads.
void write_values(two_memories& of, random_source& random) {
  const std::size_t which = random.below(2);
  const node_t node = of.at[which].node();
  const std::uint64_t count = of.model[which].size();
  const auto first = static_cast<std::int32_t>(random.below(1'000'000));
  if (random.once_in(2)) {
    of.model[which] = any_values(count, random);
    offload::put(of.model[which].data(), of.at[which], count).get();
    return;
  }
  const call_number call = the_oracle->issue(node);
  try {
    the_oracle->settle(call, offload::sync(node, fn<&device_fill>, call, of.at[which], count, first),
                       static_cast<std::int64_t>(count));
  } catch (const node_failure& lost) {
    the_oracle->fail(call, lost.outcome(), lost.what());
    throw;
  }
  for (std::size_t i = 0; i < count; ++i) of.model[which][i] = first + static_cast<std::int32_t>(i);
}

void expect_values(const two_memories& of) {
  for (int which = 0; which < 2; ++which) {
    std::vector<std::int32_t> values(of.model[which].size());
    offload::get(of.at[which], values.data(), values.size()).get();
    if (values != of.model[which])
      running->fail("memory of the device of node " + std::to_string(of.at[which].node()) +
                    " holds other bytes than were copied there");
  }
}

}  // namespace

/// Device functions as stages of graphs, members of groups, tasks and maps of pools.
void actor::device_part(random_source& random) {
  switch (random.below(3)) {
    case 0: graph(random, true); break;
    case 1: group(random, true); break;
    default: pool(random, true); break;
  }
}

/// The first copies between two nodes go in messages; when their kernels have left, the devices copy by themselves.
void actor::device_copy(random_source& random) {
  std::vector<node_t> some;
  for (const node_t node : nodes_) {
    if (world_.has_device(node)) some.push_back(node);
  }
  if (some.size() < 2) return;
  const std::size_t one = random.below(some.size());
  std::swap(some[0], some[one]);
  std::swap(some[1], some[1 + random.below(some.size() - 1)]);
  const std::size_t count = random.once_in(4) ? 20'000 : 1 + random.below(600);
  two_memories both;
  const std::uint64_t rounds = 1 + random.below(6);
  try {
    for (int which = 0; which < 2; ++which) {
      both.at[which] = offload::allocate<std::int32_t>(some[static_cast<std::size_t>(which)], count);
      both.model[which] = any_values(count, random);
      offload::put(both.model[which].data(), both.at[which], count).get();
    }
    for (std::uint64_t i = 0; i < rounds; ++i) {
      copy_both_ways(both, random);
      if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(8'000'000)));
      if (random.once_in(2)) write_values(both, random);
      if (random.once_in(4)) expect_values(both);
    }
    copy_both_ways(both, random);
    expect_values(both);
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node is lost to a copy without a reason: ") + lost.what());
  } catch (const call_error& refused) {  // a target may hear of a new one later than of a copy from it
    if (!faults_.any && !faults_.any_added)
      running->fail(std::string("a copy between devices is refused without a reason: ") + refused.what());
  }
  for (const auto& at : both.at) {
    if (at.node() > 0) use(at.node(), [&] { offload::free(at); });
  }
}

/// Lines are there when a call is answered that the function has made behind them.
void actor::device_print(random_source& random) {
  const node_t node = device_node(random);
  const node_t to = random.once_in(2) ? 0 : any_node(random);
  const auto lines = static_cast<std::uint32_t>(1 + random.below(random.once_in(6) ? 100 : 8));
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  const call_number last = the_oracle->issue(to);
  the_oracle->set_nested(last);
  attempt(call, true, [&] {
    const std::int64_t value = offload::sync(node, fn<&sim::device_print>, call, to, last, lines);
    the_oracle->settle(call);
    the_oracle->expect_printed(call, lines);
    if (value != unreachable) {
      the_oracle->settle(last, value, result_of(last, 2));
      return;
    }
    if (!faults_.any && !faults_.any_added)
      running->fail("node " + std::to_string(to) + " is lost to a device without a reason");
    the_oracle->fail(last, call_outcome::may_have_run, "its device was told that it has failed");
  });
}

void actor::watchdog(random_source& random) {
  const node_t node = device_node(random);
  if (!world_.has_device(node)) return;
  if (!random.once_in(4))
    stop_behind_another(node, random);
  else if (number_ % max_threads == 0 && plan_.has(step::kill))
    hang_on_device(node, random);
}

/// Functions that heed a stop, which comes long before they can begin: that is no reason to end their process.
void actor::stop_behind_another(node_t node, random_source& random) {
  constexpr std::int64_t long_ns = 2'500'000'000;  // more than a function has that is to stop
  const call_number before = the_oracle->issue(node, device_stream_to(node));
  const bool of_grid = random.once_in(2);
  if (!attempt(before, false, [&] {
        pending_.push_back({of_grid ? offload::async(node, fn<&device_work_of_grid>, before, std::int64_t{5}, long_ns)
                                    : offload::async(node, fn<&device_work>, before, std::int64_t{5}, long_ns),
                            before, result_of(before, 5)});
        pending_.back().on_device = true;
      }))
    return;
  stop_on_device(node, random);
}

/// It is to stop, and does not: its process ends.
void actor::hang_on_device(node_t node, random_source& random) {
  faults_.any = true;
  faults_.may_be_lost.insert(node);
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  the_oracle->allow_late(call);
  attempt(call, false, [&] {
    auto result = offload::async(offload::stoppable(node), fn<&device_hang>, call);
    if (!random.once_in(4)) base::sleep_ns(static_cast<std::int64_t>(random.below(3'000'000)));
    result.request_stop();
    try {
      static_cast<void>(result.get());
      running->fail(the_oracle->describe(call) + " does not stop, and nobody has ended its process");
    } catch (const operation_cancelled& stopped) {
      the_oracle->fail(call, stopped.outcome(), stopped.what());
      if (stopped.outcome() != call_outcome::not_run)
        running->fail(the_oracle->describe(call) + " is told to have stopped, which it never does");
    }
  });
  if (nodes_.size() > 2 && random.once_in(2)) std::erase(nodes_, node);
}

}  // namespace ham::sim
