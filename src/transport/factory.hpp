// What a transport tells of itself before there is any connection: its name, how its groups of HAM_NODES are read, and
// whether it can be used here. src/compose has the list of all factories.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ham/error.hpp"
#include "transport/group_text.hpp"

namespace ham::inline v1::transport {

class factory;
class starting_factory;
class network_factory;
class launched_factory;
class in_process_factory;

/// What a transport has read from a group besides what all have. Each derives its own.
struct group_settings {
  group_settings() = default;
  virtual ~group_settings() = default;
  group_settings(const group_settings&) = delete;
  group_settings& operator=(const group_settings&) = delete;
};

/// Another program than the host's, for targets.
struct target_program {
  std::vector<std::string> command;      ///< the program, and the words before the application's own; empty: the host's
  std::vector<std::string> environment;  ///< NAME=value, in addition to the host's own
  bool complete = false;  ///< the application's own arguments do not follow, and every target may use all cores
};

/// Targets that are started, or reached, the same way: one group of HAM_NODES.
struct target_group {
  explicit target_group(const factory& maker, std::size_t targets = 1) : by(&maker), count(targets) {}

  /// One of them, to start it again: it has the place, and the core, that it had among all of them.
  [[nodiscard]] target_group alone(std::size_t member) const {
    target_group result = *this;
    result.first_place = first_place + member;
    result.all_places = places();
    result.count = 1;
    result.restarts = false;  // that is what its number has
    if (!program.complete && !cores.empty()) result.cores = {cores[member % cores.size()]};
    return result;
  }
  /// How many targets the group had as it was written.
  [[nodiscard]] std::size_t places() const noexcept { return all_places == 0 ? count : all_places; }

  const factory* by;
  std::size_t count;
  std::size_t first_place = 0;  ///< of the first of them in the group as it was written
  std::size_t all_places = 0;   ///< of that group, if this one is a part of it: places()
  bool restarts = false;        ///< those that die are started again
  bool each_rank = false;       ///< every process that a launcher has started, the host included, starts so many
  std::vector<int> cores;       ///< one per target, in turn; empty: anywhere
  target_program program;
  std::string text;                                ///< as it was written, without each:
  std::vector<target_group> behind;                ///< what each of these starts beside itself, of waiting programs
  std::shared_ptr<const group_settings> settings;  ///< of the type that `by` makes; nullptr where it has none
};

/// Whether a transport can be used on this machine.
struct availability {
  bool available = true;
  std::string remark;   ///< why not, and what to do; or what it cannot do here
  std::string version;  ///< of what it rests on
};

/// What `look` finds; if it throws instead, that is why the transport cannot be used.
template <class Look>
[[nodiscard]] availability found_by(Look look) {
  try {
    return look();
  } catch (const std::exception& problem) {
    return {false, problem.what(), {}};
  }
}

/// How a group is written, for --ham-help.
struct help_line {
  std::string_view syntax;   ///< "shm[:COUNT]"; empty: not for users
  std::string_view meaning;  ///< in a few words
};

/// One transport. Factories have no state of their own, live as long as the process, and may be used by any thread. One
/// derives from the class for how its targets come into the job: starting_factory, network_factory, launched_factory or
/// in_process_factory.
class factory {
 public:
  factory() = default;
  virtual ~factory() = default;
  factory(const factory&) = delete;
  factory& operator=(const factory&) = delete;

  /// As in HAM_TARGET and for people: "shm".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// How its groups begin: the name alone, or with what must follow it, as in "exec:" and "tcp://".
  [[nodiscard]] virtual std::string_view prefix() const noexcept { return name(); }
  /// Groups that show how it is written, for messages: "shm:2 or shm:2@2+3". Empty: none.
  [[nodiscard]] virtual std::string_view example() const noexcept { return {}; }
  [[nodiscard]] virtual help_line help() const noexcept = 0;

  /// Reads the rest of `text`, all of it; addresses and settings become objects here. Throws ham::config_error.
  [[nodiscard]] virtual target_group parse(group_text& text) const = 0;

  /// Looks whether what it rests on is there; starts no process. Does not throw.
  [[nodiscard]] virtual availability probe() const = 0;
  /// A list of nodes with which a job of one target can be tried at once on this machine; empty: it takes more.
  [[nodiscard]] virtual std::string trial() const { return {}; }
  /// The nodes of a job that nothing else is said of; empty: this transport is no default here. That of a launcher
  /// which has started this process comes before others.
  [[nodiscard]] virtual std::string default_nodes() const { return {}; }
  // ---- itself, as what it is; one of these is not nullptr
  /// The host starts its targets (starting.hpp).
  [[nodiscard]] virtual const starting_factory* as_starting() const noexcept { return nullptr; }
  /// Its targets wait at addresses, where the host invites them (network.hpp).
  [[nodiscard]] virtual const network_factory* as_network() const noexcept { return nullptr; }
  /// A launcher has started all processes alike; such a group comes first in a list (process_group.hpp).
  [[nodiscard]] virtual const launched_factory* as_launched() const noexcept { return nullptr; }
  /// Its targets are threads of the host's process (in_process.hpp).
  [[nodiscard]] virtual const in_process_factory* as_in_process() const noexcept { return nullptr; }

  /// Whether its groups may be given another program to start (target_group::program).
  [[nodiscard]] virtual bool starts_programs() const noexcept { return false; }
  /// Whether a program with privileges may use it for its caller: no code or machine that the caller names is involved.
  [[nodiscard]] virtual bool safe_for_privileged() const noexcept { return false; }
};

}  // namespace ham::transport
