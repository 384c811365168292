// Stages of a part that the device of its node executes one after the other, without the host in between.
#include <algorithm>
#include <atomic>
#include <vector>

#include "runtime/device_chain.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_frame.hpp"
#include "runtime/graph_part.hpp"

namespace ham::inline v1::detail {

using offload::detail::graph_argument;
using offload::detail::no_stage;

namespace {

constexpr std::size_t max_steps = 64;  // each takes at least 16 bytes of the 1000 that a chain has

/// Whether a chain may go on behind it, which has all that waits for it then.
bool goes_on(const offload::detail::part_stage& stage) noexcept { return stage.next.size() < max_steps; }

}  // namespace

/// Of those that a chain might have: how many it has so that all but the last one give their results to calls of the
/// chain only. What others wait for ends a chain.
std::size_t graph_part::closed(const std::vector<stage_run*>& chain, std::size_t count) noexcept {
  std::size_t most = std::min<std::size_t>(count, 1);
  std::size_t furthest = 0;  // that one of those before waits in
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (!chain[i]->what->targets.empty()) break;
    for (const std::uint32_t next : chain[i]->what->next) {
      const auto found = std::ranges::find(chain, next, &stage_run::number);
      furthest = std::max(furthest, static_cast<std::size_t>(found - chain.begin()));
    }
    if (furthest >= count) break;
    if (furthest <= i + 1) most = i + 2;
  }
  return most;
}

/// The stage, and what may begin behind it on the device when nothing else ends meanwhile. Stages of a repeat begin
/// anew with each iteration, and others do not: a chain has none of both.
std::vector<graph_part::stage_run*> graph_part::find_chain(stage_run& first) const {
  std::vector<stage_run*> chain{&first};
  frame& in = *first.in;
  const auto waits_for = [&](std::uint32_t stage) {
    return static_cast<std::uint32_t>(std::ranges::count_if(chain, [stage](const stage_run* one) {
      return goes_on(*one->what) && std::ranges::find(one->what->next, stage) != one->what->next.end();
    }));
  };
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!goes_on(*chain[i]->what)) continue;
    for (const std::uint32_t next : chain[i]->what->next) {
      if (chain.size() == max_steps) break;
      stage_run& one = in.stages[next];
      if (!on_device_[next].load(std::memory_order_relaxed) || std::ranges::find(chain, &one) != chain.end()) continue;
      const bool fits = (one.what->needs_again == 0) == (first.what->needs_again == 0) &&
                        one.pending.load(std::memory_order_acquire) == waits_for(next);
      if (fits) chain.push_back(&one);
    }
  }
  chain.resize(closed(chain, chain.size()));
  return chain;
}

/// Adds the stage at `place`. False: it cannot be part of the chain.
bool graph_part::add_to(device_chain& to, const std::vector<stage_run*>& chain, std::size_t place) const {
  const stage_run& stage = *chain[place];
  std::vector<std::byte> payload;
  std::vector<device_chain::use> uses;
  for (std::size_t i = 0; i < stage.what->sources.size(); ++i) {
    const graph_argument& from = stage.what->sources[i];
    const auto end = chain.begin() + static_cast<std::ptrdiff_t>(place);
    const auto maker = std::ranges::find(chain.begin(), end, from.value, &stage_run::number);
    if (from.value == no_stage || maker == end) {
      const std::span<const std::byte> value = source(*stage.in, stage.number, i);
      payload.insert(payload.end(), value.begin(), value.end());
    } else {
      uses.push_back({i, static_cast<std::size_t>(maker - chain.begin())});
      payload.resize(payload.size() + to.result_size(uses.back().from));
    }
  }
  const msg::handler_entry* const function = msg::handler_table::local().find(stage.what->key);
  if (function == nullptr || function->kind != msg::handler_kind::call) return false;
  incoming_call call{&at_, &at_.own, payload, stage.what->number, function};
  call.sink = chain[place];
  return to.add(call, uses);
}

/// Makes a chain of at least two stages, the first of which is about to begin: the others do not wait any more. Gives
/// the last one, which ends for all of them; nullptr: there is no chain.
graph_part::stage_run* graph_part::make_chain(stage_run& first, device_chain& chain) const {
  const std::vector<stage_run*> stages = find_chain(first);
  std::size_t count = 0;
  while (count < stages.size() && add_to(chain, stages, count)) ++count;
  count = closed(stages, count);
  for (std::size_t i = 1; i < count; ++i) {  // a peer that tells the same twice may have begun one of them
    std::uint32_t left = stages[i]->pending.load(std::memory_order_relaxed);
    if (left == 0 || !stages[i]->pending.compare_exchange_strong(left, stages[i]->what->needs_again,
                                                                 std::memory_order_acq_rel, std::memory_order_relaxed))
      count = i;
  }
  if (closed(stages, count) != count) throw protocol_error("a stage of a graph that began before what it waits for");
  if (count < 2) return nullptr;
  chain.cut(count);
  stage_run* const last = stages[count - 1];
  for (std::size_t i = 0; i < count; ++i) stages[i]->chain_end = last;
  return last;
}

}  // namespace ham::detail
