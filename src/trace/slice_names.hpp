// What slices are called: after the functions of the process that they happened in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/printable.hpp"
#include "base/trace_part.hpp"
#include "ham/msg/names.hpp"
#include "trace/pftrace_writer.hpp"

namespace ham::inline v1::trace {

/// Of one part. `part` and `to` outlive it.
class slice_names {
 public:
  using text = pftrace_writer::text;

  slice_names(const base::trace_part& part, pftrace_writer& to) : part_(part), to_(to) {}

  /// As people write it; without a name its key.
  [[nodiscard]] std::string function(std::uint32_t key) const {
    constexpr std::size_t max_name = 200;
    if (key >= base::first_named_function)  // no handler's
      if (const auto found = part_.texts.find(key); found != part_.texts.end()) return found->second;
    if (key >= part_.functions.size() || part_.functions[key].empty()) return "function " + std::to_string(key);
    return base::printable(msg::pretty_name(base::printable(part_.functions[key], msg::max_name_bytes)), max_name);
  }
  /// "reply to f()"; `verb` is a literal.
  text of(const char* verb, std::uint32_t key) {
    const auto [place, fresh] = known_.try_emplace({verb, key}, 0);
    if (fresh) place->second = to_.intern(verb + function(key));
    return place->second;
  }
  /// Of spans and counters.
  text of_text(std::uint64_t number) {
    const auto found = part_.texts.find(number);
    return to_.intern(found == part_.texts.end() ? "unnamed" : found->second);
  }
  /// Calls of the library itself that begin and end traces.
  [[nodiscard]] bool hides(std::uint32_t key) {
    const auto [place, fresh] = hidden_.try_emplace(key, false);
    if (fresh && key < part_.functions.size())
      place->second = part_.functions[key].find("trace_control::") != std::string::npos;
    return place->second;
  }

 private:
  const base::trace_part& part_;
  pftrace_writer& to_;
  std::map<std::pair<std::string_view, std::uint32_t>, text> known_;
  std::unordered_map<std::uint32_t, bool> hidden_;
};

}  // namespace ham::trace
