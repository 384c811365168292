// What hosts of Vector Engines have in common: VEO creates the processes and starts the application in them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "transport/common/libveo.hpp"
#include "transport/common/polled_transport.hpp"
#include "transport/common/process_supervisor.hpp"
#include "transport/common/reachability.hpp"
#include "transport/common/veo_welcome.hpp"

namespace ham::inline v1::transport::veo {

struct target_plan {
  node_t node = 1;
  int engine = 0;           ///< number of the Vector Engine
  std::string application;  ///< the application, built as a library for it
};

/// A process on a Vector Engine.
struct engine_process {
  veo_proc_handle* handle = nullptr;
  veo_thr_ctxt* context = nullptr;
  std::uint64_t request = no_request;  ///< of ham_main
  std::uint64_t welcome_at = 0;
  std::shared_ptr<reachability> reach = std::make_shared<reachability>();
  mutable std::int32_t pid = 0;  ///< 0: it has not told yet
  bool ended = false;
  bool told = false;
  bool unreachable = false;  ///< was to be killed, and nobody knows which process it is
  bool forgotten = false;    ///< nobody uses its endpoint, or it was told to end: destroyed when it has ended
};

class veo_host : public polled_transport {
 public:
  /// Starts one target of a job of `nodes` nodes. Blocks until its ham_main has been called. Throws ham::config_error.
  void start(const target_plan& plan, std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout) noexcept;

  void connect(node_t) override {}  // every target is connected to the host from its start
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override;
  void shutdown() noexcept override;

 protected:
  /// Of the node `self`. Loads libveo. Throws ham::config_error.
  veo_host(node_t self, observer& to, polling_interval interval);

  void forgotten(node_t node) noexcept override;
  /// Makes an empty ring for `process`, says in `said` where it is, and gives the endpoint over it. Throws
  /// ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<polled_endpoint> make_ring(const engine_process& process, welcome& said) = 0;
  /// `size` bytes of the process's memory, aligned to 64. Throws ham::config_error.
  [[nodiscard]] std::uint64_t allocate(const engine_process& process, std::size_t size) const;
  /// Throws ham::config_error.
  void write(const engine_process& process, std::uint64_t to, const void* from, std::size_t size) const;

  const libveo& veo_;

 private:
  void set_up(engine_process& made, const target_plan& plan, std::uint32_t nodes);
  void call_ham_main(engine_process& made, const target_plan& plan) const;
  class supervised_engine;
  [[nodiscard]] std::int32_t pid_of(const engine_process& one) const noexcept;
  void destroy(engine_process& one) const noexcept;
  void watch();

  const node_t self_;
  std::uint32_t next_epoch_;
  mutable std::mutex mutex_;
  std::map<node_t, engine_process> processes_;  // guarded by mutex_
  process_supervisor supervisor_;               // guarded by mutex_
  bool stop_ = false;                           // guarded by mutex_
  std::condition_variable stopped_;
  std::thread watcher_;
};

}  // namespace ham::transport::veo
