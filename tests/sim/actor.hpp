// A thread of the simulated host that takes steps, and holds what comes of them against a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/graph.hpp"
#include "ham/offload/group.hpp"
#include "sim/actor_records.hpp"
#include "sim/device_callees.hpp"
#include "sim/graph_shape.hpp"
#include "sim/scheduler.hpp"
#include "sim/workload.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {

[[nodiscard]] std::vector<std::int32_t> any_values(std::size_t count, random_source& random);

/// A thread of the host that takes steps.
class actor : actor_records {
 public:
  actor(const plan& what, int number, int steps, medium over, std::vector<node_t>& nodes, faults& made, world& in)
      : plan_(what),
        number_(number),
        steps_(steps),
        over_(over),
        random_(what.seed * 1'000'003 + static_cast<std::uint64_t>(number)),
        nodes_(nodes),
        faults_(made),
        world_(in) {}

  void run() {
    for (int i = 0; i < steps_; ++i) {
      const step kind = any_step();
      const std::uint64_t seed = random_.next();  // a step that is left out changes nothing in the others
      if (!plan_.has(kind) || (!plan_.only.empty() && !plan_.only.contains({number_, i}))) continue;
      take(kind, i, random_source(seed));
    }
    for (pending& one : pending_) settle(one);
    pending_.clear();
    for (group_call& one : group_calls_) settle(one);
    group_calls_.clear();
    end_graphs();
    buffers_.clear();
    pinned_.clear();
    objects_.clear();
    for (const auto& one : left_objects_) await_destroyed(one);
    left_objects_.clear();
    contexts_.clear();
    handles_.clear();
  }

