// https://prometheus.io/docs/instrumenting/exposition_formats: one group of lines per metric, HELP and TYPE first.
#include "runtime/metrics_text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>

namespace ham::inline v1::detail {
namespace {

using node_value = std::function<double(const node_counters&)>;

/// Bounds of the histogram, in seconds. They stay the same, while those of the counters depend on the clock.
constexpr std::array<double, 17> time_bounds{1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3,
                                             3e-3, 1e-2, 3e-2, 0.1,  0.3,  1,    10,   100};

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  std::array<char, 32> shorter{};
  std::snprintf(shorter.data(), shorter.size(), "%.10g", value);
  double back = 0;
  return std::sscanf(shorter.data(), "%lf", &back) == 1 && back == value ? shorter.data() : text.data();
}

/// Between quotes.
std::string escaped_label(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

std::string labels_of(const job_counters& job, const node_counters& node) {
  return "job_pid=\"" + std::to_string(job.pid) + "\",job_serial=\"" + std::to_string(job.serial) + "\",program=\"" +
         escaped_label(job.program) + "\",node=\"" + std::to_string(node.number) + "\",process=\"" +
         std::to_string(node.node) + "\",machine=\"" + escaped_label(node.machine) + "\",transport=\"" +
         escaped_label(node.transport) + "\"";
}

class exposition {
 public:
  explicit exposition(const std::vector<job_counters>& jobs) : jobs_(jobs) {}

  void add(const char* name, const char* type, const char* help, const node_value& value, bool own_only = false) {
    begin(name, type, help);
    each_node([&](const std::string& labels, const node_counters& node) {
      if (!own_only || !node.seen_by_host) line(name, labels, value(node));
    });
  }

  void add_state() {
    constexpr const char* name = "ham_node_state";
    begin(name, "gauge", "1 for what the node does right now, 0 for the rest");
    using activity = node_counters::activity;
    each_node([&](const std::string& labels, const node_counters& node) {
      if (node.seen_by_host) return;
      for (const activity one : {activity::busy, activity::spinning, activity::asleep, activity::away})
        line(name, labels + ",state=\"" + to_string(one) + "\"", node.now == one ? 1 : 0);
    });
  }

  /// Of nodes that have a device.
  void add_device(const char* name, const char* type, const char* help, const node_value& value) {
    begin(name, type, help);
    each_node([&](const std::string& labels, const node_counters& node) {
      if (node.device.there) line(name, labels, value(node));
    });
  }

  void add_times() {
    const std::string name = "ham_execution_seconds";
    begin(name.c_str(), "histogram", "how long executed calls took, from decoding to the reply");
    each_node([&](const std::string& labels, const node_counters& node) {
      if (node.seen_by_host) return;
      auto next = node.took.begin();
      std::uint64_t so_far = 0;
      for (const double bound : time_bounds) {
        for (; next != node.took.end() && next->max_s <= bound; ++next) so_far += next->calls;
        line(name + "_bucket", labels + ",le=\"" + number_text(bound) + "\"", static_cast<double>(so_far));
      }
      for (; next != node.took.end(); ++next) so_far += next->calls;
      line(name + "_bucket", labels + ",le=\"+Inf\"", static_cast<double>(so_far));
      line(name + "_sum", labels, node.executed_s);
      line(name + "_count", labels, static_cast<double>(so_far));
    });
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin(const char* name, const char* type, const char* help) {
    text_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void line(const std::string& name, const std::string& labels, double value) {
    text_ += name + "{" + labels + "} " + number_text(value) + "\n";
  }
  template <class Visit>
  void each_node(Visit visit) const {
    for (const job_counters& job : jobs_) {
      for (const node_counters& node : job.nodes)
        if (node.now != node_counters::activity::gone) visit(labels_of(job, node), node);
    }
  }

  const std::vector<job_counters>& jobs_;
  std::string text_;
};

double as_number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

std::string metrics_text(const std::vector<job_counters>& jobs) {
  using node = node_counters;
  exposition all(jobs);
  all.add("ham_calls_sent_total", "counter", "calls, pings and members of batches that the node sent",
          [](const node& one) { return as_number(one.all.calls_sent); });
  all.add("ham_calls_received_total", "counter", "calls, pings and members of batches that arrived at the node",
          [](const node& one) { return as_number(one.all.calls_received); });
  all.add("ham_bytes_sent_total", "counter", "bytes of messages that the node sent",
          [](const node& one) { return as_number(one.all.bytes_sent); });
  all.add("ham_bytes_received_total", "counter", "bytes of messages that arrived at the node",
          [](const node& one) { return as_number(one.all.bytes_received); });
  all.add("ham_outbox_messages", "gauge", "messages that wait for room on their way",
          [](const node& one) { return as_number(one.all.waiting); });
  all.add("ham_restarts_total", "counter", "processes that had the number of the node before",
          [](const node& one) { return as_number(one.restarts); });
  all.add(
      "ham_queued_calls", "gauge", "calls that have arrived and not begun",
      [](const node& one) { return as_number(one.queued); }, true);
  all.add(
      "ham_executing_threads", "gauge", "threads of the node that execute a call",
      [](const node& one) { return as_number(one.executing); }, true);
  all.add(
      "ham_sleeps_total", "counter", "times that the node went to sleep in the kernel",
      [](const node& one) { return as_number(one.sleeps); }, true);
  all.add(
      "ham_resident_memory_bytes", "gauge", "resident memory of the node's process",
      [](const node& one) { return as_number(one.rss_bytes); }, true);
  all.add_device("ham_device_calls_total", "counter", "calls of device functions that the node's device has answered",
                 [](const node& one) { return as_number(one.device.calls); });
  all.add_device("ham_device_launches_total", "counter", "launches of the resident kernel",
                 [](const node& one) { return as_number(one.device.launches); });
  all.add_device("ham_device_resident", "gauge", "1 while the device takes calls, 0 while it is idle",
                 [](const node& one) { return one.device.resident ? 1.0 : 0.0; });
  all.add_state();
  all.add_times();
  return all.take();
}

}  // namespace ham::detail
