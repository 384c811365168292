// Depth-first search through all choices, run by run, with threads as fibers. What leads to a state that was seen
// before is not followed. A state is what the threads have in registers, on stacks and in memory, and what of the
// histories of values may still be read.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "explorer/search.hpp"

namespace model {
namespace {

extern "C" exception_state* __cxa_get_globals() noexcept;

std::byte* map_pages(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  return static_cast<std::byte*>(at);
}

/// Registers with which all fibers begin.
const ucontext_t& pattern() {
  static const ucontext_t first = [] {
    ucontext_t here{};
    ::getcontext(&here);
    return here;
  }();
  return first;
}

}  // namespace

/// What the threads of a run allocate, and last what the scenario does before they begin.
std::byte* arenas() {
  static std::byte* const at = map_pages((max_threads + 1) * arena_bytes);
  return at;
}

const char* file_of(place where) {
  const char* const slash = std::strrchr(where.file_name(), '/');
  return slash == nullptr ? where.file_name() : slash + 1;
}

void engine::say(const char* format, ...) {
  if (!trace) return;
  std::printf("  %u ", current_);
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
}

unsigned engine::choose(unsigned count) {
  if (count == 0) fail("nothing is possible here: the explorer is wrong", place::current());
  if (count == 1) return 0;
  if (next_choice_ == choices.size()) choices.push_back({0, count});
  const choice made = choices[next_choice_++];
  if (made.count == 0) choices[next_choice_ - 1].count = count;  // of a replay
  if (made.count != 0 && made.count != count) {
    std::fprintf(stderr, "model: a run is not repeatable (%u possibilities, then %u)\n", made.count, count);
    std::abort();
  }
  return made.chosen;
}

void engine::stop(end_of_run how) { siglongjmp(main_, static_cast<int>(how)); }

void engine::fail(const std::string& what, place where) {
  failure = what + " (" + file_of(where) + ":" + std::to_string(where.line()) + ")";
  if (trace) std::printf("  FAILS: %s\n", failure.c_str());
  if (mode_ != mode::running) {
    std::fprintf(stderr, "%s\n", failure.c_str());
    if (mode_ == mode::making) std::abort();
  }
  stop(end_of_run::failed);
}

void engine::count_pause() {
  const unsigned most = limit.pauses != 0 ? limit.pauses : scenario_.pauses;
  if (++self().pauses > most) stop(end_of_run::cut);
}

unsigned engine::add(std::function<void()> work, bool daemon) {
  const unsigned index = count_++;
  if (index == max_threads) std::abort();
  if (fibers_.size() == index) fibers_.push_back(std::make_unique<fiber>());
  if (stacks_[index] == nullptr) stacks_[index] = map_pages(stack_bytes);
  fiber& one = *fibers_[index];
  one = fiber{};
  one.work = std::move(work);
  one.daemon = daemon;
  one.wants = "begin";
  if (mode_ == mode::running) memory_.threads[index].current = memory_.threads[current_].current;
  memory_.threads[index].current.clock[index] = 1;
  return index;
}

void engine::enter() {
  engine& own = *the_engine;
  fiber& one = own.self();
  in_model_code = true;
  one.work();
  in_model_code = false;
  one.finished = true;
  own.schedule();
  std::abort();
}

void engine::switch_to(unsigned next) {
  if (next == current_ && self().begun) return;
  fiber& from = self();
  from.exceptions = *__cxa_get_globals();
  current_ = next;
  fiber& to = self();
  *__cxa_get_globals() = to.exceptions;
  if (from.begun && sigsetjmp(from.here, 0) != 0) return;
  if (to.begun) siglongjmp(to.here, 1);
  to.begun = true;
  std::memset(stacks_[current_] + stack_bytes - used_stack_bytes, 0, used_stack_bytes);
  to.first = pattern();
  to.first.uc_stack.ss_sp = stacks_[current_];
  to.first.uc_stack.ss_size = stack_bytes;
  to.first.uc_link = nullptr;
  ::makecontext(&to.first, &engine::enter, 0);
  ::setcontext(&to.first);
}

/// What is in memory between two addresses. Most of a large table is zero, which takes little time.
std::uint64_t hash_bytes(const std::byte* from, const std::byte* to) {
  static constexpr std::byte zeros[1024]{};
  std::uint64_t hash = 6;
  for (const std::byte* at = from; at + 8 <= to;) {
    if (at + sizeof zeros <= to && std::memcmp(at, zeros, sizeof zeros) == 0) {
      at += sizeof zeros;
      continue;
    }
    hash = mix(hash, static_cast<std::uint64_t>(at - from));
    for (const std::byte* const end = std::min(at + sizeof zeros, to); at + 8 <= end; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      hash = (hash ^ word) * 0x9fb21c651e98df25U;
      hash ^= hash >> 32;
    }
  }
  return mix(hash, static_cast<std::uint64_t>(to - from));
}

/// What the calling fiber has in its registers and on its stack.
[[gnu::noinline]] std::uint64_t hash_stack(const std::byte* top) {
  jmp_buf registers;
  std::memset(&registers, 0, sizeof registers);
  static_cast<void>(_setjmp(registers));
  const auto* const saved = reinterpret_cast<const std::byte*>(&registers->__jmpbuf);
  const auto* const from = static_cast<const std::byte*>(__builtin_frame_address(0));
  return mix(hash_bytes(from, top), hash_bytes(saved, saved + sizeof registers->__jmpbuf));
}

std::uint64_t engine::state_hash() {
  unsigned live = 0;
  std::vector<std::pair<const void*, const view*>> others;
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < count_; ++i) {
    const fiber& one = *fibers_[i];
    hash = mix(hash, one.finished ? 4 : one.begun ? one.hash : 3);
    if (one.finished)
      others.emplace_back(&one, &memory_.threads[i].current);
    else
      live |= 1U << i;
  }
  for (const auto& [address, brings] : objects_) others.emplace_back(address, brings.get());
  hash = mix(hash, memory_.hash(live, others));
  for (unsigned i = 0; i <= max_threads; ++i) {
    const std::byte* const from = arenas() + i * arena_bytes;
    if (allocated_[i] != 0) hash = mix(hash, hash_bytes(from, from + allocated_[i]));
  }
  for (const std::string& one : run_outcomes) hash = mix(hash, std::hash<std::string>()(one));
  if (limit.preemptions != ~0U) hash = mix(mix(hash, preemptions_), current_);
  return hash;
}

