// Which step is taken, and what happens to nodes.
#include "sim/actor.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace ham::inline v1::sim {

/// In a job without devices and supervision those that there were before there were any, and before there were others:
/// its steps stay the same.
step actor::any_step() {
  constexpr auto others = static_cast<unsigned>(step::device);
  constexpr unsigned times_more = 6;
  constexpr std::array everywhere{step::sender,        step::sender,        step::sender,        step::spawn,
                                  step::barrier,       step::barrier,       step::broadcast,     step::broadcast,
                                  step::kill_call,     step::stop_transfer, step::stop_transfer, step::stop_transfer,
                                  step::stop_retry,    step::stop_retry,    step::work_queue,    step::std_future,
                                  step::graph_replay,  step::graph_replay,  step::graph_data,    step::graph_data,
                                  step::deadline_seen, step::deadline_seen, step::pinned};
  constexpr std::array with_device{step::device_part, step::device_part, step::device_part,  step::device_copy,
                                   step::device_copy, step::device_copy, step::device_print, step::watchdog};
  const bool with_devices = has_devices(plan_);
  const bool has_all = has_all_verbs(plan_);
  const unsigned most = others + (with_devices || is_supervised(plan_) ? times_more : 0);
  const unsigned later = has_all ? everywhere.size() + (with_devices ? with_device.size() : 0) : 0;
  const std::uint64_t any = random_.below(most + later);
  if (any < others) return static_cast<step>(any);
  if (any < most) return with_devices ? step::device : step::supervise;
  const std::uint64_t which = any - most;
  return which < everywhere.size() ? everywhere[which] : with_device[which - everywhere.size()];
}

void actor::take(step kind, int number, random_source random) {
  if (plan_.verbose) {
    const std::string_view name = name_of(kind);
    std::fprintf(stderr, "%.6f thread %d, step %d: %.*s\n", static_cast<double>(running->now_ns()) / 1e9, number_,
                 number, static_cast<int>(name.size()), name.data());
  }
  running->note(static_cast<std::uint64_t>(number) << 8U | static_cast<unsigned>(kind));
  running->note_progress();
  switch (kind) {
    case step::sync:
    case step::async:
    case step::deadline:
    case step::throwing:
    case step::abandon: call(kind, random); break;
    case step::ping: ping(random); break;
    case step::batch: batch(random); break;
    case step::context: queue(random); break;
    case step::nested: nested(random); break;
    case step::long_message: long_message(random); break;
    case step::then: then(random); break;
    case step::try_call: try_call(random); break;
    case step::join: join(random); break;
    case step::stream: stream(random); break;
    case step::ask: ask(random); break;
    case step::pooled: pooled_call(random); break;
    case step::transfer: transfer(random); break;
    case step::block: block(random); break;
    case step::object: object(random); break;
    case step::cancel: cancel(random); break;
    case step::then_call: then_call(random); break;
    case step::pool: pool(random); break;
    case step::event_loop: event_loop(random); break;
    case step::group: group(random); break;
    case step::graph: graph(random); break;
    case step::device: device(random); break;
    case step::supervise: supervise(random); break;
    case step::sender: sender(random); break;
    case step::spawn: spawn(random); break;
    case step::device_part: device_part(random); break;
    case step::device_copy: device_copy(random); break;
    case step::device_print: device_print(random); break;
    case step::watchdog: watchdog(random); break;
    case step::barrier: barrier(random); break;
    case step::broadcast: broadcast(random); break;
    case step::kill_call: kill_call(random); break;
    case step::stop_transfer: stop_transfer(random); break;
    case step::stop_retry: stop_retry(random); break;
    case step::work_queue: work_queue(random); break;
    case step::std_future: std_future(random); break;
    case step::graph_replay: replay(random); break;
    case step::graph_data: data_in_graph(random); break;
    case step::deadline_seen: deadline_seen(random); break;
    case step::pinned: pinned(random); break;
    case step::restart:
    case step::events: break;  // the job decides
    case step::add_node:
    case step::remove_node: member(kind, random); break;
    case step::stop:
    case step::cut:
    case step::kill:
    case step::kill_host: fault(kind, random); break;
  }
  settle_some(random);
}

