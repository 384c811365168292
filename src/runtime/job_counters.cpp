#include "runtime/job_counters.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace ham::inline v1::detail {
namespace {

using base::counter_reading;
using base::counter_row;

node_counters::traffic for_people(const counter_reading::traffic& of) noexcept {
  return {of.calls_sent, of.calls_received, of.bytes_sent, of.bytes_received, of.waiting};
}

node_counters::activity activity_of(const counter_reading& one) noexcept {
  constexpr std::int64_t lately_ns = 50'000'000;  // a thread that polls notes it every millisecond
  if (one.executing != 0) return node_counters::activity::busy;
  if (one.asleep) return node_counters::activity::asleep;
  const bool polled = one.polled_ago_ns >= 0 && one.polled_ago_ns < lately_ns;
  return polled ? node_counters::activity::spinning : node_counters::activity::away;
}

void take_executed(node_counters& into, const counter_reading& from) {
  constexpr double ns = 1e-9;
  into.executed = from.executed;
  for (std::size_t i = 0; i < from.took.size(); ++i) {
    if (from.took[i] == 0) continue;
    const double end = static_cast<double>(base::time_buckets::end_of(i));
    if (from.tick_ns > 0) into.took.push_back({end * from.tick_ns * ns, from.took[i]});
  }
  into.executed_s = static_cast<double>(from.ticks) * from.tick_ns * ns;
}

const counter_reading::peer* peer_in(const counter_reading& of, node_t node) noexcept {
  const auto found = std::find_if(of.peers.begin(), of.peers.end(), [&](const auto& one) { return one.node == node; });
  return found == of.peers.end() ? nullptr : &*found;
}

/// By what it has counted itself.
node_counters own_view(const found_counters& found) {
  const counter_reading& from = found.read;
  node_counters node;
  node.node = node.number = from.node;
  node.pid = from.pid;
  node.seen_by_host = false;
  node.now = activity_of(from);
  node.age_s = static_cast<double>(from.age_ns) * 1e-9;
  node.all = for_people(from.all);
  node.executing = from.executing;
  node.queued = from.set_aside + from.in_contexts + from.in_pool;
  node.sleeps = from.sleeps;
  using device_state = base::counter_head::device_state;
  node.device = {from.device != device_state::none, from.device == device_state::resident, from.device_calls,
                 from.device_launches};
  node.rss_bytes = found.rss_bytes;
  take_executed(node, from);
  for (const counter_reading::peer& one : from.peers) node.peers.push_back({one.node, for_people(one.with)});
  std::sort(node.peers.begin(), node.peers.end(),
            [](const auto& one, const auto& other) { return one.node < other.node; });
  if (const counter_reading::peer* const self = peer_in(from, from.node)) {
    node.machine = self->machine;
    node.transport = self->transport;
  }
  return node;
}

/// By what its host has exchanged with it: the other direction.
node_counters view_of_host(const counter_reading::peer& row) {
  node_counters node;
  node.node = row.node;
  node.all = {row.with.calls_received, row.with.calls_sent, row.with.bytes_received, row.with.bytes_sent,
              row.with.waiting};
  return node;
}

void name_by_host(node_counters& node, const counter_reading::peer& row) {
  node.number = row.number;
  node.restarts = row.restarts;
  node.transport = row.transport;
  node.machine = row.machine;
  if (row.pid > 0) node.pid = row.pid;
  if (row.now == counter_row::state::lost) node.now = node_counters::activity::gone;
}

bool is_host(const counter_reading& one) noexcept { return one.node == 0; }

/// Whether the node may be what the host has in that row. Nodes of one process are told apart by who was made first.
bool fits(const counter_reading& host, const counter_reading::peer& row, const counter_reading& node) noexcept {
  if (node.node != row.node || node.pid != row.pid) return false;
  if (node.pid == host.pid) return node.serial > host.serial;
  const counter_reading::peer* const its_host = peer_in(node, 0);
  return its_host == nullptr || its_host->pid == 0 || its_host->pid == host.pid;
}

class grouping {
 public:
  grouping(const std::vector<found_counters>& found, double read_at_s)
      : found_(found), claimed_(found.size()), read_at_s_(read_at_s) {}

  job_counters job_of(std::size_t host) {
    const counter_reading& from = found_[host].read;
    claimed_[host] = true;
    job_counters job{from.pid, from.serial, from.program, read_at_s_, {}};
    for (const counter_reading::peer& row : from.peers) {
      if (row.now == counter_row::state::expected && row.node != 0) continue;  // it has not joined
      const std::size_t own = row.node == 0 ? host : find(from, row);
      job.nodes.push_back(own < found_.size() ? own_view(found_[own]) : view_of_host(row));
      name_by_host(job.nodes.back(), row);
      if (own < found_.size()) claimed_[own] = true;
    }
    std::sort(job.nodes.begin(), job.nodes.end(),
              [](const auto& one, const auto& other) { return one.node < other.node; });
    return job;
  }
  /// Those of hosts elsewhere; each by itself.
  void add_left(std::vector<job_counters>& jobs) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (claimed_[i]) continue;
      jobs.push_back({-1, found_[i].read.serial, found_[i].read.program, read_at_s_, {own_view(found_[i])}});
    }
  }

 private:
  std::size_t find(const counter_reading& host, const counter_reading::peer& row) const {
    std::size_t best = found_.size();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (claimed_[i] || !fits(host, row, found_[i].read)) continue;
      if (best == found_.size() || found_[i].read.serial < found_[best].read.serial) best = i;
    }
    return best;
  }

  const std::vector<found_counters>& found_;
  std::vector<bool> claimed_;
  const double read_at_s_;
};

}  // namespace

std::vector<job_counters> jobs_of(const std::vector<found_counters>& found, double read_at_s) {
  std::vector<std::size_t> hosts;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (is_host(found[i].read)) hosts.push_back(i);
  // Of a process the job that was made last first: its nodes were made behind its host, and no other job's were.
  std::sort(hosts.begin(), hosts.end(), [&](std::size_t one, std::size_t other) {
    return std::tuple(found[one].read.pid, found[other].read.serial) <
           std::tuple(found[other].read.pid, found[one].read.serial);
  });
  grouping all(found, read_at_s);
  std::vector<job_counters> jobs;
  for (const std::size_t host : hosts) jobs.push_back(all.job_of(host));
  all.add_left(jobs);
  return jobs;
}

}  // namespace ham::detail
