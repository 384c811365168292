// Steps that call device functions, most of them on nodes with devices.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

/// A call by threads of any scope.
offload::future<std::int64_t> async_work(const offload::destination& to, call_number call, std::int64_t value,
                                         std::int64_t takes, device::scope by) {
  switch (by) {
    case device::scope::warp: return offload::async(to, fn<&device_work_of_warp>, call, value, takes);
    case device::scope::block: return offload::async(to, fn<&device_work_of_block>, call, value, takes);
    case device::scope::grid: return offload::async(to, fn<&device_work_of_grid>, call, value, takes);
    case device::scope::thread: break;
  }
  return offload::async(to, fn<&device_work>, call, value, takes);
}

device::scope any_scope(random_source& random) {
  using device::scope;
  return std::array{scope::thread, scope::thread, scope::warp, scope::block, scope::grid}[random.below(5)];
}

/// So many calls, now and then more than the queue of a block holds.
std::uint64_t any_count(random_source& random) { return 1 + random.below(random.once_in(6) ? 40 : 6); }

}  // namespace

void actor::device(random_source& random) {
  switch (random.below(15)) {
    case 0:
    case 1: device_calls(random); break;
    case 2:
    case 3: device_queue(random); break;
    case 4: device_pings(random); break;
    case 5: device_batch(random); break;
    case 6: device_values(random); break;
    case 7:
    case 8: device_memory(random); break;
    case 9: device_stops(random); break;
    case 10: device_messages(random); break;
    case 11: device_nested(random); break;
    case 12: device_within(random); break;
    case 13: device_alone(random); break;
    default:
      if (random.once_in(8))
        device_fault(random);
      else
        device_error(random);
      break;
  }
}

/// Seldom one without a device. A node that has one may be lost.
node_t actor::device_node(random_source& random) {
  std::vector<node_t> some;
  for (const node_t node : nodes_) {
    if (world_.has_device(node)) some.push_back(node);
  }
  return some.empty() || random.once_in(8) ? any_node(random) : some[random.below(some.size())];
}

std::uint32_t actor::device_stream_to(node_t node) {
  std::uint32_t& stream = device_streams_[node];
  if (stream == 0) stream = the_oracle->new_stream();
  return stream;
}

void actor::device_calls(random_source& random) {
  const node_t node = device_node(random);
  const std::uint64_t count = any_count(random);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node, device_stream_to(node));
    const auto value = static_cast<std::int64_t>(random.below(1000));
    const std::int64_t takes = some_time(random);
    const device::scope by = any_scope(random);
    const bool waits = random.once_in(4);
    attempt(call, false, [&] {
      pending one{async_work(node, call, value, takes, by), call, result_of(call, value)};
      one.on_device = true;
      if (random.once_in(12)) {
        one.result.detach();
        the_oracle->leave_unanswered(call);
      } else if (waits)
        settle(one);
      else
        pending_.push_back(std::move(one));
    });
  }
}

/// Contexts take the blocks in turns.
void actor::device_queue(random_source& random) {
  if (contexts_.empty() || (contexts_.size() < 4 && random.once_in(3))) {
    const node_t node = device_node(random);
    use(node, [&] {
      contexts_.push_back({offload::context(node), the_oracle->new_stream(), the_oracle->new_stream()});
    });
    return;
  }
  remote_queue& to = contexts_[random.below(contexts_.size())];
  const std::uint64_t count = any_count(random);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(to.queue.node(), to.of_device);
    const std::int64_t takes = some_time(random);
    const device::scope by = any_scope(random);
    attempt(call, false, [&] {
      pending_.push_back({async_work(to.queue, call, 3, takes, by), call, result_of(call, 3)});
      pending_.back().on_device = true;
    });
  }
}

void actor::device_pings(random_source& random) {
  const node_t node = device_node(random);
  const std::uint64_t count = any_count(random);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node, device_stream_to(node));
    if (attempt(call, false, [&] { offload::ping(node, fn<&device_work>, call, std::int64_t{1}, some_time(random)); }))
      the_oracle->leave_unanswered(call);
  }
  const call_number last = the_oracle->issue(node, device_stream_to(node));
  bool answered = false;
  attempt(last, false, [&] {
    the_oracle->settle(last, async_work(node, last, 1, 0, any_scope(random)).get(), result_of(last, 1));
    answered = true;
  });
  if (answered) the_oracle->expect_all_ran(device_stream_to(node));
}

void actor::device_batch(random_source& random) {
  const node_t node = device_node(random);
  std::vector<call_number> calls(any_count(random));
  for (call_number& one : calls) one = the_oracle->issue(node, device_stream_to(node));
  std::vector<pending> members;
  use(node, [&] {
    offload::batch together(node);
    for (const call_number call : calls) {
      members.push_back(
          {together.add(fn<&device_work_of_block>, call, std::int64_t{7}, std::int64_t{0}), call, result_of(call, 7)});
      members.back().on_device = true;
    }
    together.submit();
  });
  for (std::size_t i = members.size(); i < calls.size(); ++i)
    the_oracle->fail(calls[i], call_outcome::not_run, "it was not added to its batch");
  for (pending& one : members) pending_.push_back(std::move(one));
}

void actor::device_within(random_source& random) {
  const node_t node = device_node(random);
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  const std::chrono::nanoseconds limit(random.below(400'000));
  const std::int64_t takes = some_time(random);
  may_be_late_ = true;
  the_oracle->allow_late(call);
  attempt(call, false, [&] {
    pending_.push_back(
        {async_work(offload::within(node, limit), call, 4, takes, any_scope(random)), call, result_of(call, 4), true});
    pending_.back().on_device = true;
  });
  may_be_late_ = false;
}

/// Exceptions do not leave devices.
void actor::device_error(random_source& random) {
  const node_t node = device_node(random);
  if (!world_.has_device(node)) return;
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  attempt(call, false, [&] {
    try {
      static_cast<void>(offload::sync(node, fn<&device_throwing>, call));
      running->fail(the_oracle->describe(call) + " has thrown, and gives a value");
    } catch (const call_error& thrown) {
      if (std::string(thrown.what()).find("has thrown an exception on the device") == std::string::npos) throw;
      the_oracle->settle(call);
    }
  });
}

/// The process of a device that has failed ends: what it executes may have run, and it answers nobody any more.
void actor::device_fault(random_source& random) {
  const node_t node = device_node(random);
  if (number_ % max_threads != 0 || !plan_.has(step::kill) || !world_.has_device(node)) return;
  faults_.any = true;
  faults_.may_be_lost.insert(node);
  const call_number call = the_oracle->issue(node, device_stream_to(node));
  attempt(call, false, [&] {
    static_cast<void>(offload::sync(node, fn<&device_trap>, call));
    running->fail(the_oracle->describe(call) + " has failed with its device, and gives a value");
  });
  if (nodes_.size() > 2 && random.once_in(2)) std::erase(nodes_, node);
}

}  // namespace ham::sim
