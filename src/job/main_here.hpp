// main on a target of this process, as the program sees it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "job/run_target.hpp"

namespace ham::inline v1::detail {

/// There is at most one. It ends when the process exits, because only then main's status is known; until then the host
/// serves.
class main_here {
 public:
  using function = int (*)(int, char**, char**);

  /// From now on `target`, whose host wants main to run on it, is this process's node. `after` is called when it has
  /// left the job.
  static main_here& begin(target_of_main target, std::function<void()> after = {});
  /// Of the program's own start or runtime: true once, if main runs on a target here. Replaces the arguments by those
  /// of the host.
  [[nodiscard]] static bool enter(int& argc, char**& argv) noexcept;
  /// nullptr: main runs on no target here, or has ended.
  [[nodiscard]] static main_here* get() noexcept;
  /// Tells the host, and whether the process exits with that, and leaves the job. Does nothing the second time, and in
  /// forks.
  static void end(int status, bool exits = true) noexcept;

  [[nodiscard]] engine& node() noexcept { return target_->node(); }
  /// Calls main with them. An exception that leaves it ends the process, as ever.
  [[nodiscard]] int run(function main) noexcept;
  /// The runtime of the program has ended: no more calls. Main goes on.
  static void withdraw() noexcept;

 private:
  main_here(target_of_main target, std::function<void()> after);

  const pid_t owner_;
  const std::thread::id begun_by_ = std::this_thread::get_id();
  bool entered_ = false;
  target_of_main target_;
  std::function<void()> after_;
  std::vector<std::string> words_;
  std::vector<char*> arguments_;  // of main, with a null pointer at the end
};

}  // namespace ham::detail
