// Matching two manifests by name, and saying in words what does not match.
#include "ham/msg/translation.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ham/msg/layout.hpp"
#include "ham/msg/names.hpp"

namespace ham::inline v1::msg {

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

/// The identifier at the end of a name; all of it if there is none.
string_view last_word(string_view name) {
  const std::size_t before = name.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return before == string_view::npos || before + 1 == name.size() ? name : name.substr(before + 1);
}

std::vector<std::uint32_t> sorted_by_name(const manifest& of) {
  std::vector<std::uint32_t> keys(of.entries().size());
  std::iota(keys.begin(), keys.end(), std::uint32_t{0});
  std::sort(keys.begin(), keys.end(),
            [&](std::uint32_t one, std::uint32_t other) { return of.entries()[one].name < of.entries()[other].name; });
  return keys;
}

}  // namespace

translation::translation(const manifest& mine, const manifest& theirs)
    : my_data_(mine.layout().describe_against(theirs.layout())),
      their_data_(theirs.layout().describe_against(mine.layout())),
      same_structs_(mine.layout().same_structs(theirs.layout())),
      same_byte_order_(mine.layout().same_byte_order(theirs.layout())) {
  // Names of peers are compared, never hashed: they could choose ones that all have one hash.
  const std::vector<std::uint32_t> here = sorted_by_name(mine);
  const std::vector<std::uint32_t> there = sorted_by_name(theirs);
  std::vector<std::uint32_t> found(here.size(), missing);
  auto next = here.begin();
  for (const std::uint32_t key : there) {
    const string& name = theirs.entries()[key].name;
    while (next != here.end() && mine.entries()[*next].name < name) ++next;
    const bool is_here = next != here.end() && mine.entries()[*next].name == name;
    if (!is_here) only_there_.push_back(name);
    for (auto same = next; is_here && same != here.end() && mine.entries()[*same].name == name; ++same) {
      found[*same] = key;
    }
  }

  identity_ = true;
  theirs_.reserve(mine.entries().size());
  for (std::uint32_t key = 0; key < mine.entries().size(); ++key) {
    theirs_.push_back(translate(mine, theirs, key, found[key]));
    identity_ = identity_ && theirs_.back() == key;
  }
  // They explain what is missing, and nothing else.
  if (std::find(theirs_.begin(), theirs_.end(), missing) == theirs_.end()) only_there_.clear();
}

/// A function that is missing there may have another parameter list there: one that is missing here. Names are made
/// readable only now, and only those that may be meant.
string translation::found_instead(string_view pretty) const {
  const auto function = spelled_function::of(pretty);
  if (!function || function->name.empty()) return {};
  const string_view word = last_word(function->name);
  string result;
  for (const string& one : only_there_) {
    if (one.find(word) == string::npos) continue;
    string other = pretty_name(one);
    const auto its = spelled_function::of(other);
    if (!its || its->name != function->name) continue;
    if (!result.empty()) return {};  // several
    result = std::move(other);
  }
  return result;
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
    } else if (there.host_only) {
      reason = host_only;
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
  found.name = here.name;
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
  const string pretty = pretty_name(what.name);
  const string head = pretty + " of " + string(here) + " cannot be called on " + string(there) + ": ";
  if (result == ambiguous) {
    return head + "several functions of the program of " + string(what.duplicate_here ? here : there) +
           " have this name (internal linkage in several files?); rename them, or give them names with ham::named";
  }
  if (result == missing) {
    if (const string instead = found_instead(pretty); !instead.empty()) {
      return head + "its program has " + instead + " instead; " + other_parameters(pretty, instead, here, there);
    }
    return head + "its program does not have it" +
           (what.lambda ? " (compilers name lambdas differently: ham::named<\"key\">(...) gives it a name that all "
                          "agree on)"
                        : " (is it built from the same sources?)");
  }
  if (result == host_only) {
    return head + "the device of " + string(there) +
           " has no version of it; compile the source that declares it for the device, too";
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
