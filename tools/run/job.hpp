// One run: remote ends, host, output, and the end of them all.
#pragma once

#include "channel.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "signals.hpp"
#include "streams.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace ham::inline v1::run {

class job {
 public:
  job(const run_options& options, std::vector<target_group> groups);
  ~job();

  /// Starts everything, waits for the host's end, and gives its exit code. Throws problem and interrupted.
  int run();

 private:
  using clock = std::chrono::steady_clock;

  void start_remote_ends();
  template <class Done>
  void await(Done done, const std::string& what);
  void copy_files();
  void start_host();
  void wait_for_host();
  void end_remote_ends();
  void drain_output();

  /// Waits for anything up to `timeout_ms`, and notes which processes have ended.
  void look(int timeout_ms);
  void deal_with(const signal_news& news);
  void reap();

  const run_options& options_;
  const std::vector<target_group> groups_;
  signals signals_;
  streams streams_;
  std::vector<std::unique_ptr<channel>> channels_;
  std::string key_;
  pid_t host_ = -1;
  bool host_has_ended_ = false;
  bool is_ending_ = false;
  int host_status_ = 0;
  int times_asked_to_end_ = 0;
};

}  // namespace ham::run
