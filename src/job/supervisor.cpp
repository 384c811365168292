// Which nodes are supervised, and what becomes of their losses.
#include "job/supervisor.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/thread.hpp"

namespace ham::inline v1::detail {

using phase = replacements::phase;

void supervisor::add_reason(std::deque<std::string>& reasons, const std::string& why) {
  constexpr std::size_t max_reasons = 16;
  reasons.push_back(why);
  if (reasons.size() > max_reasons) reasons.pop_front();
}

void supervisor::supervise(node_t number, offload::supervision how) {
  node_t process = -1;
  bool lost = false;
  auto fresh = std::make_shared<const offload::supervision>(std::move(how));
  {
    std::lock_guard guard(mutex_);
    if (ending_) return;
    if (!thread_.joinable()) thread_ = base::start_thread([this] { work(); });
    watched& one = nodes_[number];
    one.how.swap(fresh);
    one.restarts.clear();
    if (one.process < 0) one.process = number;
    process = one.process;
    lost = host_.numbers.of(number).now == phase::given_up;
    one.due = one.due || lost;
    if (!one.due && !one.restarting) host_.numbers.set(number, process, phase::up);
    if (lost) host_.numbers.set(number, process, phase::restarting);
  }
  host_.events.use_listener(this);
  fresh.reset();  // without a lock: what the program's function holds may be of other nodes
  news_.notify_all();
  host_.locked([&] {  // it may have died before it was watched
    if (!lost && host_.peers.has(process) && host_.peers[process].state.load() == peer_state::lost)
      on_lost(process, host_.peers[process].about.loss());
  });
  starter_.announce_numbers();
}

bool supervisor::supervises(node_t number) const {
  std::lock_guard guard(mutex_);
  return nodes_.contains(number);
}

void supervisor::on_lost(node_t process, const std::string& why) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = std::ranges::find_if(nodes_, [&](const auto& one) { return one.second.process == process; });
  if (ending_ || found == nodes_.end() || found->second.due || found->second.restarting) return;
  try {
    if (!std::exchange(found->second.hung, false)) add_reason(found->second.reasons, why);
    host_.numbers.set(found->first, process, phase::restarting);
  } catch (const std::bad_alloc&) {  // calls fail meanwhile
  }
  found->second.due = true;
  news_.notify_all();
}

/// Calls that wait for its restart fail.
void supervisor::end_number(node_t number, node_t process) noexcept {
  try {
    host_.numbers.set(number, process, phase::given_up,
                      "node " + std::to_string(number) + " was removed from the job while it was started again");
  } catch (const std::bad_alloc&) {
    host_.numbers.forget(number);
  }
}

node_t supervisor::release(node_t number) {
  node_t process = number;
  std::shared_ptr<const offload::supervision> how;  // ends without a lock
  {
    std::lock_guard guard(mutex_);
    const auto found = nodes_.find(number);
    if (found == nodes_.end()) return number;
    process = found->second.process;
    if (std::thread& worker = found->second.worker; worker.joinable()) {
      if (found->second.working)
        left_over_.push_back(std::move(worker));
      else
        worker.join();  // it needs nothing any more
    }
    how = std::move(found->second.how);
    if (found->second.working)  // its on_respawn may still call the process by the number
      end_number(number, process);
    else
      host_.numbers.forget(number);
    nodes_.erase(found);
  }
  news_.notify_all();  // its restart may be resting
  starter_.announce_numbers();
  return process;
}

void supervisor::end() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (std::exchange(ending_, true)) return;
  }
  host_.events.use_listener(nullptr);
  news_.notify_all();
  if (!host_.numbers.any()) return;
  host_.locked([&] {  // who waits for a restart waits no more
    host_.numbers.end();
    host_.waits.wake_finished();
  });
}

void supervisor::stop() noexcept {
  end();
  if (thread_.joinable()) thread_.join();
  std::vector<std::thread> workers;
  {
    std::lock_guard guard(mutex_);
    for (auto& [number, one] : nodes_) {
      if (one.worker.joinable()) left_over_.push_back(std::move(one.worker));
    }
    workers.swap(left_over_);
  }
  for (std::thread& one : workers) one.join();
  if (executing_.joinable()) executing_.join();
}

void supervisor::on_report() noexcept {
  {
    std::lock_guard guard(mutex_);
    reported_ = true;
  }
  news_.notify_all();
}

}  // namespace ham::detail
