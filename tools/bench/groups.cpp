// ham-bench groups: one call for 1 to 256 targets along the tree, beside one call to each of them by the host.
#include "benchmarks.hpp"

#include <ham/offload/group.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr int max_targets_measured = 256;
constexpr int bar_targets = 128;

void group_task() {}
std::uint64_t one_of_group() { return 1; }
std::uint64_t sent_by_this_node() { return offload::stats().calls_sent; }

/// By the shape of the library's tree: what comes one after the other until the last node has the message.
struct path {
  double levels;    ///< messages from node to node
  double messages;  ///< the same, with those that each node on the way sends before
};

/// Of a part of `nodes` nodes, below its first one.
path critical_path(std::size_t nodes) {
  path longest{0, 0};
  const std::size_t rest = nodes - 1;
  for (std::size_t i = 0; i < detail::group_parts(rest); ++i) {
    const path below = critical_path(detail::group_part_size(rest, i));
    longest.levels = std::max(longest.levels, below.levels + 1);
    longest.messages = std::max(longest.messages, below.messages + static_cast<double>(i + 1));
  }
  return longest;
}

template <class Action>
block_times time_per_call(Action action, int calls) {
  const std::int64_t begin = now_ns();
  for (int i = 0; i < calls; ++i) action();
  return {static_cast<double>(now_ns() - begin) / calls, {}};
}

void call_each(const offload::group& all) {
  std::vector<offload::future<void>> calls;
  calls.reserve(all.size());
  for (const node_t node : all.nodes()) calls.push_back(offload::async(node, fn<&group_task>));
  for (auto& one : calls) one.get();
}

/// Messages of one call: of the host, and the most that a target has sent.
struct counted {
  std::uint64_t by_host;
  std::uint64_t by_target;
};
counted count_messages(const offload::group& all) {
  const auto before = offload::sync_all(all, fn<&sent_by_this_node>);
  const std::uint64_t host = offload::stats().calls_sent;
  offload::sync_all(all, fn<&group_task>);
  const std::uint64_t by_host = offload::stats().calls_sent - host;
  const auto after = offload::sync_all(all, fn<&sent_by_this_node>);
  std::uint64_t most = 0;
  // Of two calls, which go the same way: the one, and the one that asks.
  for (std::size_t at = 0; at < after.size(); ++at) most = std::max(most, (after[at] - before[at]) / 2);
  return {by_host, most};
}

}  // namespace

report run_groups(const settings& how) {
  report result{"groups", {}, {}, {}};
  table found{"one call for all targets of a group, beside an async to each",
              {"targets", "levels (computed)", "messages in a row (computed)", "by the host", "most by a target"},
              {}};
  for (const char* name : {"async_all", "async to each", "reduce_all"}) {
    add_median_columns(found.columns, name, "us");
  }
  counted at_bar{0, 0};
  double path_of_one = 0;
  double path_of_most = 0;
  const int most = how.max_targets > 0 ? std::min(how.max_targets, max_targets_measured) : max_targets_measured;
  for (int targets = 1; targets <= most; targets *= 2) {
    const auto job = start_job(how, targets, pinning::by_default);
    const offload::group all;
    offload::sync_all(all, fn<&group_task>);  // connects
    const counted sent = count_messages(all);
    if (targets == bar_targets) at_bar = sent;
    const int calls = std::max(2, 512 / targets);
    paired_rounds rounds;
    std::vector<double> reduced_ns;
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(
          rounds, round, [&] { return time_per_call([&] { call_each(all); }, calls); },
          [&] { return time_per_call([&] { offload::sync_all(all, fn<&group_task>); }, calls); });
      const auto reduced = time_per_call(
          [&] { static_cast<void>(offload::reduce_all(all, fn<&one_of_group>, std::plus<>()).get()); }, calls);
      reduced_ns.push_back(reduced.typical_ns);
    }
    const path longest = critical_path(static_cast<std::size_t>(targets) + 1);
    if (targets == 1) path_of_one = longest.messages;
    path_of_most = longest.messages;
    auto& row = found.rows.emplace_back();
    row.insert(row.end(), {{static_cast<double>(targets), 0},
                           {longest.levels, 0},
                           {longest.messages, 0},
                           {static_cast<double>(sent.by_host), 0},
                           {static_cast<double>(sent.by_target), 0}});
    for (const auto& times_ns : {rounds.measured, rounds.floor, reduced_ns}) add_median(row, times_ns, 1000, 2);
  }
  result.tables.push_back(std::move(found));
  if (most >= bar_targets) {
    result.bars.push_back(
        {"messages of the host, 128 targets", static_cast<double>(at_bar.by_host), bar::direction::at_most, 8, ""});
    result.bars.push_back({"most messages of one target, 128 targets", static_cast<double>(at_bar.by_target),
                           bar::direction::at_most, 8, ""});
  }
  // Logarithmic: no more than so many messages in a row more for each doubling.
  if (most > 1) {
    result.bars.push_back({"messages in a row that a doubling of the targets adds (computed)",
                           (path_of_most - path_of_one) / std::log2(most), bar::direction::at_most, 3, ""});
  }
  result.remarks.emplace_back(
      "times need a core for each target; with fewer, targets take turns, and any way to call "
      "them takes time proportional to their number. Messages do not depend on that: those by the host and by a target "
      "are counted, levels and messages in a row computed from the shape of the tree");
  return result;
}

}  // namespace ham::bench
