// Steps that call groups of nodes.
#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "sim/actor.hpp"

namespace ham::inline v1::sim {

/// Calls that are waited for at once, or, while nodes die, later; some are stopped.
void actor::group(random_source& random, bool on_device) {
  constexpr std::size_t max_kept = 4;
  known_group& to = any_group(random);
  group_call one = on_device ? start_on_devices(to, random) : start(to, random);
  if (one.polls || one.stops) {
    stop(one, random);
    settle(one);
  } else if (random.once_in(2)) {
    settle(one);
  } else {
    group_calls_.push_back(std::move(one));
  }
  while (group_calls_.size() > max_kept) {
    group_call settled = take_any(group_calls_, random);
    settle(settled);
  }
}

/// Of some nodes of the job in any order, perhaps with the host, and with nodes that are lost.
actor::known_group& actor::any_group(random_source& random) {
  constexpr std::size_t max_groups = 3;
  if (!groups_.empty() && (groups_.size() == max_groups || !random.once_in(3)))
    return groups_[random.below(groups_.size())];
  std::vector<node_t> members(nodes_.begin() + (random.once_in(3) ? 0 : 1), nodes_.end());
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.below(i)]);
  if (members.size() > 1 && random.once_in(4)) members.resize(1 + random.below(members.size()));
  std::vector<std::uint32_t> streams;
  for (std::size_t i = 0; i < members.size(); ++i)
    streams.push_back(over_ == medium::loopback ? the_oracle->new_stream() : 0);
  return groups_.emplace_back(known_group{offload::group(std::move(members)), std::move(streams)});
}

actor::group_call actor::start(known_group& to, random_source& random) {
  group_call one;
  one.nodes = to.all.nodes();
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    const call_number call = the_oracle->issue(one.nodes[i], to.streams[i]);
    if (i == 0) one.first = call;
    the_oracle->set_nested(call);  // another node passes it on
  }
  one.polls = random.once_in(3);
  one.has_deadline = random.once_in(5);
  one.value = static_cast<std::int64_t>(random.below(1000));
  const std::int64_t takes = some_time(random);
  const bool reduces = !one.polls && random.once_in(3);
  const std::chrono::nanoseconds limit(random.below(600'000));
  for (std::size_t i = 0; i < one.nodes.size() && (one.polls || one.has_deadline); ++i)
    the_oracle->allow_late(one.first + static_cast<call_number>(i));
  const offload::group_destination where = one.has_deadline ? offload::within(to.all, limit)
                                           : one.polls      ? offload::stoppable(to.all)
                                                            : offload::group_destination(to.all);
  if (one.polls)
    one.results = offload::async_all(where, fn<&until_member_is_stopped>, one.first);
  else if (reduces)
    one.reduced = offload::reduce_all(where, fn<&link_of_member>, fn<&chained>, one.first, one.value, takes);
  else
    one.results = offload::async_all(where, fn<&work_of_member>, one.first, one.value, takes);
  return one;
}

/// Device functions, which do not poll: nodes without a device would tell them of no stop.
actor::group_call actor::start_on_devices(known_group& to, random_source& random) {
  group_call one;
  one.nodes = to.all.nodes();
  one.stops = random.once_in(3);
  one.has_deadline = random.once_in(5);
  one.value = static_cast<std::int64_t>(random.below(1000));
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    const call_number call = the_oracle->issue(one.nodes[i]);
    if (i == 0) one.first = call;
    the_oracle->set_nested(call);
    if (one.stops || one.has_deadline) the_oracle->allow_late(call);
  }
  const std::int64_t takes = some_time(random);
  const std::chrono::nanoseconds limit(random.below(600'000));
  const offload::group_destination where = one.has_deadline ? offload::within(to.all, limit)
                                           : one.stops      ? offload::stoppable(to.all)
                                                            : offload::group_destination(to.all);
  one.results = random.once_in(2) ? offload::async_all(where, fn<&device_work_of_member>, one.first, one.value, takes)
                                  : offload::async_all(where, fn<&device_block_of_member>, one.first, one.value, takes);
  return one;
}

void actor::stop(group_call& one, random_source& random) {
  if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(200'000)));
  one.asked = true;
  one.at_once = random.once_in(3);
  for (std::size_t i = 0; i < one.nodes.size(); ++i) the_oracle->ask_to_stop(one.first + static_cast<call_number>(i));
  one.results->request_stop(one.at_once ? offload::when_stopped::at_once : offload::when_stopped::after_answer);
}

void actor::settle(group_call& one) {
  if (one.results)
    expect_results(one, one.results->get());
  else
    expect_reduced(one);
}

void actor::expect_results(const group_call& one, const offload::group_result<std::int64_t>& results) {
  if (results.nodes() != one.nodes) running->fail("the results of a group are those of other nodes");
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    const call_number call = one.first + static_cast<call_number>(i);
    if (!results.ok(i))
      expect_failed(one, call, results.error(i));
    else if (one.polls)
      the_oracle->settle(call);
    else
      the_oracle->settle(call, results.value(i), result_of(call, one.value));
  }
}

/// Nodes that have not failed have run, or been told that another one has failed.
void actor::expect_reduced(group_call& one) {
  const auto call_of = [&](std::size_t i) { return one.first + static_cast<call_number>(i); };
  try {
    const chain_link found = one.reduced->get();
    chain_link expected = link_of(call_of(0), one.value);
    for (std::size_t i = 1; i < one.nodes.size(); ++i) expected = chained(expected, link_of(call_of(i), one.value));
    for (std::size_t i = 0; i < one.nodes.size(); ++i) the_oracle->settle(call_of(i), found == expected ? 1 : 0, 1);
  } catch (const offload::group_error& failed) {
    std::vector<bool> told(one.nodes.size());
    for (const offload::group_failure& each : failed.failures()) {
      const auto at = static_cast<std::size_t>(std::ranges::find(one.nodes, each.node) - one.nodes.begin());
      if (at == one.nodes.size() || told[at]) running->fail("a reduction tells of a node that it has not, or twice");
      told[at] = true;
      expect_failed(one, call_of(at), each.error);
    }
    for (std::size_t i = 0; i < one.nodes.size(); ++i)
      if (!told[i]) the_oracle->settle(call_of(i), 1, 1);  // it has run
  }
}

void actor::expect_failed(const group_call& one, call_number call, const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node of a group is lost without a reason: ") + lost.what());
    the_oracle->fail(call, outcome_for(lost.outcome()), lost.what());
  } catch (const deadline_exceeded& late) {
    if (!one.has_deadline) running->fail(the_oracle->describe(call) + " has no deadline: " + late.what());
    the_oracle->fail(call, outcome_for(late.outcome()), late.what());
  } catch (const operation_cancelled& stopped) {
    if (!one.asked && !one.has_deadline)
      running->fail(the_oracle->describe(call) + " is cancelled, and nobody has asked for it");
    if (stopped.outcome() != call_outcome::not_run && !one.at_once && !one.has_deadline)
      running->fail(the_oracle->describe(call) + " is stopped, and nobody says whether it has run");
    the_oracle->fail(call, outcome_for(stopped.outcome()), stopped.what());
  } catch (const call_error& refused) {
    if (!faults_.any && !faults_.any_added)
      running->fail(std::string("a node of a group refuses a call without a reason: ") + refused.what());
    the_oracle->fail(call, call_outcome::may_have_run, refused.what());
  }
}

}  // namespace ham::sim
