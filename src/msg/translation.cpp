// Matching two manifests by name, and saying in words what does not match.
#include "ham/msg/translation.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ham/msg/layout.hpp"

namespace ham::msg {

namespace {

using std::string;
using std::string_view;

string or_nothing(string_view layout) { return layout.empty() ? "nothing" : string(layout); }

/// The parts of the layout of a call, "callable,parameter,parameter->result"; brackets and commas occur in it as
/// structure only.
struct call_parts {
  std::vector<string_view> sent;  // the callable, then the parameters
  string_view result;

  static std::optional<call_parts> of(string_view layout) {
    call_parts call;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const bool arrow = depth == 0 && layout.substr(i, 2) == "->";
      if (arrow || (depth == 0 && layout[i] == ',')) {
        call.sent.push_back(layout.substr(start, i - start));
        start = i + 1;
      }
      if (arrow) {
        call.result = layout.substr(i + 2);
        return call;
      }
      if (layout[i] == '<') ++depth;
      if (layout[i] == '>') --depth;
    }
    return std::nullopt;
  }

  static string name(std::size_t index) {
    return index == 0 ? "the callable itself (its captures or members)" : "argument " + std::to_string(index);
  }
};

string differences(string_view mine, string_view theirs, string_view here, string_view there) {
  const auto differ = [&](const string& what, string_view a, string_view b) {
    return what + " is " + or_nothing(a) + " on " + string(here) + " and " + or_nothing(b) + " on " + string(there);
  };
  const auto my_call = call_parts::of(mine);
  const auto their_call = call_parts::of(theirs);
  if (!my_call || !their_call) return differ("what crosses", mine, theirs);
  if (my_call->sent.size() != their_call->sent.size()) {
    return "it takes " + std::to_string(my_call->sent.size() - 1) + " arguments on " + string(here) + " and " +
           std::to_string(their_call->sent.size() - 1) + " on " + string(there);
  }
  string text;
  const auto add = [&](const string& what, string_view a, string_view b) {
    if (a != b) text += (text.empty() ? "" : "; ") + differ(what, a, b);
  };
  for (std::size_t i = 0; i < my_call->sent.size(); ++i) {
    add(call_parts::name(i), my_call->sent[i], their_call->sent[i]);
  }
  add("the result", my_call->result, their_call->result);
  return text;
}

/// A function as people read it: "name(parameter, parameter)".
struct spelled_function {
  string_view name;
  std::vector<string_view> parameters;

  static std::optional<spelled_function> of(string_view pretty) {
    spelled_function result;
    std::size_t start = 0;
    int depth = 0;  // of angle brackets, and of parentheses in the parameters
    for (std::size_t i = 0; i < pretty.size(); ++i) {
      if (start == 0 && pretty.substr(i).starts_with("(anonymous namespace)"))
        i += string_view("(anonymous namespace)").size();
      const char c = pretty[i];
      if (c == '<' || (c == '(' && start != 0)) ++depth;
      if (c == '(' && start == 0 && depth == 0) {
        result.name = pretty.substr(0, i);
        start = i + 1;
      } else if (start != 0 && depth == 0 && (c == ',' || c == ')')) {
        if (i > start) result.parameters.push_back(pretty.substr(start, i - start));
        start = i + (c == ',' ? 2 : 1);
        if (c == ')') return result;
      } else if (c == '>' || c == ')') {
        --depth;
      }
    }
    return std::nullopt;
  }
};

/// What is different between two functions of one name.
string other_parameters(string_view mine, string_view theirs, string_view here, string_view there) {
  const auto one = spelled_function::of(mine);
  const auto other = spelled_function::of(theirs);
  if (!one || !other) return {};
  if (one->parameters.size() != other->parameters.size()) {
    return "it takes " + std::to_string(one->parameters.size()) + " arguments on " + string(here) + " and " +
           std::to_string(other->parameters.size()) + " on " + string(there);
  }
  string text;
  for (std::size_t i = 0; i < one->parameters.size(); ++i) {
    if (one->parameters[i] == other->parameters[i]) continue;
    (text += text.empty() ? "" : "; ") += "argument " + std::to_string(i + 1) + " is " + string(one->parameters[i]) +
                                          " on " + string(here) + " and " + string(other->parameters[i]) + " on " +
                                          string(there);
  }
  return text;
}

/// Which parts of a layout mean something only to nodes that lay out data alike; empty if there are none.
string raw_parts(string_view layout, bool same_byte_order) {
  const auto call = call_parts::of(layout);
  if (!call) return layout_is_portable(layout, same_byte_order) ? "" : "the message";
  string text;
  const auto add = [&text](const string& more) { text += (text.empty() ? "" : " and ") + more; };
  for (std::size_t i = 0; i < call->sent.size(); ++i) {
    if (!layout_is_portable(call->sent[i], same_byte_order)) add(call_parts::name(i));
  }
  if (!layout_is_portable(call->result, same_byte_order)) add("the result");
  return text;
}

}  // namespace

