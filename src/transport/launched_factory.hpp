// Transports among processes that a launcher has started together, before their module is loaded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "transport/factory.hpp"
#include "transport/process_group.hpp"

namespace ham::inline v1::transport {

/// A transport of this kind. All throw ham::config_error with what to do.
class launched_factory : public factory {
 public:
  [[nodiscard]] const launched_factory* as_launched() const noexcept final { return this; }
  /// As group_module::join. What this process starts from here on is no rank, whatever environment it inherits.
  [[nodiscard]] virtual std::unique_ptr<process_group> join(const void* communicator) const = 0;
  /// As group_module::spawn; the processes find out by themselves that they belong to this job. `count` may be 0 in a
  /// text that asks for none: that is refused.
  [[nodiscard]] virtual std::unique_ptr<process_group> spawn(std::vector<std::string> command, std::size_t count,
                                                             node_t first) const = 0;
  /// Ends the vendor's runtime if this transport was used and began it, as group_module::finish.
  virtual void finish(const std::string* failure) const noexcept = 0;
};

}  // namespace ham::transport
