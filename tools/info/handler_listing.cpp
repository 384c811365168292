// Listing the handlers of another binary.
#include "handler_listing.hpp"

#include "captured_run.hpp"
#include "emulator.hpp"
#include "json_text.hpp"
#include "text_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace ham::inline v1::info {

namespace {

constexpr const char* list_option = "--ham-list-handlers";
constexpr const char* manifest_option = "--ham-manifest";

// Running a stranger with an option that it does not know would start its main. Every HAM application either names the
// shared library or contains the start code with its option.
void require_ham_inside(const std::string& binary) {
  std::ifstream file(binary, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + binary + " (no such file, or no permission)");
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool found = content.find(list_option + 2) != std::string::npos || content.find("libham") != std::string::npos;
  if (!found) throw std::runtime_error(binary + " is not a HAM application (it is not linked with libham); not run");
}

/// What the binary prints when it is given an option that prints and ends.
std::string output_of(const listing_request& what, const char* option) {
  require_ham_inside(what.binary);
  std::vector<std::string> command = what.runner.empty() ? emulator_for(what.binary) : what.runner;
  const bool has_folder = what.binary.find('/') != std::string::npos;
  command.push_back(has_folder ? what.binary : "./" + what.binary);
  command.emplace_back(option);
  const captured_run run = run_and_capture(command, what.timeout_ms);
  if (run.timed_out) {
    throw std::runtime_error(what.binary + " did not answer within " + std::to_string(what.timeout_ms / 1000) +
                             " s (is its HAM too old to know " + option + "?)");
  }
  if (run.exit_code != 0) {
    throw std::runtime_error(what.binary + " " + option + " ended with " + run.ending +
                             " (is its HAM too old to know this option, or was it built for another instruction set? "
                             "then name an emulator)");
  }
  return run.output;
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
  return parse_listing(output_of(what, list_option));
}

msg::manifest read_manifest(const listing_request& what) {
  return parse_manifest_line(output_of(what, manifest_option));
}

msg::manifest parse_manifest_line(const std::string& text) {
  constexpr std::string_view mark = "ham-manifest: ";
  const std::size_t line = text.starts_with(mark) ? 0 : text.find("\n" + std::string(mark));
  if (line == std::string::npos) throw std::runtime_error("the application did not print its manifest");
  std::vector<std::byte> bytes;
  for (std::size_t at = text.find(mark, line) + mark.size(); at + 1 < text.size() && text[at] != '\n'; at += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, value, 16);
    if (error != std::errc{} || end != text.data() + at + 2) throw std::runtime_error("its manifest is damaged");
    bytes.push_back(static_cast<std::byte>(value));
  }
  return msg::manifest::parse(bytes);
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
