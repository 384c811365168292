// Reading of single values of the command line.
#include "options.hpp"

#include "problem.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace ham::inline v1::run {

file_for parse_file_for(const std::string& text) {
  const std::size_t equals = text.find('=');
  // A path may hold an equals sign, an instruction set's name holds neither dot nor slash.
  const bool told = equals != std::string::npos && text.find_first_of("./") > equals;
  file_for result{told ? text.substr(0, equals) : "", told ? text.substr(equals + 1) : text};
  for (const char c : result.isa) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') result.path.clear();
  }
  if (result.path.empty() || (told && result.isa.empty())) {
    throw problem("cannot use \"" + text +
                  "\" (the instruction set or the path is missing); write ISA=PATH with the ISA"
                  " that uname -m prints there, as in aarch64=./app.aarch64");
  }
  return result;
}

std::pair<std::string, std::string> parse_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  for (const char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  if (!good) throw problem("--env " + text + " is no variable (letters, digits and _ make a name); write NAME[=VALUE]");
  if (equals != std::string::npos) return {name, text.substr(equals + 1)};
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) throw problem("--env " + name + ": the variable is not set here; write --env NAME=VALUE");
  return {name, value};
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool inside_word = false;
  bool inside_quotes = false;
  for (const char c : text) {
    if (!inside_quotes && (c == ' ' || c == '\t')) {
      inside_word = false;
      continue;
    }
    if (!inside_word) words.emplace_back();
    inside_word = true;
    if (c == '\'')
      inside_quotes = !inside_quotes;
    else
      words.back() += c;
  }
  if (inside_quotes) throw problem("a quote ' is not closed in \"" + text + "\"; close it");
  return words;
}

std::string absolute_program(const std::string& path) {
  if (path.find('/') == std::string::npos) return path;
  return std::filesystem::absolute(path).lexically_normal();
}

}  // namespace ham::run