translation::translation(const manifest& mine, const manifest& theirs)
    : my_data_(mine.layout().describe_against(theirs.layout())),
      their_data_(theirs.layout().describe_against(mine.layout())),
      same_structs_(mine.layout().same_structs(theirs.layout())),
      same_byte_order_(mine.layout().same_byte_order(theirs.layout())) {
  std::unordered_map<string_view, std::uint32_t> key_there;
  key_there.reserve(theirs.entries().size());
  for (std::uint32_t key = 0; key < theirs.entries().size(); ++key) key_there.emplace(theirs.entries()[key].name, key);

  identity_ = true;
  theirs_.reserve(mine.entries().size());
  for (std::uint32_t key = 0; key < mine.entries().size(); ++key) {
    const auto found = key_there.find(mine.entries()[key].name);
    theirs_.push_back(translate(mine, theirs, key, found != key_there.end() ? found->second : missing));
    identity_ = identity_ && theirs_.back() == key;
  }
  find_changed_functions(mine, theirs);
}

/// A function that is missing there may have another parameter list there: one that is missing here.
void translation::find_changed_functions(const manifest& mine, const manifest& theirs) {
  const bool any_missing = std::find(theirs_.begin(), theirs_.end(), missing) != theirs_.end();
  if (!any_missing) return;
  std::unordered_set<string_view> names_here;
  for (const auto& one : mine.entries()) names_here.insert(one.name);
  std::unordered_map<string, std::vector<string>> only_there;  // by the name without parameters
  for (const auto& one : theirs.entries()) {
    if (names_here.contains(one.name)) continue;
    const string pretty = one.pretty();
    if (const auto function = spelled_function::of(pretty)) only_there[string(function->name)].push_back(pretty);
  }
  for (auto& [key, what] : problems_) {
    if (theirs_[key] != missing) continue;
    const auto function = spelled_function::of(what.pretty);
    const auto found = function ? only_there.find(string(function->name)) : only_there.end();
    if (found != only_there.end() && found->second.size() == 1) what.instead = found->second.front();
  }
}

std::uint32_t translation::translate(const manifest& mine, const manifest& theirs, std::uint32_t my_key,
                                     std::uint32_t their_key) {
  const manifest::entry& here = mine.entries()[my_key];
  problem found;
  std::uint32_t reason = differs;
  if (here.duplicate) {
    reason = ambiguous;
    found.duplicate_here = true;
  } else if (their_key == missing) {
    reason = missing;
  } else {
    const manifest::entry& there = theirs.entries()[their_key];
    if (there.duplicate) {
      reason = ambiguous;
    } else if (here.kind != there.kind) {
      found.other_kind = true;
    } else if (here.layout != there.layout) {
      found.my_layout = here.layout;
      found.their_layout = there.layout;
    } else if (!same_structs_ && !raw_parts(here.layout, same_byte_order_).empty()) {
      found.other_structs = true;
      found.my_layout = here.layout;
    } else {
      return their_key;
    }
  }
  found.pretty = here.pretty();
  found.lambda = here.name.find("{lambda") != string::npos || here.name.find("::$_") != string::npos;
  problems_.emplace(my_key, std::move(found));
  return reason;
}

string translation::explain(std::uint32_t my_key, string_view here, string_view there) const {
  const std::uint32_t result = (*this)[my_key];
  if (usable(result)) return {};
  const auto known = problems_.find(my_key);
  if (known == problems_.end()) {
    return "handler " + std::to_string(my_key) + " of " + string(here) + " is not known to " + string(there) +
           " (it was registered after the two connected)";
  }
  const problem& what = known->second;
  const string head = what.pretty + " of " + string(here) + " cannot be called on " + string(there) + ": ";
  if (result == ambiguous) {
    return head + "several functions of the program of " + string(what.duplicate_here ? here : there) +
           " have this name (internal linkage in several files?); rename them, or give them names with ham::named";
  }
  if (result == missing && !what.instead.empty()) {
    return head + "its program has " + what.instead + " instead; " +
           other_parameters(what.pretty, what.instead, here, there);
  }
  if (result == missing) {
    return head + "its program does not have it" +
           (what.lambda ? " (compilers name lambdas differently: ham::named<\"key\">(...) gives it a name that all "
                          "agree on)"
                        : " (is it built from the same sources?)");
  }
  if (what.other_kind) return head + "one node has an active message of that name, the other a function";
  if (what.other_structs) {
    return head + "the bytes in memory are sent for " + raw_parts(what.my_layout, same_byte_order_) + ", but " +
           string(here) + " has " + my_data_ + ", " + string(there) + " has " + their_data_ +
           "; for a struct, list its fields with HAM_FIELDS";
  }
  return head + differences(what.my_layout, what.their_layout, here, there);
}

}  // namespace ham::msg
