// The host's side of shared memory: starts the targets, brings pairs of targets together, sees who dies.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_kills.hpp"
#include "base/recording.hpp"
#include "transport/common/process_supervisor.hpp"
#include "transport/common/ring_transport.hpp"
#include "transport/shm/host_commands.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/target_group.hpp"

namespace ham::inline v1::transport::shm {

class host_transport final : public ring_transport, private wake_listener {
 public:
  /// Of the node `self`. Does not start anything yet. `heap_fd` stays the caller's.
  static std::unique_ptr<host_transport> make(node_t self, int heap_fd, observer& to);
  ~host_transport() override;

  /// Starts targets of a job of `nodes` nodes. Throws ham::config_error.
  void start(std::vector<target_plan> plans, std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout = std::chrono::milliseconds(500));

  [[nodiscard]] const char* name() const noexcept override { return "shm"; }
  /// Every target is connected to the host from its start: there is no other.
  void connect(node_t peer) override { observing().on_lost(peer, "it has left the job"); }
  [[nodiscard]] bool oversubscribed() const noexcept override;
  [[nodiscard]] int home_core() const noexcept override { return job_->of(self_).home_core(); }
  /// Where a node, this one or a target that is or will be started, is to wake up; negative: anywhere. Any thread.
  void set_home_core(node_t node, int core) noexcept;
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override { return supervisor_.pid(node); }
  [[nodiscard]] std::vector<std::byte> recorded_by(node_t node) const override {
    return base::read_recorder_area(job_file_.get(), recorder_offset(node));
  }
  void forget(endpoint& with) noexcept override;
  void shutdown() noexcept override;
  /// Whether a process has the place of `node`, also one that was removed and has not ended yet.
  [[nodiscard]] bool has_place_of(node_t node) const;

 protected:
  void asleep(bool on) noexcept override { job_->set_awake(self_, !on); }
  /// It counts as awake at once: where both share a core, it cannot run before this node gives way.
  void wakes(node_t peer) noexcept override { job_->wake(peer); }

 private:
  host_transport(node_t self, base::unique_fd job_file, base::mapping job_memory, base::unique_fd event, int heap_fd,
                 observer& to);

  void control_loop();  // the control thread
  void start_one(const target_plan& plan, std::uint32_t nodes);
  bool run_commands();
  void wait_for_events();
  void read_control(started_target& from);
  void look_after_processes();
  void on_ended(started_target& one, const std::string& end);
  void release(started_target& one);
  void hang_up(started_target& one);
  void hang_up_on(started_target& one);
  void report_hang_ups();
  void lose(const started_target& one, const std::string& how);
  void expel(started_target& one);
  void report_end(const started_target& one, const std::string& how);
  void on_life_word(node_t node);
  [[nodiscard]] pid_t pid_of(node_t node) const;
  [[nodiscard]] bool is_dead(const started_target& one) const;
  [[nodiscard]] std::string how_ended(node_t node);
  [[nodiscard]] std::string with_killer(node_t node, const std::string& how);
  void stop_children();
  void drop_ended();
  void make_recorder_room(node_t node) noexcept;
  void keep_recording(node_t node);
  void drop_unused_pages(std::size_t of_place) noexcept;

  const node_t self_;
  base::unique_fd job_file_;
  base::mapping job_memory_;
  job_segment* job_;
  base::unique_fd event_;
  int heap_fd_;

  mutable std::mutex mutex_;
  std::set<std::size_t> places_;      // of children; guarded by mutex_
  std::set<node_t> nodes_;            // of children; guarded by mutex_
  std::map<node_t, pid_t> pids_;      // of those that have joined; guarded by mutex_
  std::map<std::size_t, int> homes_;  // by place, as in the segment, of nodes that will be started; guarded by mutex_
  base::memory_kills memory_kills_;   // guarded by mutex_
  std::map<node_t, bool> killed_for_memory_;  // of those that signal 9 has ended; guarded by mutex_

  host_commands commands_;
  process_supervisor supervisor_;  // control thread only
  target_group targets_;           // control thread only
  /// Who hung up before it joined, and when that is told, unless its process ends before; control thread only.
  std::map<node_t, std::int64_t> hung_up_;
  std::deque<node_t> recordings_;  // of nodes that have gone, the oldest first; control thread only
  std::int64_t start_limit_ns_;
  base::unique_fd epoll_;
  std::unique_ptr<base::life_watch> watch_;
  std::thread control_thread_;
};

}  // namespace ham::transport::shm
