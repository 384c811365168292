// Starts, watches, reaps and ends processes: the one place that does, whatever a process runs on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace ham::inline v1::transport {

/// One process, as a supervisor deals with it: a child of this process (child_process) or whatever a library has
/// started elsewhere.
class supervised_process {
 public:
  virtual ~supervised_process() = default;
  /// Of this machine; negative or 0: not known.
  [[nodiscard]] virtual std::int64_t pid() const noexcept = 0;
  /// Becomes readable when the process ends; negative: wait_for_end() must be asked now and then.
  [[nodiscard]] virtual int end_fd() const noexcept = 0;
  /// Reaps the process if it ends within `timeout`: "exited with status 3", "was killed by signal 9 (Killed)". Empty:
  /// it runs. Not called again once it has said how.
  [[nodiscard]] virtual std::string wait_for_end(std::chrono::milliseconds timeout) = 0;
  /// Ends it by force; harmless if it has ended.
  virtual void kill() noexcept = 0;
};

/// Of base::start_process, or of a fork.
class child_process final : public supervised_process {
 public:
  explicit child_process(base::process of) : process_(std::move(of)) {}
  [[nodiscard]] std::int64_t pid() const noexcept override { return process_.pid; }
  [[nodiscard]] int end_fd() const noexcept override { return process_.pid_fd.get(); }
  [[nodiscard]] std::string wait_for_end(std::chrono::milliseconds timeout) override {
    return base::wait_for_end(process_, timeout);
  }
  void kill() noexcept override { base::kill_process(process_); }

 private:
  base::process process_;
};

/// One thread at a time uses it and waits for fd() until next_ns(); what any thread may call says so. Children are tied
/// to the thread that starts them: the kernel kills them when it ends.
class process_supervisor {
 public:
  using id = std::int64_t;  ///< the user's name for a process; it may be used again when that has ended

  struct event {
    enum class kind : std::uint8_t {
      ended,   ///< and was reaped: `how`
      killed,  ///< its time was over; that it ended comes later
    } what;
    id who;
    std::string how;
  };

  /// Throws ham::config_error.
  process_supervisor();
  /// Kills and reaps what is left.
  ~process_supervisor() { stop(std::chrono::milliseconds(0)); }
  process_supervisor(const process_supervisor&) = delete;
  process_supervisor& operator=(const process_supervisor&) = delete;

  /// Starts a child. Throws ham::config_error.
  void start(id who, const base::process_request& what);
  /// Supervises one that runs already.
  void adopt(id who, std::unique_ptr<supervised_process> one);
  /// Kills it at that time, in base::now_ns(), unless it has ended by then; base::never_ns: not any more. Harmless if
  /// it is not there.
  void kill_at(id who, std::int64_t time_ns) noexcept;
  /// Waits for the end of one: how it ended, which turn() does not tell again; empty: it runs, or is not there.
  [[nodiscard]] std::string wait(id who, std::chrono::milliseconds timeout);
  [[nodiscard]] bool runs(id who) const noexcept { return running_.contains(who); }
  [[nodiscard]] bool empty() const noexcept { return running_.empty(); }
  /// Of a process that runs or was among the last 1024 to end; -1: there is none. Any thread.
  [[nodiscard]] std::int64_t pid(id who) const noexcept;

  /// Readable when turn() has something to tell.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// When turn() must be called at the latest, in base::now_ns().
  [[nodiscard]] std::int64_t next_ns() const noexcept;
  /// Reaps those that have ended, kills those whose time is over.
  [[nodiscard]] std::vector<event> turn();

  /// In a fork of the process that has the children: forgets them all.
  void detach_after_fork() noexcept;
  /// Waits for the end of all for at most `timeout`, kills what is left, and reaps it.
  void stop(std::chrono::milliseconds timeout) noexcept;

 private:
  struct record {
    std::unique_ptr<supervised_process> process;
    std::int64_t kill_ns;
  };
  using place = std::map<id, record>::iterator;

  [[nodiscard]] std::set<id> due(std::int64_t now) const;
  std::string reap(place at, std::chrono::milliseconds timeout);

  base::unique_fd epoll_;
  std::map<id, record> running_;
  mutable std::mutex mutex_;
  std::map<id, std::int64_t> pids_;  // guarded by mutex_
  std::deque<id> ended_;             // whose pid is still told; guarded by mutex_
};

}  // namespace ham::transport
