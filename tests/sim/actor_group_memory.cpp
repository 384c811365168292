// Steps that wait for all calls to a group, and that write memory of all its nodes.
#include <algorithm>
#include <chrono>
#include <exception>
#include <stop_token>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "sim/actor.hpp"
#include "sim/stopper.hpp"

namespace ham::inline v1::sim {

/// A node of a group has failed, for a reason.
call_outcome actor::outcome_of_member(const group_terms& how, const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const node_failure& lost) {
    if (!faults_.any) running->fail(std::string("a node of a group is lost without a reason: ") + lost.what());
    return outcome_for(lost.outcome());
  } catch (const deadline_exceeded& late) {
    if (!how.has_deadline) running->fail(std::string("a group has no deadline: ") + late.what());
    return late.outcome();
  } catch (const operation_cancelled& stopped) {
    if (!how.asked && !how.has_deadline)
      running->fail(std::string("a group is cancelled, and nobody has asked for it: ") + stopped.what());
    return stopped.outcome();
  } catch (const call_error& refused) {
    if (!faults_.any && !faults_.any_added)
      running->fail(std::string("a node of a group refuses a call without a reason: ") + refused.what());
  } catch (const buffer_error& gone) {  // memory of a process that was replaced
    if (!faults_.any_added) running->fail(std::string("memory of a group is not known: ") + gone.what());
  }
  return call_outcome::may_have_run;
}

namespace {

/// Whether a node could not be called, or was lost: then calls take another way through the group.
template <class Result>
bool has_lost_a_node(const offload::group_result<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results.ok(i)) continue;
    try {
      std::rethrow_exception(results.error(i));
    } catch (const deadline_exceeded&) {
      continue;
    } catch (...) {
      return true;
    }
  }
  return false;
}

}  // namespace

/// Behind a barrier all calls of this thread to the group have ended on the nodes that it has passed, if none is lost.
void actor::barrier(random_source& random) {
  known_group& to = any_group(random);
  std::vector<group_call> calls(1 + random.below(4));
  for (group_call& one : calls) {
    const bool on_device = has_devices(plan_) && random.once_in(3);
    one.nodes = to.all.nodes();
    for (std::size_t i = 0; i < one.nodes.size(); ++i) {
      const call_number call = the_oracle->issue(one.nodes[i], on_device ? 0 : to.streams[i]);
      if (i == 0) one.first = call;
      the_oracle->set_nested(call);
    }
    one.value = static_cast<std::int64_t>(random.below(1000));
    const std::int64_t takes = some_time(random);
    one.results = on_device ? offload::async_all(to.all, fn<&device_work_of_member>, one.first, one.value, takes)
                            : offload::async_all(to.all, fn<&work_of_member>, one.first, one.value, takes);
  }
  group_terms how;
  how.has_deadline = random.once_in(6);
  const std::chrono::nanoseconds limit(random.below(600'000));
  const offload::group_result<void> passed =
      (how.has_deadline ? offload::barrier(offload::within(to.all, limit)) : offload::barrier(to.all)).get();
  if (passed.nodes() != to.all.nodes()) running->fail("a barrier tells of other nodes than those of its group");
  std::vector<call_number> not_ended;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (!passed.ok(i)) {
      static_cast<void>(outcome_of_member(how, passed.error(i)));
      continue;
    }
    for (const group_call& one : calls) {
      const call_number call = one.first + static_cast<call_number>(i);
      if (!the_oracle->has_ended(call)) not_ended.push_back(call);
    }
  }
  for (group_call& one : calls) {
    const offload::group_result<std::int64_t> results = one.results->get();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const call_number call = one.first + static_cast<call_number>(i);
      if (std::ranges::count(not_ended, call) != 0 && !has_lost_a_node(results) && !has_lost_a_node(passed))
        running->fail(the_oracle->describe(call) + " has not ended, and a barrier behind it is passed");
    }
    expect_results(one, results);
  }
}

// ---- memory

/// Memory on nodes of the group, which all hold the same. False: of fewer than two.
bool actor::prepare_all(const offload::group& all, broadcast_memory& to, random_source& random) {
  const bool is_long = all.size() <= 3 && random.once_in(10);  // more than one message
  const std::size_t count = is_long ? 65'537 + random.below(5'000) : 1 + random.below(400);
  to.before = any_values(count, random);
  to.after = any_values(count, random);
  try {
    to.at = offload::allocate_all<std::int32_t>(all, count);
  } catch (const offload::group_error& failed) {
    for (const offload::group_failure& one : failed.failures()) static_cast<void>(outcome_of_member({}, one.error));
    return false;
  }
  try {
    const offload::group_result<void> written = offload::broadcast(to.before, to.at).get();
    for (std::size_t i = written.size(); i-- != 0;) {
      if (written.ok(i)) continue;
      static_cast<void>(outcome_of_member({}, written.error(i)));
      to.at.erase(to.at.begin() + static_cast<std::ptrdiff_t>(i));
    }
  } catch (const buffer_error&) {  // at once: of a process that was replaced
    if (!faults_.any_added) throw;
    return false;
  }
  return to.at.size() > 1;
}

