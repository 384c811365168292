// Compiled graphs: how nodes get their parts, again when one was started again, and lose them at the end.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/graph_replays.hpp"
#include "runtime/pool_state.hpp"

namespace ham::inline v1::offload::detail {

void graph_replays::install() {
  at_.graphs.enlist(*this);
  try {
    while (stale_.load(std::memory_order_acquire)) static_cast<void>(renew_installation({}));
  } catch (...) {
    close();  // it may have been installed, and be stale at once
    throw;
  }
}

/// Whether one of the processes that the nodes had has died meanwhile, and another one takes its place. Not where this
/// thread is what prepares that one: nobody starts a third one before it has ended that.
bool graph_replays::is_replaced(std::span<const node_t> processes) const {
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const replacements::state now = at_.numbers.of(plan_.nodes[i]);
    if (!now.supervised || now.prepared || now.now == replacements::phase::given_up) continue;
    if (now.process != processes[i] || now.now == replacements::phase::restarting) return true;
    const peer_hold who = at_.peers.hold(processes[i]);
    if (who && who->state.load(std::memory_order_acquire) == peer_state::lost) return true;
  }
  return false;
}

/// No replay is in flight: they have failed with the loss that asks for this.
/// False: the limit was reached before a node was started again, or had its part. True: the graph is installed, or
/// stale again. Each thread that needs the parts installs some: one that waited for another's could be what that one
/// executes, or has to wait for. Those that are there first count.
bool graph_replays::renew_installation(const wait_limit& limit) {
  const auto is_stale = [this] { return stale_.load(std::memory_order_acquire); };
  std::vector<node_t> processes;
  try {
    for (const node_t node : plan_.nodes) {
      processes.push_back(at_.process_of(node, limit));
      if (!is_stale()) return true;
      if (processes.back() < 0) return false;
    }
    std::shared_ptr<const installation> unused = install_parts_on(processes, limit);
    at_.waits.lock();
    if (is_stale()) {
      std::swap(where_, unused);
      at_.graphs.expect_results(*this, where_->parts.front().id);
      // The loss of a node, while it was not known yet to have a part, was told to nobody.
      const auto is_lost = [this](const part_address& one) {
        const peer_hold who = at_.peers.hold(one.node);
        return who && who->state.load(std::memory_order_acquire) == peer_state::lost;
      };
      const bool any_lost = std::any_of(where_->parts.begin(), where_->parts.end(), is_lost);
      stale_.store(any_lost, std::memory_order_release);
    }
    at_.waits.unlock();
    if (unused != nullptr) uninstall(*unused);
    return true;
  } catch (const node_failure&) {
    if (!is_stale() || (processes.size() == plan_.nodes.size() && is_replaced(processes)))
      return true;  // who asks tries again
    throw;
  } catch (const deadline_exceeded&) {
    if (!limit.reached()) throw;  // of a node
    return !is_stale();
  } catch (const operation_cancelled&) {
    if (!limit.reached()) throw;
    return !is_stale();
  }
}

std::shared_ptr<graph_replays::installation> graph_replays::install_parts_on(std::span<const node_t> processes,
                                                                             const wait_limit& limit) {
  auto made = std::make_shared<installation>();
  const engine_scope scope(&at_);
  std::vector<part_plan> parts = plan_.parts;
  for (std::size_t i = 0; i < parts.size(); ++i) set_keys(parts[i], i, processes[i], limit);
  const std::vector<std::uint64_t> ids = reserve_parts(at_, processes.subspan(1), limit);
  made->parts.push_back({at_.self(), at_.graphs.reserve()});
  for (std::size_t i = 0; i < ids.size(); ++i) made->parts.push_back({processes[i + 1], ids[i]});
  at_.waits.lock();
  const std::uint32_t before = next_ - 1;
  at_.waits.unlock();
  for (part_plan& one : parts) {
    one.parts = made->parts;
    one.before = before;
  }
  try {
    made->own = std::make_shared<graph_part>(at_, at_.self(), parts.front(), shared_from_this(), plan_.transfers);
    at_.graphs.install(made->parts.front().id, made->own);
    install_parts(at_, std::span<const part_plan>(parts).subspan(1), limit);
  } catch (...) {
    uninstall(*made);
    throw;
  }
  return made;
}

namespace {

/// By its key: the library that it was in may have been unloaded since. Throws ham::call_error.
msg::handler_entry& recorded_function(std::uint32_t key) {
  const msg::handler_entry* const found = msg::handler_table::local().find(key);
  if (found == nullptr || msg::handler_table::local().duplicate(key))
    throw call_error("its function is ambiguous on this node (two libraries have one of that name); rename one of them",
                     call_error_reason::unknown_function);
  if (found->key() != key)
    throw call_error("the library of its function was unloaded on this node; load it again, or record another graph",
                     call_error_reason::unknown_function);
  return const_cast<msg::handler_entry&>(*found);  // which only its state as a destination of calls is
}

}  // namespace