void actor::member(step kind, random_source& random) {
  constexpr std::size_t max_nodes = 9;
  if (number_ % max_threads != 0 || over_ == medium::loopback || !random.once_in(3)) return;
  if (kind == step::add_node) {
    faults_.any_added = true;
    if (nodes_.size() == max_nodes) return;
    try {
      nodes_.push_back(offload::add_node(std::string(name_of(over_)) + ":1"));
    } catch (const config_error&) {  // its process may have been taken for that of a restart, which was to die
      if (!is_supervised(plan_)) throw;
    }
    return;
  }
  if (nodes_.size() < 3) return;
  const node_t gone = any_target(random);
  std::erase(nodes_, gone);
  faults_.may_be_lost.insert(gone);
  faults_.any = true;
  the_oracle->numbers.release(gone);
  offload::remove_node(gone);
}

/// Targets of another program, which is the same one here.
void actor::spawn(random_source& random) {
  constexpr std::size_t max_nodes = 9;
  if (number_ % max_threads != 0 || over_ == medium::loopback || !random.once_in(3) || nodes_.size() == max_nodes)
    return;
  faults_.any_added = true;
  const std::size_t fresh = nodes_.size() + 2 <= max_nodes && random.once_in(3) ? 2 : 1;
  try {
    const node_t first = offload::spawn(std::string(name_of(over_)) + ":" + std::to_string(fresh), "another");
    for (std::size_t i = 0; i < fresh; ++i) nodes_.push_back(first + static_cast<node_t>(i));
  } catch (const config_error&) {  // as add-node
    if (!is_supervised(plan_)) throw;
  }
}

void actor::fault(step kind, random_source& random) {
  if (is_supervised(plan_) && kind != step::kill_host) {
    fault_of_supervised(kind, random);
    return;
  }
  if (number_ % max_threads != 0 || over_ == medium::loopback || !random.once_in(kind == step::stop ? 2 : 8)) return;
  const node_t node = any_target(random);
  switch (kind) {
    case step::stop: running->stop(world_.process_of(node), static_cast<std::int64_t>(random.below(5'000'000))); return;
    case step::cut: {
      const node_t other = any_node(random);
      if (other == node) return;
      faults_.any = true;
      if (other == 0) {
        faults_.may_be_lost.insert(node);
        if (nodes_.size() > 2) std::erase(nodes_, node);
      }
      world_.net().cut(node, other);
      return;
    }
    case step::kill:
      faults_.any = true;
      if (faults_.may_be_lost.insert(node).second && random.once_in(2))
        kill_behind_answer(node);
      else
        running->kill_after(world_.process_of(node), random.below(400));
      if (nodes_.size() > 2 && random.once_in(2)) std::erase(nodes_, node);
      return;
    default:
      if (random.once_in(8)) running->kill_after(world_.process_of(0), random.below(2000));
      return;
  }
}

/// The node dies when its answer has left, and before it can wake this one for it: the answer counts.
void actor::kill_behind_answer(node_t node) {
  const call_number call = the_oracle->issue(node, stream_to(node));
  const bool done = attempt(call, false, [&] {
    the_oracle->settle(call, offload::sync(node, fn<&answer_and_die>, call), last_answer_of(call));
  });
  if (!done && world_.has_answered(node))
    running->fail(the_oracle->describe(call) + " fails, though it was answered before its node died");
}

/// What this node knows of others.
void actor::ask(random_source& random) {
  const node_t node = any_node(random);
  if (offload::num_nodes() < 2) running->fail("the job has fewer than two nodes");
  if (!offload::alive(node)) {
    expect_lost(node, "it is not alive");
    return;
  }
  use(node, [&] {
    const node_t described = offload::get_node_descriptor(node).node();  // that of its process
    const bool is_its = described == node || offload::number_of(described) == node;
    if (!is_its && the_oracle->numbers.supervises(node))  // else it is being removed, and its number forgotten
      running->fail("a node's descriptor is that of another");
  });
  const offload::statistics before = offload::stats();
  const call_number call = the_oracle->issue(node, stream_to(node));
  const bool done = attempt(call, false, [&] {
    the_oracle->settle(call, offload::sync(node, fn<&work>, call, std::int64_t{8}, std::int64_t{0}),
                       result_of(call, 8));
  });
  if (done && offload::stats().calls_sent <= before.calls_sent) running->fail("a call was not counted");
}

}  // namespace ham::sim