void engine::nobody_runs() {
  std::string who;
  for (unsigned i = 0; i < count_; ++i) {
    const fiber& one = *fibers_[i];
    if (one.finished || one.daemon) continue;
    who += std::string(who.empty() ? "" : "; ") + "thread " + std::to_string(i) + " waits for ever: " + one.wants +
           " (" + file_of(one.where) + ":" + std::to_string(one.where.line()) + ")";
  }
  if (who.empty()) stop(end_of_run::finished);
  fail(who, place::current());
}

void engine::schedule() {
  std::array<unsigned, max_threads> able{};
  unsigned count = 0;
  const auto consider = [&](unsigned i) {
    const fiber& one = *fibers_[i];
    if (!one.finished && (!one.ready || one.ready())) able[count++] = i;
  };
  if (fibers_[current_]->begun) consider(current_);
  const bool goes_on = count != 0;
  for (unsigned i = 0; i < count_; ++i) {
    if (i != current_ || !fibers_[current_]->begun) consider(i);
  }
  if (count == 0) nobody_runs();
  if (next_choice_ == choices.size() && !visited_.insert(state_hash())) stop(end_of_run::seen_before);
  if (goes_on && preemptions_ >= limit.preemptions && count > 1) {
    preempted_out_ = true;
    count = 1;
  }
  const unsigned next = able[choose(count)];
  if (goes_on && next != current_) ++preemptions_;
  switch_to(next);
}

