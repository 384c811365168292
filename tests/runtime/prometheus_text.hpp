// A parser of Prometheus' text format, version 0.0.4, which is stricter than Prometheus: what it takes, any scraper
// does.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::test {

struct prometheus_sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

/// Throws std::runtime_error with the line for what is no such text.
class prometheus_text {
 public:
  std::map<std::string, std::string> types;  ///< of metrics, by name
  std::vector<prometheus_sample> samples;

  explicit prometheus_text(std::string_view text) {
    if (text.empty() || text.back() != '\n') throw std::runtime_error("the last line does not end");
    while (!text.empty()) {
      line_ = text.substr(0, text.find('\n'));
      text.remove_prefix(line_.size() + 1);
      rest_ = line_;
      if (rest_.starts_with("#"))
        read_comment();
      else
        read_sample();
    }
    check_histograms();
  }

  /// Samples of that name with these labels among theirs.
  [[nodiscard]] std::vector<prometheus_sample> find(const std::string& name,
                                                    const std::map<std::string, std::string>& with = {}) const {
    std::vector<prometheus_sample> found;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(found), [&](const prometheus_sample& one) {
      return one.name == name && std::includes(one.labels.begin(), one.labels.end(), with.begin(), with.end());
    });
    return found;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw std::runtime_error(why + ": " + std::string(line_)); }
  void expect(std::string_view word) {
    if (!rest_.starts_with(word)) refuse("no " + std::string(word));
    rest_.remove_prefix(word.size());
  }
  std::string name(bool colons) {
    std::size_t size = 0;
    const auto fits = [&](unsigned char c) {
      return std::isalpha(c) != 0 || c == '_' || (colons && c == ':') || (size != 0 && std::isdigit(c) != 0);
    };
    while (size < rest_.size() && fits(static_cast<unsigned char>(rest_[size]))) ++size;
    if (size == 0) refuse("no name");
    const std::string found(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return found;
  }
  void read_comment() {
    expect("# ");
    const bool is_type = rest_.starts_with("TYPE ");
    expect(is_type ? "TYPE " : "HELP ");
    const std::string of = name(true);
    expect(" ");
    if (!is_type) {
      if (!helped_.insert(of).second) refuse("a second HELP");
      return;
    }
    const std::set<std::string_view> known{"counter", "gauge", "histogram", "summary", "untyped"};
    if (!known.contains(rest_)) refuse("no type");
    if (!types.emplace(of, rest_).second) refuse("a second TYPE");
    group_ = of;
  }
  std::string quoted() {
    expect("\"");
    std::string text;
    for (;;) {
      if (rest_.empty()) refuse("a label does not end");
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c == '\\') {
        c = rest_.empty() ? ' ' : rest_.front();
        if (c != '\\' && c != '"' && c != 'n') refuse("an unknown escape");
        rest_.remove_prefix(1);
        if (c == 'n') c = '\n';
      }
      text += c;
    }
  }
  void read_sample() {
    prometheus_sample one;
    one.name = name(true);
    if (rest_.starts_with("{")) {
      expect("{");
      while (!rest_.starts_with("}")) {
        const std::string label = name(false);
        expect("=");
        if (!one.labels.emplace(label, quoted()).second) refuse("a label twice");
        if (!rest_.starts_with("}")) expect(",");
      }
      expect("}");
    }
    expect(" ");
    const std::string number(rest_);
    char* end = nullptr;
    one.value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || std::isspace(static_cast<unsigned char>(number[0])) != 0) refuse("no number");
    const std::string suffix = one.name.starts_with(group_) ? one.name.substr(group_.size()) : "?";
    const bool is_histogram = types[group_] == "histogram";
    const bool belongs = is_histogram ? suffix == "_bucket" || suffix == "_sum" || suffix == "_count" : suffix.empty();
    if (!belongs) refuse("it is not of the metric before");
    if (types[group_] == "counter" && !(one.value >= 0)) refuse("a counter below zero");
    if (!seen_.emplace(one.name, one.labels).second) refuse("a sample twice");
    samples.push_back(std::move(one));
  }
  /// Of each: buckets grow, the last one is +Inf, and is the count.
  void check_histograms() {
    for (const auto& [metric, type] : types) {
      if (type != "histogram") continue;
      line_ = metric;
      std::map<std::map<std::string, std::string>, std::vector<std::pair<double, double>>> buckets;
      for (const prometheus_sample& one : find(metric + "_bucket")) {
        auto labels = one.labels;
        if (!labels.contains("le")) refuse("a bucket without a bound");
        const double bound = std::strtod(labels.at("le").c_str(), nullptr);  // takes +Inf
        labels.erase("le");
        buckets[labels].emplace_back(bound, one.value);
      }
      for (const auto& [labels, all] : buckets) {
        if (!std::is_sorted(all.begin(), all.end())) refuse("bounds do not grow");
        for (std::size_t i = 1; i < all.size(); ++i)
          if (all[i].second < all[i - 1].second) refuse("buckets do not grow");
        const auto count = find(metric + "_count", labels);
        if (!(all.back().first > 1e300) || count.size() != 1 || count[0].value != all.back().second)
          refuse("the count is not that of +Inf");
        if (find(metric + "_sum", labels).size() != 1) refuse("no sum");
      }
    }
  }

  std::string_view line_;
  std::string_view rest_;
  std::string group_;
  std::set<std::string> helped_;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen_;
};

}  // namespace ham::test
