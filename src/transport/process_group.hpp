// Transports among processes that a launcher has started together: peers have ranks, the code is in a module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/heap.hpp"
#include "base/settings.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// Processes of a job. Rank 0 is node 0, the host; rank 1 is node first(), and those of further ranks follow.
class process_group {
 public:
  virtual ~process_group() = default;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  [[nodiscard]] virtual node_t first() const noexcept = 0;
  /// Number of this process in the job.
  [[nodiscard]] virtual node_t self() const noexcept = 0;
  /// Whether any thread may use the transport, whatever the application itself does with the vendor's library.
  [[nodiscard]] virtual bool for_any_thread() const noexcept = 0;
  /// The transport among them. `memory`: what peers may put to and get from; nullptr: nothing. Called once; returns
  /// when all processes of the group have called it. The group may go before the transport.
  [[nodiscard]] virtual std::unique_ptr<transport> open(base::heap* memory, observer& to) = 0;
};

/// What a module offers. Its functions throw ham::config_error with what to do.
class group_module {
 public:
  virtual ~group_module() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// The vendor's name and version, for people. Before and after its runtime is up.
  [[nodiscard]] virtual std::string version() const = 0;
  /// What the program says of the settings of this process, for the module's own copy of base/settings. Before each of
  /// what follows.
  virtual void use_settings(std::vector<base::program_setting> said) = 0;
  /// The group of all processes that were started with this one, or of the vendor's handle at `communicator`. Returns
  /// when all have called it.
  [[nodiscard]] virtual std::unique_ptr<process_group> join(const void* communicator) = 0;
  /// Starts `count` processes that run `command`, and gives the group of this process and them; they get it from
  /// join_parent.
  [[nodiscard]] virtual std::unique_ptr<process_group> spawn(const std::vector<std::string>& command, std::size_t count,
                                                             node_t first) = 0;
  [[nodiscard]] virtual std::unique_ptr<process_group> join_parent() = 0;
  /// Ends the vendor's runtime if this module began it; nothing can be made of the module afterwards. Returns when all
  /// processes have called it. `failure`: why this process's part of the job has failed, as when it could not start;
  /// others may wait for it for ever. Unless they come to their end as well, within seconds, that is written to the
  /// log, and all are aborted. nullptr: it has not failed.
  virtual void finish(const std::string* failure) noexcept = 0;
};

/// Changes when anything changes that a module and the library share.
inline constexpr std::uint32_t group_interface = 5;

/// The function that a module exports under the name "ham_group_module". nullptr: another interface than asked for.
using group_module_entry = group_module* (*)(std::uint32_t interface_version);

}  // namespace ham::transport
