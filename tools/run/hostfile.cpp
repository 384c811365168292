// Parsing of --hostfile.
#include "hostfile.hpp"

#include "problem.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ham::inline v1::run {
namespace {

machine parse_line(const std::vector<std::string>& words) {
  machine one = parse_machine(words.front());
  if (words.size() == 1) return one;
  constexpr std::string_view slots = "slots=";
  const std::string& second = words[1];
  if (words.size() > 2 || !second.starts_with(slots)) {
    throw problem("\"" + words.back() + "\" is left over; write NAME, NAME:COUNT or NAME slots=COUNT");
  }
  if (one.count != 1) throw problem("the count is there twice; write it after the colon or as slots=COUNT");
  const long count = parse_number(std::string_view(second).substr(slots.size()), 1, max_targets);
  if (count < 0) throw problem("slots= wants a number from 1 to " + std::to_string(max_targets));
  one.count = static_cast<std::size_t>(count);
  return one;
}

}  // namespace

std::vector<machine> parse_hostfile(std::istream& in, const std::string& file) {
  constexpr std::size_t max_line = 4096;
  std::vector<machine> result;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string where = "hostfile " + file + ", line " + std::to_string(number) + ": ";
    if (line.size() > max_line) throw problem(where + "longer than " + std::to_string(max_line) + " characters");
    if (const std::size_t comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) continue;
    try {
      result.push_back(parse_line(words));
    } catch (const problem& what) {
      throw problem(where + what.what());
    }
    if (result.size() > max_targets) throw problem(where + "more than " + std::to_string(max_targets) + " machines");
  }
  if (in.bad()) throw problem("hostfile " + file + " cannot be read to its end (" + std::strerror(errno) + ")");
  if (result.empty()) throw problem("hostfile " + file + " names no machine; write one NAME or NAME:COUNT per line");
  return result;
}

std::vector<machine> read_hostfile(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    throw problem("cannot read the hostfile " + file + " (" + std::strerror(errno) +
                  "); name a file of lines NAME or NAME:COUNT");
  }
  return parse_hostfile(in, file);
}

}  // namespace ham::run
