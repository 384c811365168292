// Targets behind media that only one side can make journeys over: which transport starts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/node_list.hpp"
#include "transport/emulated/host_transport.hpp"
#include "transport/vedma/host_transport.hpp"
#include "transport/veo/host_transport.hpp"

namespace ham::detail {

/// The host's transports of this kind, each made when its first target is asked for.
class accelerators {
 public:
  /// `host` owns the transports and outlives this.
  explicit accelerators(engine& host) : host_(host) {}

  [[nodiscard]] static bool start_here(const node_group& group) noexcept {
    return group.transport == "emulated" || group.transport == "veo" || group.transport == "vedma";
  }
  /// Whether the settings of a group can be understood. Throws ham::config_error.
  static void check(const node_group& group);

  /// Starts one target of `group` in a job of `nodes` nodes. Throws ham::config_error.
  void start(const node_group& group, std::size_t member, const transport::child_keeper::plan& process,
             std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `patience`. Does not wait.
  void end(node_t node, std::chrono::milliseconds patience);

 private:
  void start_emulated(const node_group& group, const transport::child_keeper::plan& process, std::uint32_t nodes);
  template <class Host>
  void start_on_engine(Host*& host, std::size_t member, node_t node, std::uint32_t nodes);

  engine& host_;
  transport::emulated::host_transport* emulated_ = nullptr;
  transport::veo::host_transport* veo_ = nullptr;
  transport::vedma::host_transport* vedma_ = nullptr;
};

}  // namespace ham::detail
