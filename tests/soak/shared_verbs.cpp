// Calls for several nodes: pools, whose nodes share work, and groups, which are called together.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/group.hpp"
#include "ham/offload/pool.hpp"
#include "soak/verbs.hpp"

namespace soak {
namespace {

offload::pool make_pool(worker& self) { return offload::pool(self.all_nodes(), {.per_node = self.below(33)}); }

/// Of all nodes, in another order each time.
offload::group any_group(worker& self) {
  std::vector<node_t> nodes = self.all_nodes();
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[self.below(i)]);
  return offload::group(std::move(nodes));
}

std::vector<stamp> claim_for(worker& self, const offload::group& all) {
  std::vector<stamp> made;
  for (std::size_t i = 0; i < all.size(); ++i) made.push_back(self.claim());
  return made;
}

void take_failure(worker& self, stamp made, node_t node, const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& lost) {
    self.lost(made, node, lost);
  }
}

}  // namespace

/// Tasks that may be repeated go on elsewhere when their node is lost; the first seat stays.
void pool_verb(worker& self) {
  offload::pool workers = make_pool(self);
  struct task {
    stamp made;
    std::uint64_t number;
    bool repeats;
    offload::future<std::uint64_t> result;
  };
  std::vector<task> tasks;
  const std::uint64_t count = 1 + self.below(100);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool repeats = self.below(2) == 0;
    const stamp made = self.claim(repeats ? runs::any_number : runs::no_more_than_once);
    const std::uint64_t number = self.random();
    if (self.below(4) == 0) {
      auto started =
          repeats ? workers.try_async(idempotent(fn<&work>), made, number) : workers.try_async(fn<&work>, made, number);
      if (started)
        tasks.push_back({made, number, repeats, std::move(*started)});
      else
        self.expect(made, runs::never);
      continue;
    }
    tasks.push_back(
        {made, number, repeats,
         repeats ? workers.async(idempotent(fn<&work>), made, number) : workers.async(fn<&work>, made, number)});
  }
  for (task& one : tasks) {
    try {
      const std::uint64_t value = one.result.get();
      self.expect(one.made, one.repeats ? runs::at_least_once : runs::once);
      if (value != mixed(one.number)) report("the result of a task of a pool is wrong");
    } catch (const node_failure& why) {
      if (one.repeats)
        report(std::string("a task that may be repeated is lost with its node: ") + why.what());
      else
        self.lost(one.made, why.node(), why);
    }
  }
}

/// Results as they come, for each element once.
void map_verb(worker& self) {
  offload::pool workers = make_pool(self);
  const bool repeats = self.below(2) == 0;
  std::vector<map_item> items(self.below(300));
  for (map_item& one : items) one = {self.claim(repeats ? runs::any_number : runs::no_more_than_once), self.random()};
  std::vector<unsigned> results(items.size());
  const auto sink = [&](std::size_t at, std::uint64_t value) {
    ++results[at];
    self.expect(items[at].call, repeats ? runs::at_least_once : runs::once);
    if (value != mixed(items[at].number)) report("a result of a map is wrong");
  };
  const offload::map_options how{.chunk = self.below(20)};
  bool lost = false;
  try {
    if (repeats)
      workers.map(items, idempotent(fn<&work_item>), sink, how);
    else
      workers.map(items, fn<&work_item>, sink, how);
  } catch (const node_failure& why) {
    lost = true;
    if (repeats)
      report(std::string("a map that may be repeated fails with a node: ") + why.what());
    else
      self.lost(stamp{}, -2, why);
  }
  for (const unsigned one : results)
    if (one > 1 || (one == 0 && !lost)) report("a map gives " + std::to_string(one) + " results of an element");
}

