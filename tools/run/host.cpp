// The host's HAM_NODES.
#include "host.hpp"

namespace ham::inline v1::run {
namespace {

/// A word of an exec group of HAM_NODES.
std::string list_word(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

std::string node_list(const std::vector<target_group>& groups,
                      const std::function<std::string(std::size_t first)>& address_of_node,
                      const std::function<std::vector<std::string>(std::size_t first)>& start_local) {
  std::string list;
  for (const target_group& one : groups) {
    if (!list.empty()) list += ",";
    if (!one.is_local()) {
      list += "tcp://" + address_of_node(one.first) + "*" + std::to_string(one.count);
      continue;
    }
    const std::vector<std::string> words = start_local(one.first);
    if (words.empty()) {
      list += "shm:" + std::to_string(one.count);
      continue;
    }
    list += "exec:";
    for (const std::string& word : words) list += list_word(word) + " ";
    list += "*1";
  }
  return list.empty() ? "shm:0" : list;
}

std::vector<std::string> redirected(const std::string& program, int out, int err) {
  const std::string pipe = "/proc/self/fd/";
  return {"/bin/sh", "-c", "exec \"$0\" \"$@\" >" + pipe + std::to_string(out) + " 2>" + pipe + std::to_string(err),
          program};
}

}  // namespace ham::run
