// A target's side of shared memory: joins the job it was started for, meets other targets, ends with its host.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/control_socket.hpp"
#include "base/heap.hpp"
#include "base/recording.hpp"
#include "transport/common/ring_transport.hpp"
#include "transport/shm/messages.hpp"
#include "transport/shm/segment.hpp"

namespace ham::inline v1::transport::shm {

/// What a target gets from its host before anything else.
struct invitation {
  base::unique_fd control;
  base::unique_fd job_file, pair_file, own_heap, host_heap, own_event, host_event;
  node_t node = 0;
  node_t host = 0;  ///< who has started it
  std::uint32_t nodes = 0;
  std::uint32_t epoch = 0;
  pid_t host_pid = 0;      ///< as the kernel says; 0: it is not seen from here
  bool same_pids = false;  ///< the pids that the host tells are those that are seen here

  /// Reads the welcome from an inherited control socket. Throws ham::config_error, after telling the host why.
  static invitation accept(int control_fd);
};

class target_transport final : public ring_transport, private wake_listener {
 public:
  /// The invitation's own_heap has been taken by the caller. Throws as accept() does.
  static std::unique_ptr<target_transport> make(invitation from, observer& to);
  ~target_transport() override;

  /// Connects to the host; observer::on_connected follows at once.
  void join();

  [[nodiscard]] const char* name() const noexcept override { return "shm"; }
  void connect(node_t peer) override;
  [[nodiscard]] bool oversubscribed() const noexcept override;
  void forget(endpoint& with) noexcept override;
  [[nodiscard]] int home_core() const noexcept override { return job_->of(self_).home_core(); }
  [[nodiscard]] std::vector<std::byte> recorded_by(node_t node) const override {
    return base::read_recorder_area(invitation_.job_file.get(), recorder_offset(node));
  }
  void shutdown() noexcept override;

 protected:
  void asleep(bool on) noexcept override { job_->set_awake(self_, !on); }
  /// It counts as awake at once: where both share a core, it cannot run before this node gives way.
  void wakes(node_t peer) noexcept override { job_->wake(peer); }

 private:
  target_transport(invitation from, base::mapping job_memory, observer& to);

  void control_loop();
  bool send_control(control_kind kind, node_t peer) noexcept;
  void on_introduced(const base::control_message& message);
  [[nodiscard]] std::string why_refused(node_t peer) const;
  void add(node_t peer, unsigned side, std::uint32_t epoch, base::unique_fd pair, base::unique_fd heap,
           base::unique_fd event);
  void on_life_word(node_t node);
  [[nodiscard]] bool host_ends() const;
  [[nodiscard]] pid_t pid_of(node_t peer) const;
  [[noreturn]] static void end_with_host() noexcept;

  invitation invitation_;
  base::mapping job_memory_;
  job_segment* job_;
  node_t self_;
  node_t host_;
  const uid_t user_at_start_ = ::geteuid();
  std::size_t connected_ = 0;  // of the control thread, once it runs
  mutable std::mutex mutex_;
  std::map<node_t, pid_t> pids_;  // of peers, as the host says; guarded by mutex_
  std::atomic<bool> leaving_{false};
  base::unique_fd stop_event_;
  std::unique_ptr<base::life_watch> watch_;
  std::thread control_thread_;
};

}  // namespace ham::transport::shm
