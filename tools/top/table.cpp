#include "table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

namespace ham::inline v1::top {
namespace {

struct unit {
  double size;
  const char* name;
};

/// With three digits, in the largest unit that is not larger than the value.
std::string with_unit(double value, std::span<const unit> units) {
  const unit* chosen = &units.back();
  for (const unit& one : units) {
    // 999.6 would be shown with four digits.
    if (value >= one.size * 0.9995) {
      chosen = &one;
      break;
    }
  }
  const double number = value / chosen->size;
  const int digits = number >= 99.95 || number == 0 ? 0 : number >= 9.995 ? 1 : 2;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s%s", digits, number, *chosen->name == '\0' ? "" : " ", chosen->name);
  return text.data();
}

struct column {
  const char* title;
  int width;  ///< negative: to the left
  std::string (*text)(const shown_node&);
};

std::string count_text(bool known, std::uint64_t count) { return known ? std::to_string(count) : "-"; }

std::string number_text(const shown_node& of) {
  return std::to_string(of.counters.number) + (of.counters.seen_by_host ? "*" : "");
}
std::string pid_text(const shown_node& of) {
  return of.counters.pid < 0 ? std::string("-") : std::to_string(of.counters.pid);
}
std::string rss_text(const shown_node& of) {
  return of.counters.rss_bytes == 0 ? "-" : short_number(static_cast<double>(of.counters.rss_bytes)) + "B";
}
std::string bytes_text(double rate) { return rate < 0 ? "-" : short_number(rate) + "B"; }

const std::array<column, 15> columns{{
    {"NODE", 5, &number_text},
    {"PID", 8, &pid_text},
    {"STATE", -8, [](const shown_node& of) { return std::string(to_string(of.counters.now)); }},
    {"IN/s", 8, [](const shown_node& of) { return short_number(of.calls_in_s); }},
    {"OUT/s", 8, [](const shown_node& of) { return short_number(of.calls_out_s); }},
    {"P50", 8, [](const shown_node& of) { return short_time(of.p50_s); }},
    {"P99", 8, [](const shown_node& of) { return short_time(of.p99_s); }},
    {"QUEUE", 6, [](const shown_node& of) { return count_text(!of.counters.seen_by_host, of.counters.queued); }},
    {"OUTBOX", 6, [](const shown_node& of) { return count_text(true, of.counters.all.waiting); }},
    {"B/s IN", 8, [](const shown_node& of) { return bytes_text(of.bytes_in_s); }},
    {"B/s OUT", 8, [](const shown_node& of) { return bytes_text(of.bytes_out_s); }},
    {"RSS", 8, &rss_text},
    {"RESTARTS", 8, [](const shown_node& of) { return count_text(true, of.counters.restarts); }},
    {"BY", -8, [](const shown_node& of) { return of.counters.transport; }},
    {"MACHINE", -1, [](const shown_node& of) { return of.counters.machine; }},
}};

/// Behind the others, where a node of the job has a device.
std::string device_text(const shown_node& of) {
  const node_counters::device_use& device = of.counters.device;
  if (!device.there) return "-";
  return std::string(device.resident ? "resident" : "idle") + ", " + short_number(of.device_calls_s) + " calls/s, " +
         std::to_string(device.launches) + (device.launches == 1 ? " launch" : " launches");
}
constexpr int machine_width = 16;

template <class Text>
std::string line_of(Text text) {
  std::string line;
  for (const column& one : columns) {
    const std::string cell = text(one);
    const auto width = static_cast<std::size_t>(std::abs(one.width));
    const std::string blanks(cell.size() < width ? width - cell.size() : 0, ' ');
    line += (line.empty() ? "" : "  ") + (one.width < 0 ? cell + blanks : blanks + cell);
  }
  return line.erase(line.find_last_not_of(' ') + 1);
}

std::string titles() {
  return line_of([](const column& one) { return std::string(one.title); });
}

}  // namespace

std::string short_number(double value) {
  constexpr std::array<unit, 5> units{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  if (value < 0) return "-";
  return with_unit(value, units);
}

std::string short_time(double seconds) {
  constexpr std::array<unit, 4> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (seconds < 0) return "-";
  return with_unit(seconds, units);
}

std::vector<std::string> table_lines(const std::vector<shown_job>& jobs) {
  std::vector<std::string> lines;
  bool any_seen_by_host = false;
  for (const shown_job& job : jobs) {
    if (!lines.empty()) lines.emplace_back();
    const std::string who = job.pid < 0 ? "of a host elsewhere" : std::to_string(job.pid);
    lines.push_back("job " + who + "  " + job.program + "  " + std::to_string(job.nodes.size()) +
                    (job.nodes.size() == 1 ? " node" : " nodes"));
    const bool devices = std::ranges::any_of(job.nodes, [](const auto& one) { return one.counters.device.there; });
    const auto with_device = [devices](std::string line, const std::string& device) {
      if (!devices) return line;
      line.resize(std::max(line.size(), titles().find("MACHINE") + machine_width), ' ');
      return line + "  " + device;
    };
    lines.push_back(with_device(titles(), "DEVICE"));
    for (const shown_node& node : job.nodes) {
      lines.push_back(with_device(line_of([&](const column& one) { return one.text(node); }), device_text(node)));
      any_seen_by_host = any_seen_by_host || node.counters.seen_by_host;
    }
  }
  if (any_seen_by_host) lines.emplace_back("* as its host sees it: what the two have exchanged");
  return lines;
}

}  // namespace ham::top
