// Listing the handlers of another binary.
#include "handler_listing.hpp"

#include "captured_run.hpp"
#include "json_text.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace ham::info {

namespace {

constexpr const char* list_option = "--ham-list-handlers";

// Running a stranger with an option that it does not know would start its main. Every HAM application either names the
// shared library or contains the start code with its option.
void require_ham_inside(const std::string& binary) {
  std::ifstream file(binary, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + binary + " (no such file, or no permission)");
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool found = content.find(list_option + 2) != std::string::npos || content.find("libham") != std::string::npos;
  if (!found)
    throw std::runtime_error(binary + " is not a HAM application (it neither links libham nor contains it); not run");
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<handler_line> parse_listing(const std::string& text) {
  std::vector<handler_line> handlers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::array<std::string, 4> fields;
    std::istringstream parts(line);
    std::size_t found = 0;
    while (found < 3 && std::getline(parts, fields[found], '\t')) ++found;
    if (found != 3 || !is_number(fields[0])) continue;
    std::getline(parts, fields[3], '\t');
    std::string mark;
    std::getline(parts, mark);
    handlers.push_back({fields[0], fields[1], fields[2], fields[3], mark == "ambiguous"});
  }
  return handlers;
}

std::vector<handler_line> list_handlers(const listing_request& what) {
  require_ham_inside(what.binary);
  std::vector<std::string> command = what.runner;
  const bool has_folder = what.binary.find('/') != std::string::npos;
  command.push_back(has_folder ? what.binary : "./" + what.binary);
  command.emplace_back(list_option);
  const captured_run run = run_and_capture(command, what.patience_ms);
  if (run.timed_out) {
    throw std::runtime_error(what.binary + " did not list its handlers within " +
                             std::to_string(what.patience_ms / 1000) + " s (is its HAM too old to know " + list_option +
                             "?)");
  }
  std::vector<handler_line> handlers = parse_listing(run.output);
  if (run.exit_code != 0) {
    throw std::runtime_error(what.binary + " " + list_option + " ended with " + run.ending +
                             " (is its HAM too old to know this option, or was it built for another instruction set? "
                             "then use --runner)");
  }
  return handlers;
}

void print_handlers(std::ostream& out, const std::vector<handler_line>& handlers) {
  std::vector<std::vector<std::string>> rows{{"key", "kind", "layout", "name"}};
  for (const handler_line& one : handlers) {
    rows.push_back(
        {one.key, one.kind, one.layout, one.name + (one.ambiguous ? "  (ambiguous: cannot be called)" : "")});
  }
  print_table(out, rows);
  out << handlers.size() << " handlers\n";
}

void print_handlers_json(std::ostream& out, const std::string& binary, const std::vector<handler_line>& handlers) {
  json_text json(out);
  json.open_object().value("binary", binary).open_list("handlers");
  for (const handler_line& one : handlers) {
    json.open_object()
        .value("key", std::stoul(one.key))
        .value("kind", one.kind)
        .value("name", one.name)
        .value("layout", one.layout)
        .value("ambiguous", one.ambiguous)
        .close_object();
  }
  json.close_list().close_object();
}

}  // namespace ham::info
