#include "timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "timeline_page.hpp"

namespace ham::inline v1::trace {
namespace {

/// As a text of JavaScript that no tag of HTML ends.
std::string script_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", byte);
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// The longest, in their order.
std::vector<std::uint32_t> chosen(const std::vector<shown_slice>& slices, std::size_t most) {
  std::vector<std::uint32_t> all(slices.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  if (all.size() <= most) return all;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                   [&](std::uint32_t one, std::uint32_t other) {
                     return slices[one].end - slices[one].begin > slices[other].end - slices[other].begin;
                   });
  all.resize(most);
  std::sort(all.begin(), all.end());
  return all;
}

/// The process that a track belongs to, by name.
std::string owner_of(const shown_trace& trace, const shown_track& of) {
  for (const auto& [uuid, one] : trace.tracks) {
    const bool is_parent = of.parent != 0 ? uuid == of.parent : one.is_process && one.pid == of.pid;
    if (is_parent && &one != &of) return one.name;
  }
  return of.is_process ? of.name : "";
}

void write_slices(std::ostream& out, const shown_trace& trace, const std::vector<std::uint32_t>& shown,
                  std::int64_t start) {
  std::unordered_map<std::uint64_t, std::uint32_t> ends;
  for (const std::uint32_t i : shown)
    if (trace.slices[i].flow_in != 0) ends[trace.slices[i].flow_in] = i;
  std::unordered_map<std::uint32_t, std::uint32_t> places;
  for (std::uint32_t i = 0; i < shown.size(); ++i) places[shown[i]] = i;
  out << "slices=[";
  for (const std::uint32_t i : shown) {
    const shown_slice& one = trace.slices[i];
    const auto end = one.flow_out == 0 ? ends.end() : ends.find(one.flow_out);
    out << "[" << one.track << "," << one.depth << "," << one.begin - start << "," << one.end - one.begin << ","
        << one.name << "," << one.category << "," << (end == ends.end() ? -1 : std::int64_t{places[end->second]})
        << "],\n";
  }
  out << "];\n";
}

void write_counters(std::ostream& out, const shown_trace& trace, std::int64_t start) {
  constexpr std::size_t max_values = 4000;
  out << "counters=[";
  for (const auto& [track, values] : trace.counters) {
    const std::size_t step = values.size() / max_values + 1;
    out << "[" << track << ",[";
    for (std::size_t i = 0; i < values.size(); i += step)
      if (std::isfinite(values[i].second))  // JavaScript has other words for the rest
        out << "[" << values[i].first - start << "," << values[i].second << "],";
    out << "]],\n";
  }
  out << "];\n";
}

}  // namespace

void write_timeline(std::ostream& out, const shown_trace& trace, const std::string& title, std::size_t max_slices) {
  const std::vector<std::uint32_t> shown = chosen(trace.slices, max_slices);
  std::int64_t start = INT64_MAX;
  for (const shown_slice& one : trace.slices) start = std::min(start, one.begin);
  for (const auto& [track, values] : trace.counters)
    if (!values.empty()) start = std::min(start, values.front().first);
  out << timeline_head << "title=" << script_text(title) << ";\nhidden=" << trace.slices.size() - shown.size() << ";\n";
  out << "texts=[";
  for (const std::string& one : trace.texts) out << script_text(one) << ",";
  out << "];\nremarks=[";
  for (const std::string& one : trace.remarks) out << script_text(one) << ",";
  out << "];\ntracks=[";
  for (const auto& [uuid, one] : trace.tracks)
    out << "[" << uuid << "," << script_text(one.name) << "," << script_text(owner_of(trace, one)) << ","
        << script_text(one.unit) << "],\n";
  out << "];\n";
  write_slices(out, trace, shown, start);
  write_counters(out, trace, start);
  out << timeline_tail;
}

}  // namespace ham::trace
