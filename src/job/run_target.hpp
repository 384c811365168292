// What every target does, however it came to be: joins its host, and executes calls until the host has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "job/main_role.hpp"
#include "job/node_directory.hpp"
#include "job/node_job.hpp"
#include "job/started_targets.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/engine.hpp"
#include "transport/process_group.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::detail {

/// What differs from target to target.
struct target_boot {
  node_t self = 1;
  node_t starter = 0;                  ///< who has started it
  std::size_t nodes = 2;               ///< one more than the largest number of a node
  std::unique_ptr<base::heap> memory;  ///< nullptr: an own one
  network_settings how;                ///< connections to other machines
  /// Makes the transport to the host, and says in the directory whom it reaches.
  std::function<std::unique_ptr<transport::transport>(engine&, node_directory&)> open;
  std::function<void()> join = [] {};  ///< when the transport is in use
  std::function<void(engine&)> begin;  ///< if it is there: the target waits for the host's greeting, and calls it
  /// If it is there, the host may ask once for targets of this one: called by the serving thread.
  std::function<void(const start_request&)> start;
  std::function<void()> main_ended = [] {};  ///< when main, which ran here, has ended, before the host knows
  std::function<void()> ended = [] {};       ///< when the host has ended, before the connections are left
  std::function<void()> left = [] {};        ///< and when they have been
};

/// Of a target that its host has started.
[[nodiscard]] target_boot boot_of(std::shared_ptr<transport::target_side> side, transport::company reaches);

/// A target from its start to its end. Its engine is the process's one meanwhile. One thread at a time.
class running_target {
 public:
  /// Throws ham::config_error.
  explicit running_target(target_boot boot);
  running_target(const running_target&) = delete;
  running_target& operator=(const running_target&) = delete;
  ~running_target();

  /// Executes calls until the host has ended, and leaves the job. True: the host wants main to run here, before that.
  /// The caller runs it, and then calls end_main.
  [[nodiscard]] bool serve();
  /// Tells the host how main ended, and whether this process exits with that, or `why` it did not run, and leaves the
  /// job when that has heard it.
  void end_main(int status, bool exits, const std::string& why = {});
  /// Only tells it, and waits a moment for the host's end: for threads that must not serve.
  void report_end_of_main(int status);

  [[nodiscard]] engine& node() noexcept { return target_; }
  /// Of main: the program's name, and what follows it.
  [[nodiscard]] std::vector<std::string> arguments() const { return main_.arguments(); }
  /// Whether the host's settings ask for one beside main.
  [[nodiscard]] bool wants_progress_thread() const { return main_.wants_progress_thread(); }

 private:
  void open_transport();
  void begin();
  void leave();

  target_boot boot_;
  engine target_;
  node_directory directory_;
  main_role main_;
  node_job job_;
  engine* const before_;
  std::unique_ptr<device_calls> device_;  // if its transport has one; answers by target_
};

/// Each of these executes calls until the host has ended, and gives nullptr; or the target that is to run main, as soon
/// as the host wants that.
using target_of_main = std::unique_ptr<running_target>;

[[nodiscard]] target_of_main run_target(target_boot boot);
/// True if a host started this process as a target (HAM_TARGET).
[[nodiscard]] bool is_target_process();
/// In such a process. Plain output: lines of stdout and stderr are not put together.
[[nodiscard]] target_of_main run_target_process(bool plain_output = false);
/// The same in two steps: what it will be, and the rest.
struct expected_target {
  node_t self = 0;
  std::size_t nodes = 0;
  std::function<target_of_main()> run;
};
[[nodiscard]] expected_target expect_target_process(bool plain_output = false);
/// In a rank of a launcher that is not the host. `planned`: all targets of the job, of which it starts its own by
/// `how`.
[[nodiscard]] target_of_main run_rank(std::unique_ptr<transport::process_group> group, const fresh_targets& planned,
                                      target_defaults how);

/// In a process in which the host has called ham_main with the address of what it has left there. Runs main as well, if
/// the host wants that.
void run_called_target(std::uint64_t address);

}  // namespace ham::detail
