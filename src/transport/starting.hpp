// Transports whose targets are started by the host: what starts them, and what such a target finds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/heap.hpp"
#include "base/process.hpp"
#include "transport/factory.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// One target to start.
struct start_plan {
  node_t node = 1;
  std::size_t member = 0;                ///< its place in its group as that was written, from 0
  std::vector<std::string> command;      ///< program and arguments
  std::vector<int> cores;                ///< empty: anywhere
  std::vector<std::string> environment;  ///< NAME=value, in addition to the host's own
  base::output_fds output = {};          ///< if it redirects output; open until start() has returned
};

/// The job that targets are started for.
struct job_size {
  std::uint32_t nodes = 0;   ///< one more than the largest number of a node
  std::uint32_t living = 0;  ///< nodes that are there or expected, host and new ones included
};

/// What starts and ends targets, on the host. Lives as long as its transport is used; its destructor does not touch it.
class host_side {
 public:
  host_side() = default;
  virtual ~host_side() = default;
  host_side(const host_side&) = delete;
  host_side& operator=(const host_side&) = delete;

  /// Starts targets of `group`; observer::on_connected or on_lost follows for each. Throws ham::config_error.
  virtual void start(const target_group& group, std::vector<start_plan> plans, job_size job) = 0;
  /// Sees to it that a target which was told to end does so within `timeout`. Does nothing for other nodes. Does not
  /// wait.
  virtual void end(node_t node, std::chrono::milliseconds timeout) = 0;
  /// Whether a process has the place of `node`, also one that was removed and has not ended yet.
  [[nodiscard]] virtual bool has_place_of(node_t) const { return false; }
  /// Where a node, this one or a target that is or will be started, is to wake up; negative: anywhere. Any thread.
  virtual void set_home_core(node_t, int) noexcept {}
};

/// The host's side of a transport, made when its first target is asked for.
struct host_parts {
  std::unique_ptr<transport> carrier;
  std::unique_ptr<host_side> side;
};

/// What a target has been told by its host before they are connected.
class target_side {
 public:
  target_side() = default;
  virtual ~target_side() = default;
  target_side(const target_side&) = delete;
  target_side& operator=(const target_side&) = delete;

  [[nodiscard]] virtual node_t self() const noexcept = 0;
  /// Who has started it.
  [[nodiscard]] virtual node_t host() const noexcept = 0;
  /// One more than the largest number of a node.
  [[nodiscard]] virtual std::size_t nodes() const noexcept = 0;
  /// Where main of the application is, if it was loaded as a library and nobody has called it; else 0.
  [[nodiscard]] virtual std::uint64_t main_address() const noexcept { return 0; }
  /// The memory that peers reach, if the host has made it. Called once.
  [[nodiscard]] virtual std::unique_ptr<base::heap> take_memory() {
    return std::make_unique<base::heap>(base::heap::make_file());
  }
  /// The transport, after take_memory. Called once. Throws ham::config_error, after telling the host why.
  [[nodiscard]] virtual std::unique_ptr<transport> open(observer& to) = 0;
  /// Connects to the host, when the transport is in use: observer::on_connected follows at once. Throws
  /// ham::config_error.
  virtual void join() = 0;
};

/// What a target reaches besides its host, and through the host the rest of the job.
enum class company : std::uint8_t {
  nobody,    ///< it has nothing else
  networks,  ///< who listens somewhere
  targets,   ///< and the targets of its own kind
};

/// A transport of this kind.
class starting_factory : public factory {
 public:
  [[nodiscard]] const starting_factory* as_starting() const noexcept final { return this; }

  /// The one whose host side starts such targets; another one if this is only another way to ask for them.
  [[nodiscard]] virtual const starting_factory& host_factory() const noexcept { return *this; }
  /// Whether such a target is a process of this machine that runs the host's own program file, or
  /// target_group::program.
  [[nodiscard]] virtual bool starts_own_program() const noexcept { return false; }
  [[nodiscard]] virtual company reaches() const noexcept { return company::networks; }
  /// Whether start_plan::output holds: such a target is a process of this machine.
  [[nodiscard]] virtual bool redirects_output() const noexcept { return false; }
  /// Whether host and targets can be told where to wake up (host_side::set_home_core).
  [[nodiscard]] virtual bool places_nodes() const noexcept { return false; }

  /// On the node `self`, which is the host that its targets know. `memory`, which peers reach, and `to` outlive the
  /// parts. Throws ham::config_error.
  [[nodiscard]] virtual host_parts make_host(node_t self, base::heap& memory, observer& to) const = 0;
  /// In a process that was started with HAM_TARGET=NAME:`told`; nullptr: this transport starts none in this way. Throws
  /// ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<target_side> make_target(std::string_view) const { return nullptr; }
  /// In a process in which the host has called ham_main with the address of what it has left there; nullptr: another
  /// transport has. Throws ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<target_side> make_called_target(std::uint64_t) const { return nullptr; }
};

}  // namespace ham::transport
