// Which nodes a job has: the reading of HAM_NODES.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ham::detail {

/// Targets that are started, or reached, the same way.
struct node_group {
  std::string transport;  ///< "shm", "exec", "tcp", "emulated", "veo", "vedma", "loopback", "mpi", or "parent" in
                          ///< processes that spawn started
  std::size_t count = 1;
  std::vector<int> cpus;  ///< one core per target, in turn; empty: anywhere
  std::vector<std::string>
      command;  ///< exec: the program and the words that come before the application's own arguments
  std::vector<std::string> environment;  ///< NAME=value, in addition to this process's own
  bool as_is = false;                    ///< the command is complete, and every target may use all of cpus
  std::string address;                   ///< tcp: "HOST:PORT", a numeric IPv6 host in brackets
  std::string settings;                  ///< emulated: "KEY=VALUE/KEY=VALUE"
};

/// Reads HAM_NODES: groups separated by commas, each `shm[:COUNT][@CORES]`, `exec:WORD [WORD...][*COUNT][@CORES]`,
/// `tcp://HOST:PORT[*COUNT]`, `emulated[:COUNT][/KEY=VALUE]...[@CORES]`, `veo[:COUNT]`, `vedma[:COUNT]`,
/// `loopback[:COUNT]` or, as the first one, `mpi[:COUNT]`; CORES is `CORE[+CORE...]`. In a WORD, '...' keeps blanks,
/// commas, stars and at signs. "none" is no group. Throws ham::config_error that shows where.
[[nodiscard]] std::vector<node_group> parse_nodes(std::string_view text);

/// Reads a list of cores: numbers and ranges separated by `separator`, "0,2-3".
[[nodiscard]] std::vector<int> parse_cores(std::string_view text, char separator);

/// Host (without brackets) and port of "HOST:PORT"; an empty host and port 0 if it is no such text.
[[nodiscard]] std::pair<std::string, std::uint16_t> split_address(std::string_view address);

}  // namespace ham::detail
