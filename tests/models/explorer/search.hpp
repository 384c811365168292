// The search through all runs of a scenario: its state, and the threads of the current run.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explorer/engine.hpp"
#include "explorer/memory.hpp"
#include "explorer/visited.hpp"

namespace model {
inline constexpr std::size_t stack_bytes = std::size_t{256} << 10;
inline constexpr std::size_t used_stack_bytes = std::size_t{8} << 10;  // most runs use no more of it
inline constexpr std::size_t arena_bytes = std::size_t{64} << 20;

struct exception_state {  // of the C++ runtime, per thread
  void* caught;
  unsigned uncaught;
};
enum class end_of_run : int { none, finished, seen_before, cut, failed };

struct fiber {
  std::function<void()> work;
  ucontext_t first;
  sigjmp_buf here;
  bool begun = false;
  bool finished = false;
  bool daemon = false;
  exception_state exceptions{};
  std::uint64_t hash = 0;
  std::function<bool()> ready;  // of the step that it wants to take
  const char* wants = "";
  place where;
  std::map<unsigned, std::uint64_t> round;  // location -> value that this round of a wait has met last
  unsigned pauses = 0;
};

struct choice {
  unsigned chosen;
  unsigned count;
};

class engine {
 public:
  explicit engine(const scenario& what) : scenario_(what) {}

  struct limits {
    double seconds = 60;
    unsigned steps = 20'000;     // of a run
    unsigned pauses = 0;         // rounds of waiting of a thread, before the run is cut; 0: what the scenario says
    unsigned preemptions = ~0U;  // switches away from a thread that could go on
  };
  limits limit;
  bool trace = false;
  std::vector<choice> choices;

  /// True: no run has failed.
  bool explore();
  bool replay();
  void report(double seconds) const;
  [[nodiscard]] std::string replay_text() const;
  [[nodiscard]] const std::set<std::string>& outcomes() const { return outcomes_; }
  [[nodiscard]] bool complete() const { return complete_; }

  // ---- from fibers and shadows
  enum class mode : std::uint8_t { outside, making, running, ending };
  [[nodiscard]] mode now() const { return mode_; }
  unsigned add(std::function<void()> work, bool daemon);
  void begin_step(const char* what, place where, std::function<bool()> ready = {});
  unsigned choose(unsigned count);
  [[noreturn]] void stop(end_of_run how);
  [[noreturn]] void fail(const std::string& what, place where);
  void count_pause();
  void say(const char* format, ...) __attribute__((format(printf, 2, 3)));
  fiber& self() { return *fibers_[current_]; }
  [[nodiscard]] location& at(const void* address, unsigned size) { return memory_.at(address, size); }
  void guard_races(location& with, access what);
  view& brought_by(const object& one);
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment);
  void met(const location& at, std::uint64_t value) { self().round[at.index] = value; }

  memory memory_{[this](unsigned count) { return choose(count); }};
  std::vector<std::function<void()>> checks;
  unsigned current_ = 0;
  std::vector<std::unique_ptr<fiber>> fibers_;
  unsigned count_ = 0;  // fibers of this run
  std::string failure;
  std::set<std::string> run_outcomes;

 private:
  end_of_run run_once();
  void schedule();
  void switch_to(unsigned next);
  static void enter();
  [[nodiscard]] std::uint64_t state_hash();
  [[noreturn]] void nobody_runs();

  const scenario& scenario_;
  mode mode_ = mode::outside;
  std::size_t next_choice_ = 0;
  unsigned preemptions_ = 0;
  sigjmp_buf main_;
  visited_set visited_;
  std::vector<std::pair<const void*, std::unique_ptr<view>>> objects_;
  std::array<std::byte*, max_threads> stacks_{};
  std::array<std::size_t, max_threads + 1> allocated_{};
  std::set<std::string> outcomes_;
  std::uint64_t runs_ = 0, cut_ = 0, merged_ = 0;
  unsigned steps_ = 0;
  std::size_t longest_ = 0;
  bool complete_ = false;
  bool preempted_out_ = false;
};

inline engine* the_engine = nullptr;
inline bool in_model_code = false;  // whether what is allocated belongs to the run

/// What the engine has left on the stack of a fiber shall not make two states different.
[[gnu::noinline]] inline void wipe() {
  volatile std::uint64_t below[192];
  for (volatile std::uint64_t& one : below) one = 0;
}

/// While it lives, the engine's own code runs.
class outside {
 public:
  outside() : before_(in_model_code) { in_model_code = false; }
  ~outside() {
    if (before_) wipe();
    in_model_code = before_;
  }
  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

 private:
  bool before_;
};

/// What the threads of a run allocate, and last what the scenario does before they begin.
[[nodiscard]] std::byte* arenas();
[[nodiscard]] const char* file_of(place where);

}  // namespace model