void actor::broadcast(random_source& random) {
  const known_group& known = any_group(random);
  broadcast_memory to;
  if (prepare_all(known.all, to, random)) {
    if (random.once_in(3))
      broadcast_from_first(to, random);
    else
      broadcast_from_host(to, random);
  }
  for (const buffer_ptr<std::int32_t>& one : to.at) {
    use(one.node(), [&] { offload::free(one); });
  }
}

/// Nodes without an error have all of it, others what they had, or some of it.
void actor::broadcast_from_host(broadcast_memory& to, random_source& random) {
  std::vector<node_t> nodes;
  for (const buffer_ptr<std::int32_t>& one : to.at) nodes.push_back(one.node());
  const offload::group all(nodes);
  group_terms how;
  how.has_deadline = random.once_in(3);
  how.asked = random.once_in(2);
  const bool by_token = how.asked && random.once_in(2);
  const bool at_once = random.once_in(3);
  const bool before = by_token && random.once_in(6);
  const auto when = at_once ? offload::when_stopped::at_once : offload::when_stopped::after_answer;
  const std::chrono::nanoseconds limit(random.below(600'000));
  const auto pause = static_cast<std::int64_t>(random.below(200'000));
  stopper stops(before, by_token, pause);
  const std::stop_token token = stops.token();
  const auto where = [&]() -> offload::group_destination {
    if (by_token)
      return how.has_deadline ? offload::within(all, limit, token, when) : offload::stoppable(all, token, when);
    if (how.has_deadline) return offload::within(all, limit);
    return how.asked ? offload::stoppable(all) : offload::group_destination(all);
  }();
  const bool is_one_message = to.after.size() * sizeof(std::int32_t) <= std::size_t{256} << 10U;
  try {
    std::vector<std::int32_t> values = to.after;
    auto sent = offload::broadcast(where, values, to.at);
    std::ranges::fill(values, -1);  // it may be changed
    if (how.asked && !by_token) {
      if (random.once_in(2)) base::sleep_ns(pause);
      sent.request_stop(when);
    }
    const offload::group_result<void> results = sent.get();
    if (results.nodes() != nodes) running->fail("the results of a broadcast are those of other nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (results.ok(i)) {
        expect_content(to, i, content::after);
        continue;
      }
      const call_outcome outcome = outcome_of_member(how, results.error(i));
      expect_content(to, i, outcome == call_outcome::not_run && is_one_message ? content::before : content::either);
    }
    if (before) running->fail("a broadcast is sent that was stopped before");
  } catch (const operation_cancelled& stopped) {
    if (!how.asked)
      running->fail(std::string("a broadcast is cancelled, and nobody has asked for it: ") + stopped.what());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      expect_content(to, i, stopped.outcome() == call_outcome::not_run ? content::before : content::either);
  } catch (const buffer_error&) {
    if (!faults_.any_added) throw;
  }
  stops.join();
}

/// What the first node holds.
void actor::broadcast_from_first(broadcast_memory& to, random_source& random) {
  const node_t first = to.at.front().node();
  if (!use(first, [&] { offload::put_sync(to.after.data(), to.at.front(), to.after.size()); })) return;
  std::vector<node_t> nodes;
  for (const buffer_ptr<std::int32_t>& one : to.at) nodes.push_back(one.node());
  const offload::group all(nodes);
  group_terms how;
  how.has_deadline = random.once_in(3);
  how.asked = random.once_in(2);
  const std::chrono::nanoseconds limit(random.below(1'000'000));
  const auto when = random.once_in(3) ? offload::when_stopped::at_once : offload::when_stopped::after_answer;
  const auto pause = static_cast<std::int64_t>(random.below(200'000));
  stopper stops(false, how.asked, pause);
  const std::stop_token token = stops.token();
  content expected = content::either;
  try {
    if (how.asked)
      offload::broadcast(
          how.has_deadline ? offload::within(all, limit, token, when) : offload::stoppable(all, token, when), to.at,
          to.after.size());
    else if (how.has_deadline)
      offload::broadcast(offload::within(all, limit), to.at, to.after.size());
    else
      offload::broadcast(to.at, to.after.size());
    expected = content::after;
  } catch (const offload::group_error& failed) {
    for (const offload::group_failure& one : failed.failures()) static_cast<void>(outcome_of_member(how, one.error));
  } catch (...) {
    if (outcome_of_member(how, std::current_exception()) == call_outcome::not_run) expected = content::before;
  }
  stops.join();
  expect_content(to, 0, content::after);
  for (std::size_t i = 1; i < to.at.size(); ++i) expect_content(to, i, expected);
}

void actor::expect_content(const broadcast_memory& to, std::size_t at, content expected) {
  const buffer_ptr<std::int32_t> from = to.at[at];
  std::vector<std::int32_t> values(to.after.size());
  if (!use(from.node(), [&] { offload::get_sync(from, values.data(), values.size()); })) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_right = (expected != content::after && values[i] == to.before[i]) ||
                          (expected != content::before && values[i] == to.after[i]);
    if (!is_right)
      running->fail("memory of node " + std::to_string(from.node()) + " holds other bytes than were sent to all");
  }
}

}  // namespace ham::sim
