// What other threads ask of the control thread of a host.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "base/unique_fd.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::shm {

/// One target to start.
struct target_plan {
  node_t node = 1;
  std::vector<std::string> command;      ///< program and arguments
  std::vector<int> cpus;                 ///< empty: anywhere
  std::vector<std::string> environment;  ///< NAME=value, in addition to this process's own
  base::output_fds output = {};
};

class host_commands {
 public:
  struct batch {
    bool stop = false;
    bool starts = false;  ///< `plans` of a job of `nodes` nodes; started() follows
    std::vector<target_plan> plans;
    std::uint32_t nodes = 0;
    std::vector<std::pair<node_t, std::int64_t>> ending;  ///< who, and until when in base::now_ns()
    std::vector<node_t> forgotten;                        ///< whose endpoints are used no more
  };

  host_commands();

  // ---- any thread
  /// Has targets started and waits until they are. One thread at a time. Throws ham::config_error, also behind stop().
  void start(std::vector<target_plan> plans, std::uint32_t nodes);
  void end(node_t node, std::int64_t until_ns);
  /// Without memory left it is not asked for.
  void forget(node_t node) noexcept;
  /// False: it was asked for before.
  [[nodiscard]] bool stop() noexcept;

  // ---- the control thread
  /// Readable when something has been asked for since take().
  [[nodiscard]] int fd() const noexcept { return event_.get(); }
  [[nodiscard]] batch take();
  /// The plans that take() gave are carried out, or cannot be: why.
  void started(std::string problem);

 private:
  void signal() const noexcept;
  void settle_start(std::string problem);

  base::unique_fd event_;
  std::mutex mutex_;
  std::condition_variable done_;
  batch next_;
  bool stopped_ = false;
  bool starting_ = false;
  std::string problem_;
};

}  // namespace ham::transport::shm
