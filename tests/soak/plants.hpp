// Faults on purpose, to see that the checks of the soak test find them (finds_test.py). All processes of a run read
// HAM_SOAK_PLANT, which soak.py --plant NAME sets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace soak {

enum class plant : std::uint8_t {
  none,
  wrong_result,         ///< a function gives another value
  wrong_checksum,       ///< a byte in the memory of a node changes
  changed_bytes,        ///< the same, after the node has read it
  lost_exception,       ///< a function does not throw what it should
  lost_call,            ///< a call has a result, and has not run
  double_run,           ///< a call runs twice
  late_run,             ///< a call that has not run runs later
  unannounced_kill,     ///< a target dies that should be left alone
  unkilled,             ///< a target that was killed goes on
  unannounced_death,    ///< the same of the supervised process
  no_restart,           ///< no other process takes the place of the supervised one
  unprepared,           ///< the next supervised process is called without having been prepared
  usable_handle,        ///< a handle of a process that has died is not refused
  lost_line,            ///< a line of output does not come
  no_stop,              ///< functions are not told that they are to stop
  hang,                 ///< a call never returns
  hanging_replacement,  ///< the thread that replaces targets stands still
  growth,               ///< all nodes keep memory, descriptors, maps and threads
  left_behind,          ///< a process and a name of shared memory are left
  early_end,            ///< the program ends in the middle of a run
  crash,                ///< it is killed there
  lost_event,           ///< the handler of events does not hear that a node is lost
  no_heartbeat,         ///< a long function gives no signs of life
  kept_stop,            ///< a shield does not keep a stop away
  uncounted             ///< a small call of the fast run is not counted
};

/// Whether this fault is planted.
[[nodiscard]] bool planted(plant fault) noexcept;
/// How long to wait for what must happen: not long where the fault keeps it away.
[[nodiscard]] inline std::chrono::milliseconds time_limit(plant fault) noexcept {
  return std::chrono::milliseconds(planted(fault) ? 100 : 10'000);
}
/// Empty if HAM_SOAK_PLANT is not set or names a fault; else what is wrong with it.
[[nodiscard]] std::string problem_with_plant();

/// growth: what each node keeps each time that samples are due.
void keep_on_purpose();
/// left_behind.
void leave_behind();

}  // namespace soak