/// A result or an error of each node; then a barrier, behind which all calls of this thread to the group have ended.
void group_verb(worker& self) {
  const offload::group all = any_group(self);
  const std::vector<stamp> made = claim_for(self, all);
  const std::uint64_t number = self.random();
  const auto results = offload::async_all(all, fn<&work_of_member>, made, number).get();
  if (results.nodes() != all.nodes()) report("the results of a group are those of other nodes");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const node_t node = all.nodes()[i];
    if (!results.ok(i)) {
      take_failure(self, made[i], node, results.error(i));
      continue;
    }
    self.expect(made[i], runs::once);
    if (results.value(i) != mixed(number + i)) self.wrong(node, "the result of a member is wrong");
  }
  const std::vector<stamp> before = claim_for(self, all);
  auto left = offload::async_all(all, fn<&work_of_member>, before, number);
  const auto passed = offload::barrier(all).get();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (passed.ok(i) && !self.gone(all.nodes()[i]))
      self.expect(before[i], runs::once);
    else if (!passed.ok(i))
      take_failure(self, stamp{}, all.nodes()[i], passed.error(i));
  }
  static_cast<void>(left.get());

  // Stopped as one: each has seen it, or does not begin.
  const std::vector<stamp> stopped = claim_for(self, all);
  auto until = offload::async_all(offload::stoppable(all), fn<&member_until_stopped>, stopped, number);
  until.request_stop();
  const auto ends = until.get();
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      if (ends.ok(i)) {
        self.expect(stopped[i], runs::once);
        if (ends.value(i) != mixed(number)) self.wrong(all.nodes()[i], "the result of a stopped member is wrong");
        continue;
      }
      std::rethrow_exception(ends.error(i));
    } catch (const operation_cancelled&) {
      self.expect(stopped[i], runs::never);
    } catch (const node_failure& why) {
      self.lost(stopped[i], all.nodes()[i], why);
    }
  }
}

/// In the order of the group.
void reduction_verb(worker& self) {
  const offload::group all = any_group(self);
  const std::vector<stamp> made = claim_for(self, all);
  const std::uint64_t number = self.random();
  std::string wanted;
  for (std::size_t i = 0; i < all.size(); ++i) wanted += member_text(i, number);
  try {
    const joined_text found = offload::reduce_all(all, fn<&text_of_member>, fn<&join>, made, number).get();
    for (const stamp one : made) self.expect(one, runs::once);
    if (found.text != wanted) report("a reduction gives " + found.text + ", not " + wanted);
  } catch (const offload::group_error& why) {
    for (const offload::group_failure& one : why.failures()) {
      const auto at = std::find(all.nodes().begin(), all.nodes().end(), one.node) - all.nodes().begin();
      take_failure(self, made[static_cast<std::size_t>(at)], one.node, one.error);
    }
  }
}

/// Memory on all nodes, the same bytes everywhere; longer ones in several messages.
void broadcast_verb(worker& self) {
  const offload::group all = any_group(self);
  const bytes sent = pattern(self.random(), 1 + self.below(self.below(4) == 0 ? 1U << 19U : 1U << 12U));
  std::vector<offload::buffer_ptr<std::uint8_t>> there;
  try {
    there = offload::allocate_all<std::uint8_t>(all, sent.size());
  } catch (const offload::group_error& why) {
    for (const offload::group_failure& one : why.failures()) take_failure(self, stamp{}, one.node, one.error);
    return;
  }
  const auto results = offload::broadcast(sent, there).get();
  self.count_calls(3 * all.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    const node_t node = there[i].node();
    try {
      if (!results.ok(i)) {
        take_failure(self, stamp{}, node, results.error(i));
      } else {
        const stamp call = self.claim();
        self.take(offload::async(node, fn<&checksum_of>, call, offload::buffer_ptr<const std::uint8_t>(there[i]),
                                 sent.size()),
                  call, node, checksum(sent.data(), sent.size()));
      }
      offload::free(there[i]);
    } catch (const node_failure& why) {
      self.lost(stamp{}, node, why);
    }
  }
}

}  // namespace soak
