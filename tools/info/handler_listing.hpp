// The handlers of another binary, as that binary itself lists them.
#pragma once

#include "ham/msg/manifest.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace ham::inline v1::info {

struct handler_line {
  std::string key;
  std::string kind;
  std::string name;
  std::string layout;
  bool ambiguous = false;  ///< several functions of the binary have this name; calls to it are refused
};

/// How another binary is run.
struct listing_request {
  std::string binary;
  std::vector<std::string> runner;  ///< program and arguments to run it under; empty: an emulator if it needs one
  int timeout_ms = 10'000;
};

/// Runs the binary with --ham-list-handlers, with which every HAM application prints its handlers and ends before its
/// main. A file that holds no HAM is not run. Throws std::runtime_error that says what went wrong.
[[nodiscard]] std::vector<handler_line> list_handlers(const listing_request& what);

/// The same with --ham-manifest, by which nodes compare themselves.
[[nodiscard]] msg::manifest read_manifest(const listing_request& what);

/// Finds and reads the line that --ham-manifest prints. Throws std::runtime_error or ham::protocol_error.
[[nodiscard]] msg::manifest parse_manifest_line(const std::string& text);

/// Parses what --ham-list-handlers prints: key, kind, name, layout, perhaps "ambiguous", with tabs between. Lines of
/// other forms (output of static initialisers) are left out.
[[nodiscard]] std::vector<handler_line> parse_listing(const std::string& text);

void print_handlers(std::ostream& out, const std::vector<handler_line>& handlers);
void print_handlers_json(std::ostream& out, const std::string& binary, const std::vector<handler_line>& handlers);

}  // namespace ham::info
