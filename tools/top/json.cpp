// JSON, if nlohmann-json was there at build time.
#include "json.hpp"

#include <cmath>
#include <stdexcept>

#if __has_include(<nlohmann/json.hpp>)

#include <nlohmann/json.hpp>

namespace ham::inline v1::top {
namespace {

using json = nlohmann::ordered_json;

json known(double value) { return value < 0 || !std::isfinite(value) ? json(nullptr) : json(value); }

json traffic_of(const node_counters::traffic& of) {
  return {{"calls_sent", of.calls_sent},
          {"calls_received", of.calls_received},
          {"bytes_sent", of.bytes_sent},
          {"bytes_received", of.bytes_received},
          {"outbox", of.waiting}};
}

json device_of(const shown_node& shown) {
  const node_counters::device_use& of = shown.counters.device;
  if (!of.there) return nullptr;
  return {{"resident", of.resident},
          {"calls", of.calls},
          {"calls_per_s", known(shown.device_calls_s)},
          {"launches", of.launches}};
}

json to_json(const shown_node& shown) {
  const node_counters& of = shown.counters;
  const bool own = !of.seen_by_host;
  json peers = json::array();
  for (const node_counters::peer& one : of.peers) {
    json entry = traffic_of(one.with);
    entry["node"] = one.node;
    peers.push_back(std::move(entry));
  }
  return {{"node", of.number},
          {"process", of.node},
          {"pid", of.pid < 0 ? json(nullptr) : json(of.pid)},
          {"machine", of.machine},
          {"transport", of.transport},
          {"seen_by_host", of.seen_by_host},
          {"state", to_string(of.now)},
          {"calls_in_per_s", known(shown.calls_in_s)},
          {"calls_out_per_s", known(shown.calls_out_s)},
          {"bytes_in_per_s", known(shown.bytes_in_s)},
          {"bytes_out_per_s", known(shown.bytes_out_s)},
          {"p50_s", known(shown.p50_s)},
          {"p99_s", known(shown.p99_s)},
          {"queue", own ? json(of.queued) : json(nullptr)},
          {"outbox", of.all.waiting},
          {"rss_bytes", of.rss_bytes == 0 ? json(nullptr) : json(of.rss_bytes)},
          {"restarts", of.restarts},
          {"executing_threads", own ? json(of.executing) : json(nullptr)},
          {"sleeps", own ? json(of.sleeps) : json(nullptr)},
          {"age_s", own ? json(of.age_s) : json(nullptr)},
          {"executed", own ? json(of.executed) : json(nullptr)},
          {"executed_s", own ? json(of.executed_s) : json(nullptr)},
          {"device", device_of(shown)},
          {"total", traffic_of(of.all)},
          {"peers", std::move(peers)}};
}

}  // namespace

std::string json_text(const std::vector<shown_job>& jobs) {
  json all = json::array();
  for (const shown_job& job : jobs) {
    json nodes = json::array();
    for (const shown_node& one : job.nodes) nodes.push_back(to_json(one));
    all.push_back({{"pid", job.pid < 0 ? json(nullptr) : json(job.pid)},
                   {"program", job.program},
                   {"interval_s", job.interval_s},
                   {"nodes", std::move(nodes)}});
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace ham::top

#else

namespace ham::inline v1::top {

std::string json_text(const std::vector<shown_job>&) {
  throw std::runtime_error("--json is not there (ham-top was built without nlohmann-json)");
}

}  // namespace ham::top

#endif
