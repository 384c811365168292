// What the benchmarks over tcp stand on.
#pragma once

#include "process_state.hpp"
#include "session.hpp"
#include "socket_partner.hpp"
#include "tcp_job.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace ham::inline v1::bench {

/// A job with one target, and the partner that measures the floor; of either, whichever is not measured sleeps.
class tcp_pair {
 public:
  tcp_pair(bool secure, const std::vector<int>& host_cores, const std::vector<int>& target_cores)
      : server_(secure, target_cores), partner_(target_cores) {
    pin_this_thread(host_cores);
    job_ = server_.host();
    offload::sync(1, fn<&nothing>);
    target_ = static_cast<pid_t>(offload::get_node_descriptor(1).pid());
  }

  /// When the target sleeps.
  [[nodiscard]] socket_partner& partner() {
    static_cast<void>(wait_until_asleep(target_, std::chrono::milliseconds(200)));
    return partner_;
  }

 private:
  tcp_server server_;
  socket_partner partner_;
  std::unique_ptr<runtime> job_;
  pid_t target_ = -1;
};

}  // namespace ham::bench
