#include "view.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ham::inline v1::top {
namespace {

const std::array<std::pair<const char*, sort_key>, 10> keys{{{"node", sort_key::node},
                                                             {"in", sort_key::in},
                                                             {"out", sort_key::out},
                                                             {"p50", sort_key::p50},
                                                             {"p99", sort_key::p99},
                                                             {"queue", sort_key::queue},
                                                             {"outbox", sort_key::outbox},
                                                             {"bytes", sort_key::bytes},
                                                             {"rss", sort_key::rss},
                                                             {"restarts", sort_key::restarts}}};

const job_counters* find_job(const std::vector<job_counters>& in, const job_counters& like) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const job_counters& one) {
    const bool same_node = like.pid >= 0 || (!one.nodes.empty() && one.nodes[0].pid == like.nodes[0].pid);
    return one.pid == like.pid && one.serial == like.serial && !one.nodes.empty() && same_node;
  });
  return found == in.end() ? nullptr : &*found;
}

const node_counters* find_node(const job_counters& in, const node_counters& like) {
  const auto found = std::find_if(in.nodes.begin(), in.nodes.end(), [&](const node_counters& one) {
    return one.node == like.node && one.pid == like.pid && one.seen_by_host == like.seen_by_host;
  });
  return found == in.nodes.end() ? nullptr : &*found;
}

double rate(std::uint64_t before, std::uint64_t now, double interval_s) {
  return now < before ? 0 : static_cast<double>(now - before) / interval_s;
}

void take_rates(shown_node& into, const node_counters& before, double interval_s) {
  const node_counters& now = into.counters;
  into.calls_in_s = rate(before.all.calls_received, now.all.calls_received, interval_s);
  into.calls_out_s = rate(before.all.calls_sent, now.all.calls_sent, interval_s);
  into.bytes_in_s = rate(before.all.bytes_received, now.all.bytes_received, interval_s);
  into.bytes_out_s = rate(before.all.bytes_sent, now.all.bytes_sent, interval_s);
  if (now.device.there) into.device_calls_s = rate(before.device.calls, now.device.calls, interval_s);
  const auto took = added(before.took, now.took);
  into.p50_s = quantile(took, 0.5);
  into.p99_s = quantile(took, 0.99);
  if (now.now == node_counters::activity::away && into.bytes_in_s > 0)
    into.counters.now = node_counters::activity::spinning;
}

double value_of(const shown_node& of, sort_key key) {
  switch (key) {
    case sort_key::node: break;
    case sort_key::in: return of.calls_in_s;
    case sort_key::out: return of.calls_out_s;
    case sort_key::p50: return of.p50_s;
    case sort_key::p99: return of.p99_s;
    case sort_key::queue: return of.counters.seen_by_host ? -1 : static_cast<double>(of.counters.queued);
    case sort_key::outbox: return static_cast<double>(of.counters.all.waiting);
    case sort_key::bytes: return of.bytes_in_s + of.bytes_out_s;
    case sort_key::rss: return static_cast<double>(of.counters.rss_bytes);
    case sort_key::restarts: return static_cast<double>(of.counters.restarts);
  }
  return -static_cast<double>(of.counters.number);
}

bool is_shown(const shown_node& one, const filter& by) {
  const node_counters& of = one.counters;
  if (of.now == node_counters::activity::gone && !by.gone && by.state != "gone") return false;
  if (!by.nodes.empty() && std::find(by.nodes.begin(), by.nodes.end(), of.number) == by.nodes.end()) return false;
  if (!by.state.empty() && by.state != to_string(of.now)) return false;
  return of.machine.find(by.machine) != std::string::npos;
}

}  // namespace

std::vector<shown_job> between(const std::vector<job_counters>& before, const std::vector<job_counters>& now) {
  std::vector<shown_job> result;
  for (const job_counters& job : now) {
    if (job.nodes.empty()) continue;
    const job_counters* const old = find_job(before, job);
    shown_job shown{job.pid, job.program, old == nullptr ? 0 : job.read_at_s - old->read_at_s, {}};
    for (const node_counters& one : job.nodes) {
      shown.nodes.push_back({one});
      const node_counters* const earlier = old == nullptr ? nullptr : find_node(*old, one);
      if (earlier != nullptr && shown.interval_s > 0) take_rates(shown.nodes.back(), *earlier, shown.interval_s);
    }
    result.push_back(std::move(shown));
  }
  return result;
}

std::optional<sort_key> sort_key_of(const std::string& name) {
  for (const auto& [known, key] : keys)
    if (name == known) return key;
  return std::nullopt;
}

const std::vector<std::string>& sort_key_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, key] : keys) all.emplace_back(name);
    return all;
  }();
  return names;
}

sort_key next(sort_key key) noexcept {
  return static_cast<sort_key>((static_cast<std::size_t>(key) + 1) % keys.size());
}

void arrange(std::vector<shown_job>& jobs, sort_key by, const filter& shown) {
  for (shown_job& job : jobs) {
    std::erase_if(job.nodes, [&](const shown_node& one) { return !is_shown(one, shown); });
    std::stable_sort(job.nodes.begin(), job.nodes.end(), [by](const shown_node& one, const shown_node& other) {
      return value_of(one, by) > value_of(other, by);
    });
  }
  std::erase_if(jobs, [](const shown_job& one) { return one.nodes.empty(); });
}

}  // namespace ham::top
