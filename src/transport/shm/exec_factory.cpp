// exec in HAM_NODES: another build of the application over shared memory, exec:WORD [WORD...][*COUNT][@CORES]. In a
// WORD, '...' keeps blanks, commas, stars and at signs; '' there is a quote.
#include <utility>

#include "base/core_list.hpp"
#include "transport/shm/factories.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// A word, with a note for each of its characters whether it stood in quotes.
struct word {
  std::string text;
  std::vector<bool> quoted;
  bool any_quotes = false;

  [[nodiscard]] std::size_t find_last_plain(char wanted) const {
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == wanted && !quoted[i]) return i;
    }
    return std::string::npos;
  }
  /// Cuts the word before `at` and gives back what followed.
  std::string cut(std::size_t at) {
    std::string rest = text.substr(at);
    text.resize(at);
    quoted.resize(at);
    return rest;
  }
};

std::vector<word> words_of(const group_text& group) {
  std::vector<word> words;
  bool inside_word = false;
  bool inside_quotes = false;
  const std::string_view text = group.rest();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!inside_quotes && blanks.find(c) != blanks.npos) {
      inside_word = false;
      continue;
    }
    if (!inside_word) words.emplace_back();
    inside_word = true;
    if (c == '\'' && inside_quotes && text.substr(i + 1).starts_with(c)) {
      ++i;
    } else if (c == '\'') {
      inside_quotes = !inside_quotes;
      words.back().any_quotes = true;
      continue;
    }
    words.back().text += c;
    words.back().quoted.push_back(inside_quotes);
  }
  if (inside_quotes) group.refuse("a quote ' is not closed");
  return words;
}

/// Takes "*COUNT" and "@CORES" off the end of the last word. An @ that no list of cores follows belongs to the word.
void take_suffix(const group_text& group, word& last, target_group& into) {
  const std::size_t at = last.find_last_plain('@');
  if (at != std::string::npos && last.text.find_first_not_of("0123456789+-", at + 1) == std::string::npos) {
    into.cores = base::parse_cores(last.cut(at).substr(1), '+');
  }
  const std::size_t star = last.find_last_plain('*');
  if (star == std::string::npos) return;
  const std::string suffix = last.cut(star);
  std::string_view rest = std::string_view(suffix).substr(1);
  into.count = group.count_at(rest, "star");
  group.expect_end(rest);
}

class exec_transport final : public starting_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "exec"; }
  [[nodiscard]] std::string_view prefix() const noexcept override { return "exec:"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "exec:./app.aarch64*2"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"exec:PROGRAM[*COUNT][@CORE[+CORE...]]",
            "another build of it; words may stand in front, as in exec:qemu-aarch64-static ./app.aarch64"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this);
    std::vector<word> words = words_of(text);
    if (!words.empty()) {
      take_suffix(text, words.back(), group);
      if (words.back().text.empty() && !words.back().any_quotes) words.pop_back();  // the suffix stood alone
    }
    std::vector<std::string>& command = group.program.command;
    for (word& one : words) command.push_back(std::move(one.text));
    if (command.empty() || command.front().empty()) text.refuse("the path of a program must follow exec:");
    for (const std::string& one : command) {
      if (one.find('\0') != std::string::npos) text.refuse("it holds a zero byte");
    }
    return group;
  }
  [[nodiscard]] availability probe() const override { return shm_factory().probe(); }

  [[nodiscard]] const starting_factory& host_factory() const noexcept override { return *shm_factory().as_starting(); }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override {
    return host_factory().make_host(self, memory, to);
  }
};

}  // namespace

const factory& exec_factory() {
  static const exec_transport one;
  return one;
}

}  // namespace ham::transport
