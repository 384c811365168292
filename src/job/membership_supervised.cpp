// Which nodes can be started again, how that is done, and what is kept of nodes for it.
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "job/membership.hpp"

namespace ham::inline v1::detail {

/// Of those that the host itself can start, or reach, again; of others that have gone it forgets.
void membership::remember_groups(const fresh_targets& planned) {
  std::lock_guard guard(groups_mutex_);
  std::erase_if(groups_, [&](const auto& one) {
    const peer_hold who = host_.peers.hold(one.first);
    const bool gone = (!who || who->state.load() == peer_state::lost) && !supervisor_.supervises(one.first);
    if (gone) started_.outputs().forget(one.first);
    return gone;
  });
  const target_group* last = nullptr;
  std::size_t member = 0;
  for (const auto& [number, group, starter] : planned) {
    member = group == last ? member + 1 : 0;
    last = group;
    if (starter != 0 || !group->behind.empty()) continue;
    groups_.insert_or_assign(number, group->alone(member));
  }
}

/// And what to do, behind a parenthesis.
std::string membership::why_not_supervised(node_t number) const {
  const peer_hold who = host_.peers.hold(number);
  if (!who) return "the job has no such node); offload::targets() lists those that it has";
  if (who->state.load(std::memory_order_acquire) == peer_state::lost)
    return "it has left the job, and how it was started is not known any more); supervise a node before it dies, or "
           "add another one with offload::add_node";
  const peer_identity::info about = who->about.description();
  const std::string process = "process " + std::to_string(about.pid) + " on " + about.name;
  if (directory_.is_rank(number))
    return "it is a rank, " + process +
           ": HAM starts no rank again, and most MPIs end the job when one dies); supervise targets beside the "
           "ranks, as in HAM_NODES=mpi,shm:2+restart, or add some with offload::add_node";
  if (const node_t starter = host_.ways.hop_to(number); starter != number)
    return process + " was started by node " + std::to_string(starter) +
           ", and the host starts again only what it has started or reached itself); leave each: away in HAM_NODES, or "
           "reach a waiting program on that machine, as in tcp://HOST:PORT+restart";
  if (host_.ways.any_behind(number))
    return process +
           " has started other targets, which would be lost with it); let one waiting program have those targets, "
           "and reach another one that has none";
  return process + " was not started by the host, nor reached over tcp); start it with HAM_NODES or offload::add_node";
}

void membership::supervise(node_t node, offload::supervision how) {
  const node_t number = host_.numbers.number_of(node);
  if (number == 0) throw config_error("the host cannot be supervised; whoever starts the program can start it again");
  {
    std::lock_guard guard(groups_mutex_);
    if (!groups_.contains(number))
      throw config_error("node " + std::to_string(number) + " cannot be supervised (" + why_not_supervised(number));
  }
  supervisor_.supervise(number, std::move(how));
  {
    std::lock_guard guard(groups_mutex_);
    if (groups_.contains(number)) return;
  }
  supervisor_.release(number);  // the removal may have been through with that
  throw config_error("node " + std::to_string(number) +
                     " cannot be supervised (it was removed from the job meanwhile); add another one with "
                     "offload::add_node");
}

bool membership::ends_with_connection(node_t process) {
  std::lock_guard guard(groups_mutex_);
  return groups_.contains(host_.numbers.number_of(process));
}

/// What is kept for those who want to reach it.
void membership::forget(node_t process) {
  directory_.forget(process);
  host_.locked([&] {
    if (directory_.network_if_open() != nullptr) directory_.network_if_open()->leave(process);
  });
}

node_t membership::start_again(node_t number) {
  std::vector<target_group> groups;
  {
    std::lock_guard guard(groups_mutex_);
    const auto found = groups_.find(number);
    if (found == groups_.end()) throw config_error("node " + std::to_string(number) + " was removed");
    groups.push_back(found->second);
  }
  end_lost(host_.numbers.of(number).process);
  return start(groups, base::never_ns, number);
}

void membership::end_lost(node_t process) noexcept {
  try {
    {
      std::lock_guard guard(one_at_a_time_);
      end_process(process, std::chrono::milliseconds(500));
    }
    forget(process);
  } catch (const std::exception&) {  // no memory: its process ends with the host's
  }
}

void membership::end(node_t process) noexcept {
  try {
    end_target(process, "it was not to be used", std::chrono::milliseconds(0));
  } catch (const std::exception&) {  // no memory: its process ends with the host's
    started_.end(process, std::chrono::milliseconds(0));
  }
}

/// Who is not told for want of memory waits for nothing: the process that it knows is lost.
void membership::announce_numbers() noexcept {
  try {
    directory_.announce_numbers();
  } catch (const std::exception& problem) {
    base::log("job", base::log_level::warning, "nodes are not told of supervised numbers: %s", problem.what());
  }
}

}  // namespace ham::detail