 private:
  struct known_graph {
    using compiled = offload::compiled_graph<std::int64_t, call_number, std::int64_t>;
    std::shared_ptr<const graph_shape> shape;
    compiled replay;
  };
  /// A replay: each of its stages is one of the oracle's calls, with numbers from `first` on.
  struct graph_replay {
    offload::future<std::int64_t> result;
    std::shared_ptr<const graph_shape> shape;
    call_number first = 0;
    std::int64_t value = 0;
    bool has_deadline = false;
    bool asked = false;  ///< to stop
  };
  struct data_graph;
  using data_replay = offload::compiled_graph<std::int64_t, call_number>;
  [[nodiscard]] step any_step();
  [[nodiscard]] node_t any_node(random_source& random) { return nodes_[random.below(nodes_.size())]; }
  [[nodiscard]] node_t any_target(random_source& random) { return nodes_[1 + random.below(nodes_.size() - 1)]; }
  [[nodiscard]] std::uint32_t stream_to(node_t node) {
    std::uint32_t& stream = streams_[node];
    if (stream == 0) stream = the_oracle->new_stream();
    return stream;
  }
  [[nodiscard]] static std::int64_t some_time(random_source& random) {
    return random.once_in(4) ? static_cast<std::int64_t>(random.below(300'000)) : 0;
  }

  /// A failure of this node must have been made.
  void expect_lost(node_t node, const char* why) {
    if (!faults_.may_be_lost.contains(node) && !the_oracle->numbers.may_be_lost(node))
      running->fail("node " + std::to_string(node) + " is lost without a reason: " + why);
  }
  /// The same of the node of this call; of a supervised one, since the call was made.
  void expect_lost_by(call_number call, const char* why) {
    const node_t node = the_oracle->target_of(call);
    if (the_oracle->numbers.knows(node) || !faults_.may_be_lost.contains(node)) the_oracle->expect_lost(call, why);
  }

  /// Does what may fail because the call's node is lost. False: it did.
  template <class What>
  bool attempt(call_number call, bool passes_others, What what) {
    try {
      what();
      return true;
    } catch (const node_failure& lost) {
      if (passes_others) {
        if (!faults_.any) running->fail(std::string("a node is lost without a reason: ") + lost.what());
        the_oracle->fail(call, call_outcome::may_have_run, lost.what());  // of which of the calls is not known
        return false;
      }
      expect_lost_by(call, lost.what());
      the_oracle->fail(call, lost.outcome(), lost.what());
    } catch (const object_error& gone) {
      const bool is_of_another = passes_others && faults_.any_added;  // a process that was replaced
      if (!is_of_another && !the_oracle->is_of_doomed(call)) throw;
      the_oracle->fail(call, is_of_another ? call_outcome::may_have_run : call_outcome::not_run, gone.what());
    } catch (const buffer_error& old) {  // an argument is memory of a process that was replaced meanwhile
      if (!faults_.any_added) throw;
      if (!passes_others) expect_lost_by(call, old.what());
      the_oracle->fail(call, call_outcome::not_run, old.what());
    } catch (const deadline_exceeded& late) {
      the_oracle->fail(call, late.outcome(), late.what());
      if (!may_be_late_) running->fail(the_oracle->describe(call) + " has no deadline: " + late.what());
    } catch (const call_error& refused) {
      if (passes_others && faults_.any_added) {  // a target may hear of a new one later than of a call to it
        the_oracle->fail(call, call_outcome::may_have_run, refused.what());
        return false;
      }
      expect_lost_by(call, refused.what());
      the_oracle->fail(call, call_outcome::not_run, refused.what());
    }
    return false;
  }
  /// Does with a node what is no call of the oracle's. False: the node is lost.
  template <class What>
  bool use(node_t node, What what) {
    try {
      what();
      return true;
    } catch (const node_failure& lost) {
      expect_lost(node, lost.what());
    } catch (const call_error& lost) {
      expect_lost(node, lost.what());
    }
    return false;
  }

  void settle(pending& one) {
    if (one.is_task) {
      settle_anywhere(one);
      return;
    }
    may_be_late_ = one.may_be_late;
    attempt(one.call, one.passes_others, [&] {
      try {
        const std::int64_t value = one.result.get();
        if (one.throws) running->fail(the_oracle->describe(one.call) + " has thrown, and gives a value");
        the_oracle->settle(one.call, value, one.expected);
        if (one.on_device) the_oracle->expect_parts_ended(one.call);
      } catch (const std::runtime_error& thrown) {
        if (!one.throws || dynamic_cast<const error*>(&thrown) != nullptr) throw;
        if (thrown.what() != words_of(one.call))
          running->fail(the_oracle->describe(one.call) + " throws \"" + thrown.what() + "\"");
        the_oracle->settle(one.call);
      }
    });
    may_be_late_ = false;
  }
  /// Any of them, which is not among them any more.
  template <class Call>
  [[nodiscard]] static Call take_any(std::vector<Call>& from, random_source& random) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(random.below(from.size()));
    Call one = std::move(*at);
    from.erase(at);
    return one;
  }
  void settle_some(random_source& random) {
    while (pending_.size() > 24 || (!pending_.empty() && random.once_in(3))) {
      pending one = take_any(pending_, random);
      settle(one);
    }
  }
  /// What the caller knows of a node behind another one: of which of the two the outcome is said, it does not.
  [[nodiscard]] static call_outcome outcome_for(call_outcome told) {
    return told == call_outcome::not_run ? call_outcome::not_run : call_outcome::may_have_run;
  }

  void take(step kind, int number, random_source random);
  void call(step kind, random_source& random);
  void ping(random_source& random);
  void batch(random_source& random);
  void queue(random_source& random);
  void nested(random_source& random);
  void long_message(random_source& random);
  void then(random_source& random);
  void try_call(random_source& random);
  void join(random_source& random);
  void in_turn(random_source& random);
  void stream(random_source& random);
  void ask(random_source& random);
  void pooled_call(random_source& random);
  void transfer(random_source& random);
  bool move(remote_memory& one, random_source& random);
  bool copy_between(remote_memory& one, remote_memory& other, std::size_t begin, std::size_t count);
  void block(random_source& random);
  void object(random_source& random);
  bool add(remote_counter& to, random_source& random);
  void add_elsewhere(remote_counter& to, random_source& random);
  void expect_destroyed(offload::remote_ref<counter> what);
  void await_destroyed(offload::remote_ref<counter> what);
  void cancel(random_source& random);
  [[nodiscard]] bool start(stoppable_call& one, const std::stop_token& token, random_source& random);
  void settle(stoppable_call& one);
  void then_call(random_source& random);
  void put_parts(remote_memory& to, random_source& random);
  void put_much(random_source& random);
  void copy_then_call(remote_memory& from, remote_memory& to);
  void pool(random_source& random, bool on_device = false);
  void task(offload::pool& workers, bool on_device, random_source& random);
  template <class What>
  bool attempt_anywhere(call_number call, What what);
  void settle_anywhere(pending& one);
  void map(offload::pool& workers, bool on_device, random_source& random);
  void event_loop(random_source& random);
  void group(random_source& random, bool on_device = false);
  [[nodiscard]] known_group& any_group(random_source& random);
  [[nodiscard]] group_call start(known_group& to, random_source& random);
  [[nodiscard]] group_call start_on_devices(known_group& to, random_source& random);
  void stop(group_call& one, random_source& random);
  void settle(group_call& one);
  void expect_results(const group_call& one, const offload::group_result<std::int64_t>& results);
  void expect_reduced(group_call& one);
  void expect_failed(const group_call& one, call_number call, const std::exception_ptr& why);
  void graph(random_source& random, bool on_device = false);
  [[nodiscard]] known_graph* any_graph(random_source& random, bool on_device);
  [[nodiscard]] std::optional<graph_replay> start(known_graph& which, random_source& random);
  void settle(graph_replay& one);
  void expect_failed(const graph_replay& one, const std::exception_ptr& why);
  [[nodiscard]] call_outcome expect_stages_failed(call_number first, std::size_t count, const group_terms& how,
                                                  const std::exception_ptr& why);
  [[nodiscard]] static call_number issue_stages(const std::vector<node_t>& nodes);
  [[nodiscard]] known_graph* compile(std::shared_ptr<const graph_shape> shape,
                                     const std::function<known_graph::compiled()>& record);
  [[nodiscard]] bool try_to_compile(const std::function<void()>& record_and_compile);
  void replay(random_source& random);
  [[nodiscard]] known_graph* repeat_on_nodes(random_source& random);
  [[nodiscard]] known_graph* graph_that_polls(random_source& random);
  [[nodiscard]] std::optional<graph_replay> start_stoppable(known_graph& which, random_source& random);
  [[nodiscard]] std::optional<graph_replay> start_if_room(known_graph& which, random_source& random);
  void data_in_graph(random_source& random);
  [[nodiscard]] bool prepare(data_graph& of, random_source& random);
  static void any_stages(data_graph& of, random_source& random);
  [[nodiscard]] static data_replay record(data_graph& of);
  [[nodiscard]] bool replay_once(data_graph& of, std::optional<data_replay>& replay, random_source& random);
  void expect_contents(data_graph& of, call_outcome outcome, std::optional<data_replay>& replay);
  void end_graphs();
  void device(random_source& random);
  [[nodiscard]] node_t device_node(random_source& random);
  [[nodiscard]] std::uint32_t device_stream_to(node_t node);
  void device_calls(random_source& random);
  void device_queue(random_source& random);
  void device_pings(random_source& random);
  void device_batch(random_source& random);
  void device_values(random_source& random);
  void device_memory(random_source& random);
  void device_put(remote_memory& to, random_source& random);
  void device_stops(random_source& random);
  void stop_on_device(node_t node, random_source& random);
  void device_messages(random_source& random);
  void device_nested(random_source& random);
  void device_alone(random_source& random);
  void device_within(random_source& random);
  void device_error(random_source& random);
  void device_fault(random_source& random);
  void device_part(random_source& random);
  void device_copy(random_source& random);
  void device_print(random_source& random);
  void watchdog(random_source& random);
  void stop_behind_another(node_t node, random_source& random);
  void hang_on_device(node_t node, random_source& random);
  void sender(random_source& random);
  void sent_and_awaited(random_source& random);
  void sent_with_receivers(random_source& random);
  void settle_sent(call_number call, const std::exception_ptr& error, const std::optional<std::int64_t>& value,
                   bool polls, std::int64_t expected);
  void spawn(random_source& random);
  void member(step kind, random_source& random);
  void fault(step kind, random_source& random);
  void kill_behind_answer(node_t node);
  void fault_of_supervised(step kind, random_source& random);
  void note_faults() { faults_.any = faults_.any_added = true; }
  void supervise(random_source& random);
  [[nodiscard]] std::optional<node_t> any_supervised(random_source& random) const;
  void retry(node_t number, random_source& random);
  void hang(node_t number);
  void be_long(node_t number);
  void end_next_start(random_source& random);
  void keep_handles(node_t number);
  void use_old_handles();
  void reach(node_t number);
  void barrier(random_source& random);
  void broadcast(random_source& random);
  [[nodiscard]] bool prepare_all(const offload::group& all, broadcast_memory& to, random_source& random);
  void broadcast_from_host(broadcast_memory& to, random_source& random);
  void broadcast_from_first(broadcast_memory& to, random_source& random);
  void expect_content(const broadcast_memory& to, std::size_t at, content expected);
  [[nodiscard]] call_outcome outcome_of_member(const group_terms& how, const std::exception_ptr& why);
  void kill_call(random_source& random);
  void end_by_call(node_t node, random_source& random);
  void refuse_to_end(random_source& random);
  void stop_transfer(random_source& random);
  [[nodiscard]] bool stop_one(stopped_memory& of, random_source& random);
  void stop_retry(random_source& random);
  void stop_retry_of_caller(random_source& random);
  void deadline_seen(random_source& random);
  void deadline_of_call(random_source& random);
  void deadline_of_group(random_source& random);
  void deadline_of_replay(random_source& random);
  void pinned(random_source& random);
  void work_queue(random_source& random);
  void std_future(random_source& random);

  const plan& plan_;
  const int number_;
  const int steps_;
  const medium over_;
  random_source random_;
  std::vector<node_t>& nodes_;
  faults& faults_;
  world& world_;
  bool may_be_late_ = false;
  std::map<node_t, std::uint32_t> streams_;
  std::map<node_t, std::uint32_t> device_streams_;
  std::vector<pending> pending_;
  std::vector<remote_memory> buffers_;
  std::vector<remote_counter> objects_;
  std::vector<offload::remote_ref<counter>> left_objects_;  ///< their nodes were given up before they were destroyed
  std::vector<remote_queue> contexts_;
  std::vector<known_group> groups_;
  std::vector<group_call> group_calls_;
  std::vector<known_graph> graphs_;
  std::vector<graph_replay> replays_;
  std::vector<handles> handles_;
  std::vector<pinned_array> pinned_;
};

}  // namespace ham::sim
