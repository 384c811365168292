// Words for a POSIX shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::run {

/// One word for the shell, in quotes if it needs them.
[[nodiscard]] inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

/// The same without line breaks in it: a script's variable ham_newline stands for them.
[[nodiscard]] inline std::string shell_word_on_one_line(std::string_view word) {
  std::string result;
  for (const char c : shell_word(word)) {
    if (c == '\n')
      result += "'\"$ham_newline\"'";
    else
      result += c;
  }
  return result;
}

[[nodiscard]] inline std::string shell_word(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& one : words) result += (result.empty() ? "" : " ") + shell_word(one);
  return result;
}

}  // namespace ham::run