void engine::begin_step(const char* what, place where, std::function<bool()> ready) {
  fiber& one = self();
  one.wants = what;
  one.where = where;
  one.ready = std::move(ready);
  one.hash = hash_stack(stacks_[current_] + stack_bytes);
  std::uint64_t round = 0;
  for (const auto& [index, value] : one.round)
    round += mix(reinterpret_cast<std::uintptr_t>(memory_.locations()[index]->address), value);
  one.hash = mix(one.hash, mix(round, one.pauses));
  if (++steps_ > limit.steps) stop(end_of_run::cut);
  schedule();
  if (memory_.is_full()) stop(end_of_run::cut);
  ++memory_.threads[current_].current.clock[current_];
  self().ready = {};
}

void engine::guard_races(location& with, access what) {
  if (memory_.races(current_, with, what))
    fail("data race: this access is not ordered with an earlier one of another thread", self().where);
}

view& engine::brought_by(const object& one) {
  for (auto& [address, brings] : objects_) {
    if (address == &one) return *brings;
  }
  objects_.emplace_back(&one, std::make_unique<view>());
  return *objects_.back().second;
}

void* engine::allocate(std::size_t size, std::size_t alignment) {
  const unsigned whose = mode_ == mode::running ? current_ : max_threads;
  std::size_t& used = allocated_[whose];
  used = (used + alignment - 1) / alignment * alignment;
  std::byte* const found = arenas() + whose * arena_bytes + used;
  used += size;
  if (used > arena_bytes) std::abort();
  std::memset(found, 0, size);  // what an earlier run has left shall not make two states different
  return found;
}

end_of_run engine::run_once() {
  memory_.clear();
  next_choice_ = 0;
  preemptions_ = 0;
  steps_ = 0;
  count_ = 0;
  current_ = 0;
  objects_.clear();
  checks.clear();
  run_outcomes.clear();
  allocated_.fill(0);
  const exception_state before = *__cxa_get_globals();
  auto how = static_cast<end_of_run>(sigsetjmp(main_, 0));
  if (how == end_of_run::none) {
    mode_ = mode::making;
    in_model_code = true;
    scenario_.make();
    in_model_code = false;
    mode_ = mode::running;
    schedule();
  }
  in_model_code = false;
  *__cxa_get_globals() = before;
  if (how == end_of_run::finished) {
    mode_ = mode::ending;
    const auto again = static_cast<end_of_run>(sigsetjmp(main_, 0));
    if (again == end_of_run::none) {
      for (std::size_t i = 0; i < checks.size(); ++i) checks[i]();
    } else {
      how = again;
    }
  }
  mode_ = mode::outside;
  return how;
}

bool engine::replay() {
  static_cast<void>(pattern());
  trace = true;
  return run_once() != end_of_run::failed;
}

bool engine::explore() {
  static_cast<void>(pattern());
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const end_of_run how = run_once();
    ++runs_;
    longest_ = std::max(longest_, choices.size());
    if (how == end_of_run::failed) return false;
    if (how == end_of_run::cut) ++cut_;
    if (how == end_of_run::seen_before) ++merged_;
    if (how == end_of_run::finished) outcomes_.insert(run_outcomes.begin(), run_outcomes.end());
    choices.resize(std::min(choices.size(), next_choice_));
    while (!choices.empty() && choices.back().chosen + 1 == choices.back().count) choices.pop_back();
    if (choices.empty()) break;
    ++choices.back().chosen;
    if ((runs_ & 255) == 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > limit.seconds) return true;
    }
  }
  complete_ = true;
  return true;
}

std::string engine::replay_text() const {
  std::string text;
  for (const choice& one : choices) text += (text.empty() ? "" : ".") + std::to_string(one.chosen);
  return text.empty() ? "0" : text;
}

void engine::report(double seconds) const {
  std::printf("%-34s %9llu runs %9zu states %6llu cut %7.1f s  %s\n", scenario_.name,
              static_cast<unsigned long long>(runs_), visited_.size(), static_cast<unsigned long long>(cut_), seconds,
              !failure.empty() ? "FAILS"
              : !complete_     ? "NOT COMPLETE (out of time)"
              : preempted_out_ ? "complete within the bound of switches"
              : cut_ != 0      ? "complete within the rounds of waiting"
                               : "complete");
  std::fflush(stdout);
}

}  // namespace model
