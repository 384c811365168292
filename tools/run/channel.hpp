// The way to remote machines: one ssh, or one srun, that runs a script there.
#pragma once

#include "options.hpp"
#include "process.hpp"
#include "remote_script.hpp"
#include "streams.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ham::inline v1::run {

/// One machine at the other end.
struct remote_end {
  target_group group;
  std::optional<greeting> met;
  std::string folder;   ///< for copies, once it is there
  std::string address;  ///< where it waits for the host, once it does
};

class channel {
 public:
  /// Starts ssh to the machine of a single group, or srun for all of them. Throws problem.
  channel(const run_options& options, std::vector<target_group> groups, streams& out);
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  /// The command that this starts.
  [[nodiscard]] static std::vector<std::string> command(const run_options& options,
                                                        const std::vector<target_group>& groups);

  [[nodiscard]] const std::vector<remote_end>& ends() const { return ends_; }
  /// Whether the script runs at each end.
  [[nodiscard]] bool answered() const;
  /// Has the end make a folder for copies.
  void ask_for_folder();
  /// Has the ends serve the job whose key this is, or is in the file of a key_file_line. Throws problem.
  void serve(const std::string& key_line);
  /// Shows what was printed during the start, and from now on all that is printed.
  void show_output();

  /// Ends what runs there.
  void hang_up() { in_.close(); }
  /// Ends the way there itself.
  void signal(int number) const;
  /// True once, when ssh or srun has ended.
  bool reap();
  [[nodiscard]] std::optional<int> end_status() const { return status_; }

  bool loss_told = false;  ///< the user knows that it ended before the host did

  /// For messages.
  [[nodiscard]] std::string name() const;
  /// What was printed during the start, to be shown in an error.
  [[nodiscard]] std::string output_so_far() const;

 private:
  bool take_line(std::string_view line);
  remote_end* end_of(std::string_view& line);
  void learn(remote_end& from, std::string_view line);
  void send(const std::string& text);
  [[nodiscard]] std::string prefix_of(const remote_end& from) const;

  const run_options& options_;
  std::vector<remote_end> ends_;
  pid_t pid_ = -1;
  descriptor in_;
  std::optional<int> status_;
  bool shown_ = false;
  std::deque<std::string> heard_;
};

}  // namespace ham::run
