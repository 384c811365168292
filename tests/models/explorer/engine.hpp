// Runs a scenario in all ways that the schedule of its threads and the memory model allow.
//
// A scenario is a function that makes objects and threads. Everything that its threads do to atomic objects, shared
// plain memory, locks and the kernel goes through here, and is a step. Between two steps of a thread any other may take
// its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace model {

using place = std::source_location;
inline constexpr unsigned max_threads = 8;

// ---- of scenarios
struct scenario {
  const char* name;
  void (*make)();
  std::vector<std::string>
      outcomes{};                 ///< what some run must have, else the scenario is too small; with ! what none may
  unsigned pauses = 4;            ///< rounds of waiting of each thread, before a run is cut
  unsigned switches = ~0U;        ///< away from threads that could go on, in one run
  const char* failure = nullptr;  ///< it must fail, and say this: a test of the explorer
};

/// Adds a thread. `daemon`: it need not come to its end.
enum class lifetime : bool { ends, daemon };
unsigned start_thread(std::function<void()> work, lifetime life = lifetime::ends);
void join_thread(unsigned thread);
/// What is checked when all threads have ended.
void at_end(std::function<void()> check);
/// Ends the run as a failure unless `holds`.
void check(bool holds, const char* what, place where = place::current());
/// This run has an outcome that scenario::reachable, or a litmus test, asks about.
void outcome(const std::string& which);
/// Index of the calling thread, from 0.
[[nodiscard]] unsigned this_thread();
/// One of `count` possibilities that neither schedule nor memory decides: whether something fails, for example.
[[nodiscard]] unsigned choose(unsigned count, const char* what);
/// A round of a loop that waits for a limited time.
void count_pause();
/// A round of a loop that waits: goes on when something that the round has read was given another value.
void pause(place where = place::current());

// ---- of the shadows of std and of the kernel
std::uint64_t load(const void* from, unsigned size, std::memory_order order, place where);
void store(void* to, unsigned size, std::uint64_t value, std::memory_order order, place where);
/// The old value. `next` gives the new one, or says by false that there is none: a failed exchange, with `failure`.
using next_value = std::function<bool(std::uint64_t old, std::uint64_t& next)>;
std::uint64_t update(void* at, unsigned size, const next_value& next, std::memory_order order,
                     std::memory_order failure, place where);
void fence(std::memory_order order, place where);
void light_fence(place where);
/// Reaches those threads for which `reaches` is true.
void heavy_fence(const std::function<bool(unsigned thread)>& reaches, place where);
std::uint32_t plain_load(const void* from, place where);
void plain_store(void* to, std::uint32_t value, place where);
/// The memory of an atomic object is freed: no other access may come at the same time, or later.
void free_atomic(void* what, unsigned size, place where);

/// Something with a state of its own: a mutex, an event. Steps that use it are ordered by it.
class object {
 public:
  /// A step, taken when `ready` holds: what `act` does to the object's state, which gives a value for the trace.
  std::uint64_t step(const char* what, const std::function<bool()>& ready, const std::function<std::uint64_t()>& act,
                     place where);
};
/// The newest value, as the kernel reads it, within a step of an object.
[[nodiscard]] std::uint64_t newest(const void* from, unsigned size);
/// What the kernel writes at once, within a step of an object.
void write_newest(void* to, unsigned size, std::uint64_t value);

int run(int argc, char** argv, const std::vector<scenario>& scenarios);

}  // namespace model
