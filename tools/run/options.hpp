// What the command line of ham-run asks for.
#pragma once

#include "machines.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::run {

/// A file for machines of one instruction set, as `uname -m` calls it; empty: for all.
struct file_for {
  std::string isa;
  std::string path;
};

struct run_options {
  std::size_t nodes = 0;  ///< host included; 0: as many as the machines offer, or what the program does by itself
  std::vector<machine> machines;
  bool slurm = false;  ///< the machines are those of a Slurm allocation
  std::vector<file_for> binaries;
  bool copy = false;
  std::vector<file_for> also_copied;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string cores;
  std::string folder;  ///< empty: the current one
  std::vector<std::string> ssh{"ssh"};
  std::string key_folder;  ///< Slurm: that all nodes share, for the key; empty: the key goes through srun's input
  int timeout_s = 60;
  bool output_prefix = false;
  bool show = false;
  std::vector<std::string> program;  ///< with its arguments; a path is absolute

  /// False: HAM_NODES, or what the program does by itself, is left as it is.
  [[nodiscard]] bool choose_nodes() const { return nodes != 0 || !machines.empty(); }
};

/// Reads "ISA=PATH" or "PATH". Throws problem.
[[nodiscard]] file_for parse_file_for(const std::string& text);

/// A variable from "NAME=VALUE", or from "NAME" with the value that it has here. Throws problem.
[[nodiscard]] std::pair<std::string, std::string> parse_variable(const std::string& text);

/// Words separated by blanks; '...' holds one together. Throws problem.
[[nodiscard]] std::vector<std::string> split_words(const std::string& text);

/// Makes a path with a slash absolute; a bare name is looked up in PATH by whoever starts it, and stays.
[[nodiscard]] std::string absolute_program(const std::string& path);

}  // namespace ham::run
