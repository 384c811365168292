#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "duration_text.hpp"

namespace ham::inline v1::trace {
namespace {

constexpr std::array<std::string_view, 6> verbs{"call ", "ping ", "reply to ", "wait for ", "queue ", "answer of "};

std::string function_in(const std::string& name) {
  for (const std::string_view verb : verbs)
    if (name.starts_with(verb)) return name.substr(verb.size());
  return name;
}

class reporter {
 public:
  explicit reporter(const shown_trace& trace) : trace_(trace), own_(trace.slices.size()) {}

  trace_report report() {
    take_own_times();
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) take_ends(i);
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) count(i);
    return std::move(result_);
  }

 private:
  [[nodiscard]] const shown_slice& at(std::uint32_t i) const { return trace_.slices[i]; }
  [[nodiscard]] const std::string& category(const shown_slice& one) const { return trace_.text(one.category); }
  [[nodiscard]] static std::int64_t length(const shown_slice& one) { return one.end - one.begin; }
  function_report& of(const shown_slice& one) {
    const std::string& name = trace_.text(one.name);
    return result_.functions[category(one) == "execute" ? name : function_in(name)];
  }

  /// The slice around one, spans left out.
  [[nodiscard]] std::uint32_t around(const shown_slice& one) const {
    std::uint32_t outer = one.outer;
    while (outer != shown_slice::none && category(at(outer)) == "span") outer = at(outer).outer;
    return outer;
  }
  void take_own_times() {
    for (std::uint32_t i = 0; i < trace_.slices.size(); ++i) {
      const shown_slice& one = at(i);
      own_[i] += length(one);
      const std::uint32_t outer = around(one);
      if (category(one) != "span" && outer != shown_slice::none) own_[outer] -= length(one);
    }
  }
  /// Where arrows go to.
  void take_ends(std::uint32_t i) {
    if (at(i).flow_in != 0) ends_[at(i).flow_in] = i;
  }
  [[nodiscard]] const shown_slice* end_of(std::uint64_t flow) const {
    const auto found = ends_.find(flow);
    return flow == 0 || found == ends_.end() ? nullptr : &at(found->second);
  }

  void count(std::uint32_t i) {
    const shown_slice& one = at(i);
    const std::string& kind = category(one);
    const std::string& name = trace_.text(one.name);
    if (kind == "encode") {
      of(one).moving += length(one);
      if (!name.starts_with("batch of ")) count_call(one, name.starts_with("ping "));
    } else if (kind == "execute") {
      of(one).computing += own_[i];
      replies_around(i);
    } else if (kind == "reply" && one.outer != shown_slice::none && !name.starts_with("answer of ")) {
      of(one).moving += length(one);
      if (const shown_slice* const answer = end_of(one.flow_out)) of(one).moving += positive(answer->begin - one.end);
    } else if (kind == "wait" || kind == "sleep") {
      const std::uint32_t outer = around(one);
      if (outer != shown_slice::none && category(at(outer)) == "execute") of(at(outer)).waiting += own_[i];
    } else if (kind == "transfer" || kind == "span") {
      function_report& row = kind == "span" ? result_.spans[name] : result_.functions[name];
      ++row.calls;
      row.times.push_back(length(one));
      if (kind == "transfer") row.moving += length(one);
    }
  }
  void count_call(const shown_slice& one, bool is_ping) {
    function_report& row = of(one);
    ++row.calls;
    const shown_slice* const executed = end_of(one.flow_out);
    if (executed == nullptr) return;
    row.waiting += positive(executed->begin - one.end);
    if (is_ping) {
      row.times.push_back(positive(executed->end - one.begin));
      return;
    }
    const auto place = static_cast<std::uint32_t>(executed - trace_.slices.data());
    executions_of_calls_[place] = one.begin;
    if (const auto found = answers_.find(place); found != answers_.end())
      row.times.push_back(positive(found->second - one.begin));
  }
  /// Calls are met before or after their executions, as their tracks come.
  void replies_around(std::uint32_t execution) {
    const std::uint32_t end = static_cast<std::uint32_t>(trace_.slices.size());
    for (std::uint32_t i = execution + 1;
         i < end && at(i).track == at(execution).track && at(i).depth > at(execution).depth; ++i) {
      if (at(i).outer != execution || category(at(i)) != "reply") continue;
      const shown_slice* const answer = end_of(at(i).flow_out);
      if (answer == nullptr) continue;
      answers_[execution] = answer->begin;
      if (const auto found = executions_of_calls_.find(execution); found != executions_of_calls_.end())
        of(at(execution)).times.push_back(positive(answer->begin - found->second));
      return;
    }
  }
  [[nodiscard]] static std::int64_t positive(std::int64_t ns) noexcept { return std::max<std::int64_t>(ns, 0); }

  const shown_trace& trace_;
  std::vector<std::int64_t> own_;
  std::unordered_map<std::uint64_t, std::uint32_t> ends_;
  std::unordered_map<std::uint32_t, std::int64_t> executions_of_calls_;
  std::unordered_map<std::uint32_t, std::int64_t> answers_;
  trace_report result_;
};

std::string time_text(double ns) { return duration_text(ns, 2); }

void print_line(std::ostream& out, const std::vector<std::string>& cells) {
  std::array<char, 16> cell{};
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    std::snprintf(cell.data(), cell.size(), "%10.10s  ", cells[i].c_str());
    out << cell.data();
  }
  out << cells.back() << "\n";
}

/// Those that have taken most of the time first.
std::vector<std::pair<std::string, function_report>> sorted(std::map<std::string, function_report> rows) {
  std::vector<std::pair<std::string, function_report>> all(rows.begin(), rows.end());
  const auto total = [](const function_report& one) {
    return one.waiting + one.computing + one.moving +
           std::accumulate(one.times.begin(), one.times.end(), std::int64_t{0});
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& one, const auto& other) { return total(one.second) > total(other.second); });
  return all;
}

}  // namespace

double function_report::mean() const noexcept {
  if (times.empty()) return 0;
  return static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0})) /
         static_cast<double>(times.size());
}

std::int64_t function_report::percentile(double share) {
  if (times.empty()) return 0;
  const double last = static_cast<double>(times.size() - 1);
  const auto place = times.begin() + static_cast<std::ptrdiff_t>(std::llround(share * last));
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

trace_report report_of(const shown_trace& trace) { return reporter(trace).report(); }

void print_report(std::ostream& out, trace_report report, const shown_trace& trace) {
  const auto times = [](function_report& row) {
    return std::vector<std::string>{std::to_string(row.calls), time_text(row.mean()),
                                    time_text(static_cast<double>(row.percentile(0.5))),
                                    time_text(static_cast<double>(row.percentile(0.99)))};
  };
  print_line(out, {"calls", "mean", "p50", "p99", "waiting", "computing", "moving", "function"});
  for (auto& [name, row] : sorted(std::move(report.functions))) {
    std::vector<std::string> cells = times(row);
    for (const std::int64_t sum : {row.waiting, row.computing, row.moving})
      cells.push_back(time_text(static_cast<double>(sum)));
    cells.push_back(name);
    print_line(out, cells);
  }
  if (!report.spans.empty()) print_line(out, {"\nspans", "mean", "p50", "p99", "total", "span"});
  for (auto& [name, row] : sorted(std::move(report.spans))) {
    std::vector<std::string> cells = times(row);
    cells.push_back(time_text(row.mean() * static_cast<double>(row.times.size())));
    cells.push_back(name);
    print_line(out, cells);
  }
  out << "\n";
  for (const std::string& remark : trace.remarks) out << remark << "\n";
}

}  // namespace ham::trace
