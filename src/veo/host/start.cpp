// Environment variables of VEO, and where the helper is installed.
#include "start.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <string_view>

#include "base/numbers.hpp"
#include "settings.hpp"
#include "ve_offload.h"

namespace ham::inline v1::veo {
namespace {

/// A node of a batch system's list.
std::optional<int> listed_node(int node, const std::string& list) {
  const std::vector<std::string> nodes = words_of(list);
  if (node >= 0) {
    if (static_cast<std::size_t>(node) >= nodes.size()) return std::nullopt;
    return base::parse_int(nodes[static_cast<std::size_t>(node)]);
  }
  const char* const wanted = variable("VE_NODE_NUMBER");
  if (wanted == nullptr) return nodes.empty() ? std::nullopt : base::parse_int(nodes.front());
  for (const std::string& one : nodes) {
    if (base::parse_int(one) == base::parse_int(wanted)) return base::parse_int(one);
  }
  return std::nullopt;
}

/// Debuggers that VEO_DEBUG asks for, in front of the helper.
std::vector<std::string> debugger() {
  const char* const text = trusted_variable("VEO_DEBUG");
  if (text == nullptr) return {};
  if (std::strcmp(text, "console") == 0) return {"gdb", "--args"};
  if (std::strcmp(text, "xterm") == 0) return {CMD_XTERM, "-e", "gdb", "--args"};
  return {};
}

}  // namespace

std::optional<int> resolve_node(int node) {
  if (node < -1) return std::nullopt;
  if (const char* const list = variable("_VENODELIST")) return listed_node(node, list);
  if (node >= 0) return node;
  const char* const wanted = variable("VE_NODE_NUMBER");
  if (wanted == nullptr) return 0;
  const std::optional<int> found = base::parse_int(wanted);
  return found && *found >= 0 ? found : std::nullopt;
}

std::vector<std::string> usual_helper() {
  if (const char* const own = trusted_variable("VEORUN_BIN")) return words_of(own);
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&usual_helper), &here) != 0 && here.dli_fname != nullptr) {
    // Never in a folder relative to the current one.
    const std::string library = here.dli_fname;
    const std::string beside = library.substr(0, library.rfind('/')) + "/../libexec/aveorun";
    if (library.starts_with('/') && ::access(beside.c_str(), X_OK) == 0) return {beside};
  }
  return {HAM_VEO_INSTALLED_HELPER};
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string one; in >> one;) words.push_back(one);
  return words;
}

offload::target_program helper_program(int node, const std::vector<std::string>& words) {
  if (words.empty()) throw config_error("the command of a VEO helper is empty; VEORUN_BIN names one");
  offload::target_program program;
  program.command = debugger();
  program.command.insert(program.command.end(), words.begin(), words.end());
  // A path, never looked up.
  std::string& first = program.command[program.command.size() - words.size()];
  if (first.find('/') == std::string::npos) first.insert(0, "./");
  static_cast<void>(core_number());  // an error is better said here than by the helper
  program.environment = {"VE_NODE_NUMBER=" + std::to_string(node), "HAM_VEO_HOST=" + std::to_string(::getpid())};
  if (const char* const threads = variable("VE_OMP_NUM_THREADS")) {
    program.environment.push_back(std::string("OMP_NUM_THREADS=") + threads);
  }
  if (const char* const path = trusted_variable("VE_LD_LIBRARY_PATH")) {
    const char* const own = variable("LD_LIBRARY_PATH");
    program.environment.push_back(std::string("LD_LIBRARY_PATH=") + path + (own == nullptr ? "" : ":") +
                                  (own == nullptr ? "" : own));
  }
  return program;
}

bool is_address(std::string_view place) noexcept {
  const std::size_t colon = place.find(':');
  return colon != place.npos && place.substr(colon).starts_with("://");
}

bool uses_other_machines() {
  const char* const text = trusted_variable("HAM_VEO_NODES");
  if (text == nullptr) return false;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ';');) {
    if (is_address(std::string_view(one).substr(one.find('=') + 1))) return true;
  }
  return false;
}

std::string elsewhere(int node) {
  const char* const text = trusted_variable("HAM_VEO_NODES");
  if (text == nullptr) return {};
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ';');) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || !base::parse_int(std::string_view(one).substr(0, equals))) {
      throw config_error("HAM_VEO_NODES: cannot use \"" + one +
                         "\"; write NODE=tcp://HOST:PORT or NODE=exec:COMMAND, "
                         "separated by semicolons");
    }
    if (base::parse_int(std::string_view(one).substr(0, equals)) == node) return one.substr(equals + 1);
  }
  return {};
}

}  // namespace ham::veo