/// Also checks that the node is there, and has the functions.
void graph_replays::set_keys(part_plan& part, std::size_t index, node_t process, const wait_limit& limit) const {
  for (std::size_t i = 0; i < part.stages.size(); ++i) {
    const std::uint32_t function = plan_.functions[index][i];
    if (function == msg::invalid_key) continue;
    try {
      part.stages[i].key =
          at_.calls_out.key_on(*at_.peer_of(process, limit), recorded_function(function), limit.deadline_ns);
    } catch (const call_error& problem) {
      throw call_error(name_of_stage(part.stages[i].number, part.stages[i].name) + " of a graph: " + problem.what(),
                       problem.reason());
    }
  }
}

/// Of what was recorded; replays check their inputs by themselves.
void graph_replays::refuse_old_handles() const {
  if (plan_.handles.empty() || !handles_may_be_old.load(std::memory_order_relaxed)) [[likely]]
    return;
  for (const node_t process : plan_.handles) {
    if (const node_t number = at_.number_of_replaced(process); number >= 0)
      throw buffer_error("a graph cannot be replayed any more (it was recorded with memory of a process of node " +
                         std::to_string(number) +
                         " that has died, and what that had is gone); make the memory an input of the graph, or record "
                         "the graph anew");
  }
}

/// A loss may name the supervised number, whose process of this installation has died.
node_t graph_replays::process_in(const installation& where, node_t node) const noexcept {
  const auto has_part = [node](const part_address& one) { return one.node == node; };
  if (std::any_of(where.parts.begin(), where.parts.end(), has_part)) return node;
  for (std::size_t part = 0; part < where.parts.size(); ++part) {
    if (plan_.nodes[part] == node) return where.parts[part].node;
  }
  return node;
}

std::string graph_replays::stages_on(node_t process, const installation& where) const {
  std::string names;
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    if (where.parts[part].node != process) continue;
    for (const part_stage& one : plan_.parts[part].stages) {
      if (static_cast<stage_kind>(one.kind) != stage_kind::call) continue;
      names += (names.empty() ? "" : " or ") + name_of_stage(one.number, one.name);
    }
  }
  return names.empty() ? "a graph" : names;
}

void graph_replays::uninstall(const installation& old) noexcept {
  for (std::size_t part = 1; part < old.parts.size(); ++part) send_release(at_, old.parts[part]);
  at_.graphs.release(old.parts.front().id);
}

/// Until it is not busy, which wake_waiting() tells, or the runtime ends.
template <class Busy>
void graph_replays::wait_while(Busy busy) {
  while (busy()) {
    call_slot& mine = *make_local_slot(at_);
    bool waits = false;
    locked([&] { waits = busy() && list_waiting(mine); });
    if (!waits) {
      at_.calls.cancel(mine);
      continue;
    }
    wait_slot(mine, INT64_MAX);
    if (!release_awaited(mine)) return;
  }
}

/// In this order, as close() sets the one and then reads the other: one of both sees what the other has written.
bool graph_replays::begin_transfer() noexcept {
  moving_.fetch_add(1);
  if (!closing_.load()) [[likely]]
    return true;
  end_transfer();
  return false;
}

void graph_replays::end_transfer() noexcept {
  if (moving_.fetch_sub(1) == 1 && closing_.load()) locked([this] { wake_waiting(); });
}

/// Parts keep this object, and it keeps its own part: that ends here, also behind the end of the runtime.
void graph_replays::close() noexcept {
  std::shared_ptr<const installation> last;
  if (find_engine(runtime_) == nullptr) {
    where_.swap(last);
    forget_installations();
    return;
  }
  try {
    wait_while([this] { return in_flight() != 0; });
    closing_.store(true);
    wait_while([this] { return moving_.load() != 0; });  // a replay that has failed does not wait for its transfers
  } catch (const std::exception&) {                      // no memory to wait
  }
  at_.graphs.remove(*this);
  at_.waits.lock();
  where_.swap(last);
  forget_installations();
  at_.waits.unlock();
  if (last != nullptr && !at_.is_ending()) uninstall(*last);
}

// ---- what the templates call

std::shared_ptr<graph_replays> compile_graph(const graph_recording& graph, std::uint32_t result,
                                             const graph_shape& shape) {
  if (shape.in_flight == 0 || shape.in_flight > part_plan::max_frames)
    throw config_error("a graph allows " + std::to_string(shape.in_flight) + " replays in flight; allow 1 to " +
                       std::to_string(part_plan::max_frames));
  engine& at = current();
  const auto frames = static_cast<std::uint32_t>(std::bit_ceil(shape.in_flight));
  graph_plan plan = divide_graph(finish_recording(graph, result, shape.inputs), at.self(), frames);
  auto made = std::make_shared<graph_replays>(at, std::move(plan), shape.decode, shape.in_flight);
  made->install();
  return made;
}

void check_inputs(const graph_replays& of, std::span<const std::type_info* const> types) { of.check_inputs(types); }
replay_ticket enter_replay(graph_replays& of, const replay_options& how, std::span<const std::size_t> sizes) {
  return of.enter(how, sizes);
}
void send_replay(graph_replays& of, const replay_ticket& entered) { of.send(entered); }
void abandon_replay(graph_replays& of, const replay_ticket& entered) noexcept { of.abandon(entered); }
void close_graph(graph_replays& of) noexcept { of.close(); }
std::size_t replays_in_flight(const graph_replays& of) { return of.in_flight(); }
engine& engine_of(const graph_replays& of) noexcept { return of.runtime_engine(); }

}  // namespace ham::offload::detail
