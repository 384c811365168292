// Steps whose functions, and what those call, see the deadline of their call.
#include <chrono>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

/// Some would be late, others have time for all of it.
std::int64_t any_limit(random_source& random) {
  return static_cast<std::int64_t>(random.once_in(3) ? 1 + random.below(400'000)
                                                     : 1'000'000 + random.below(20'000'000));
}

/// What a function sees that is called now, or a little later, with so much time. 0: no deadline.
deadline_bounds bounds_of(std::int64_t limit_ns) {
  return limit_ns == 0 ? deadline_bounds{} : deadline_bounds{base::now_ns() + limit_ns, limit_ns};
}

}  // namespace

void actor::deadline_seen(random_source& random) {
  switch (random.below(4)) {
    case 0: deadline_of_group(random); break;
    case 1: deadline_of_replay(random); break;
    default: deadline_of_call(random); break;
  }
}

/// To a node or a context, and from there on; each may have less time than the one before, or none of its deadline.
void actor::deadline_of_call(random_source& random) {
  const bool in_context = !contexts_.empty() && random.once_in(4);
  remote_queue* const queue = in_context ? &contexts_[random.below(contexts_.size())] : nullptr;
  const node_t node = in_context ? queue->queue.node() : any_node(random);
  const call_number call =
      in_context ? the_oracle->issue_on(node, queue->stream) : the_oracle->issue(node, stream_to(node));
  const std::int64_t limit_ns = random.once_in(4) ? 0 : any_limit(random);
  std::vector<deadline_hop> route(random.below(4));
  bool is_limited = limit_ns != 0;
  for (deadline_hop& hop : route) {
    hop.to = any_node(random);
    hop.own_ns = random.once_in(3) ? any_limit(random) : 0;
    hop.shielded = random.once_in(5) ? 1 : 0;
    is_limited = is_limited || hop.own_ns != 0;
    hop.call = the_oracle->issue(hop.to);
    the_oracle->set_nested(hop.call);
    the_oracle->allow_late(hop.call);
  }
  const bool awaits_it = random.once_in(3);
  may_be_late_ = limit_ns != 0;
  if (may_be_late_) the_oracle->allow_late(call);
  attempt(call, !route.empty(), [&] {
    const offload::destination where = in_context ? offload::destination(queue->queue) : offload::destination(node);
    const deadline_bounds given = bounds_of(limit_ns);
    const std::int64_t hops = offload::sync(limit_ns != 0 ? offload::within(where, std::chrono::nanoseconds(limit_ns))
                                            : random.once_in(2) ? offload::stoppable(where)
                                                                : where,
                                            fn<&see_deadline>, call, given, route, awaits_it);
    the_oracle->settle(call);
    if (hops != static_cast<std::int64_t>(route.size()) && !(hops < 0 && is_limited))
      running->fail(the_oracle->describe(call) + " ends before its time");
  });
  may_be_late_ = false;
}

/// Along the tree.
void actor::deadline_of_group(random_source& random) {
  known_group& to = any_group(random);
  group_call one;
  one.nodes = to.all.nodes();
  const std::int64_t limit_ns = random.once_in(4) ? 0 : any_limit(random);
  one.has_deadline = limit_ns != 0;
  one.polls = true;  // so that no result is expected
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    const call_number call = the_oracle->issue(one.nodes[i], to.streams[i]);
    if (i == 0) one.first = call;
    the_oracle->set_nested(call);
    if (one.has_deadline) the_oracle->allow_late(call);
  }
  const deadline_bounds given = bounds_of(limit_ns);
  one.results = offload::async_all(one.has_deadline ? offload::within(to.all, std::chrono::nanoseconds(limit_ns))
                                                    : offload::group_destination(to.all),
                                   fn<&see_deadline_of_member>, one.first, given, random.once_in(3));
  settle(one);
}

/// Stages of several nodes, of which only the first ones are told by the host.
void actor::deadline_of_replay(random_source& random) {
  std::vector<node_t> nodes(1 + random.below(4));
  for (node_t& node : nodes) node = any_node(random);
  std::optional<offload::compiled_graph<std::int64_t, call_number, deadline_bounds>> replay;
  const bool known = try_to_compile([&] {
    offload::graph recorded;
    const auto first = recorded.input<call_number>();
    const auto given = recorded.input<deadline_bounds>();
    std::optional<offload::graph_value<std::int64_t>> last;
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
      last = last ? recorded.call(nodes[i], fn<&see_deadline_of_stage>, first, i, given, *last)
                  : recorded.call(nodes[i], fn<&see_deadline_of_stage>, first, i, given, std::int64_t{0});
    replay.emplace(recorded.compile(*last, offload::graph_options{1}, first, given));
  });
  for (std::uint64_t rounds = 1 + random.below(3); known && rounds != 0; --rounds) {
    const std::int64_t limit_ns = random.once_in(4) ? 0 : any_limit(random);
    const bool is_stoppable = random.once_in(2);
    const call_number first = issue_stages(nodes);
    const deadline_bounds given = bounds_of(limit_ns);
    try {
      auto result = limit_ns != 0  ? replay->within(std::chrono::nanoseconds(limit_ns))(first, given)
                    : is_stoppable ? replay->stoppable()(first, given)
                                   : (*replay)(first, given);
      const std::int64_t stages = result.get();
      for (std::size_t i = 0; i < nodes.size(); ++i)
        the_oracle->settle(first + static_cast<call_number>(i), stages, static_cast<std::int64_t>(nodes.size()));
    } catch (...) {
      static_cast<void>(expect_stages_failed(first, nodes.size(), {limit_ns != 0, false}, std::current_exception()));
    }
  }
}

}  // namespace ham::sim
