// Handler names for people. They may be a peer's: each character is looked at a bounded number of times.
#include "msg/pretty_name.hpp"

#include <charconv>
#include <vector>

#include "ham/msg/names.hpp"
#include "msg/bracket_table.hpp"

namespace ham::inline v1::msg {

namespace {

using std::string;
using std::string_view;

class name_reader {
 public:
  explicit name_reader(string_view canonical) : brackets_(canonical), steps_(canonical.size()) {}

  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

  string handler(string_view canonical) {
    std::vector<string_view> arguments;
    if (template_arguments(canonical, "ham::detail::bringing_tag", arguments) && arguments.size() == 1)
      return call(arguments[0]) + " [after put]";
    if (template_arguments(canonical, "ham::detail::group_tag", arguments) && arguments.size() == 1)
      return call(arguments[0]) + " [group]";
    if (template_arguments(canonical, "ham::detail::reduce_tag", arguments) && arguments.size() == 2)
      return call(arguments[0]) + " [group, reduced by " + call(arguments[1]) + "]";
    return call(canonical);
  }

 private:
  string call(string_view canonical) {
    std::vector<string_view> arguments;
    if (!template_arguments(canonical, "ham::msg::call_tag", arguments) || arguments.empty()) {
      return readable(canonical);
    }
    string_view parameters;
    if (arguments.size() > 1) {
      const char* begin = arguments[1].data();
      parameters = string_view(begin, static_cast<std::size_t>(canonical.data() + canonical.size() - 1 - begin));
    }
    return tag(arguments[0], parameters);
  }

  string tag(string_view text, string_view parameters) {
    string policies = without_policies(text);
    const string bound = without_bindings(text, parameters);
    std::vector<string_view> arguments;
    string result;
    if (template_arguments(text, "ham::fn_t", arguments) && arguments.size() == 2) {
      result = function(arguments[0], arguments[1]);
    } else if (template_arguments(text, "ham::msg::key_tag", arguments)) {
      result = key(arguments);
    } else {
      result = readable(text);
      if (!parameters.empty()) result += "(" + readable(parameters) + ")";
    }
    return result + bound + policies;
  }

  /// Takes policies off the text, and returns what the name ends with instead.
  string without_policies(string_view& text) {
    string policies;
    std::vector<string_view> arguments;
    while (template_arguments(text, "ham::msg::policy_tag", arguments) && arguments.size() == 2) {
      string_view policy = arguments[0];
      constexpr string_view prefix = "ham::msg::execution_policy_";
      if (policy.starts_with(prefix)) policy.remove_prefix(prefix.size());
      // Several policies of one function: the outermost one comes last.
      policies.insert(0, string(" [").append(policy) + "]");
      text = arguments[1];
      if (policies.size() > max_policies) break;
    }
    return policies;
  }

  /// Takes bind(), also that of the chunks of a map, off the text, and returns what the name ends with instead.
  /// The parameters of a chunk, its elements, are not those of the function.
  string without_bindings(string_view& text, string_view& parameters) {
    string ends;
    std::vector<string_view> arguments;
    std::vector<string_view> result;
    for (std::size_t depth = 0; depth < max_policies; ++depth) {
      if (!template_arguments(text, "ham::binding", arguments) || arguments.empty()) break;
      if (arguments.size() == 2 && template_arguments(arguments[0], "ham::offload::detail::run_chunk", result)) {
        ends.insert(0, map_mark);
        parameters = {};
        text = arguments[1];
      } else {
        ends.insert(0, " [bind]");
        text = arguments[0];
      }
    }
    return ends;
  }

  /// The name comes from the address, the parameters and qualifiers from the type: "int(*)(long)" and "&f" are
  /// "f(long)".
  string function(string_view type, string_view name) {
    if (name.starts_with('&')) name.remove_prefix(1);
    const std::size_t star = type.find("*)(");
    return readable(name) + (star == string_view::npos ? "" : readable(type.substr(star + 2)));
  }

  /// The chunks of a map of "solve" have the key "solve[]" (offload/detail/pool_map.hpp).
  static string key(const std::vector<string_view>& characters) {
    string text = "\"";
    for (const string_view each : characters) {
      const std::size_t digits = each.find_last_not_of("0123456789");
      const string_view number = digits == string_view::npos ? each : each.substr(digits + 1);
      unsigned value = 0;
      std::from_chars(number.data(), number.data() + number.size(), value);
      text += static_cast<char>(value);
    }
    const bool is_map = text.size() > 3 && text.ends_with("[]");
    if (is_map) text.resize(text.size() - 2);
    return text + "\"" + (is_map ? map_mark : "");
  }

  /// Default arguments of containers and our own namespaces only make a name longer.
  string readable(string_view text) {
    constexpr string_view own = "ham::offload::";
    string result;
    result.reserve(text.size() + text.size() / 8);
    for (std::size_t i = 0; i < text.size(); ++i) {
      ++steps_;
      const string_view rest = text.substr(i);
      if (rest.starts_with(own)) {
        i += own.size() - 1;
      } else if (text[i] != ',') {
        result += text[i];
      } else if (const std::size_t noise = default_argument(rest); noise != 0) {
        i += noise - 1;
      } else {
        result += ", ";
      }
    }
    return result;
  }

  /// Length of ",std::allocator<...>" and the like at the begin of `text`; 0: it is something else.
  [[nodiscard]] std::size_t default_argument(string_view text) const {
    for (const string_view start :
         {",std::allocator<", ",std::char_traits<", ",std::less<", ",std::equal_to<", ",std::hash<"}) {
      if (!text.starts_with(start)) continue;
      const char* const close = brackets_.closing(text.data() + start.size() - 1);
      const bool inside = close != nullptr && close < text.data() + text.size();
      return inside ? static_cast<std::size_t>(close + 1 - text.data()) : 0;
    }
    return 0;
  }

  /// The parts of a list, split at commas outside all brackets.
  std::vector<string_view> split(string_view list) {
    std::vector<string_view> parts;
    const char* const end = list.data() + list.size();
    const char* start = list.data();
    for (const char* at = start; at < end; ++at) {
      ++steps_;
      if (*at == '<' || *at == '(' || *at == '{' || *at == '[') {
        const char* const close = brackets_.closing(at);
        if (close != nullptr && close < end) at = close;
      } else if (*at == ',') {
        parts.emplace_back(start, static_cast<std::size_t>(at - start));
        start = at + 1;
      }
    }
    if (!list.empty()) parts.emplace_back(start, static_cast<std::size_t>(end - start));
    return parts;
  }

  /// The template arguments if `text` is exactly "name<...>".
  bool template_arguments(string_view text, string_view name, std::vector<string_view>& arguments) {
    if (text.size() < name.size() + 2 || !text.starts_with(name) || text[name.size()] != '<') return false;
    if (brackets_.closing(text.data() + name.size()) != text.data() + text.size() - 1) return false;
    arguments = split(text.substr(name.size() + 1, text.size() - name.size() - 2));
    return true;
  }

  static constexpr std::size_t max_policies = 256;
  static constexpr const char* map_mark = " [map]";

  bracket_table brackets_;
  std::size_t steps_;
};

}  // namespace

pretty pretty_with_cost(string_view canonical) {
  name_reader reader(canonical);
  string text = reader.handler(canonical);
  return {std::move(text), reader.steps()};
}

string pretty_name(string_view canonical) { return pretty_with_cost(canonical).text; }

}  // namespace ham::msg
