// Two counters that follow each other.
#include "coupled/thread_solver.hpp"

#include <utility>

#include "common/cores.hpp"

namespace coupled {
namespace {

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

thread_solver::thread_solver(const field& begin, std::uint64_t sweeps, waiting how, int core)
    : there_(begin), sweeps_(sweeps), how_(how), thread_([this, core] { serve(core); }) {}

thread_solver::~thread_solver() {
  edge_ = nullptr;
  announce(started_, started_.load(std::memory_order_relaxed) + 1);
}

void thread_solver::start(const std::vector<double>& edge) {
  edge_ = &edge;
  announce(started_, started_.load(std::memory_order_relaxed) + 1);
}

std::vector<double> thread_solver::wait() {
  wait_for(finished_, started_.load(std::memory_order_relaxed));
  return std::move(row_);
}

void thread_solver::wait_for(const counter& of, std::uint32_t value) const {
  for (std::uint32_t seen = 0; (seen = of.load(std::memory_order_acquire)) != value;) {
    if (how_ == waiting::sleeping)
      of.wait(seen, std::memory_order_acquire);
    else
      pause_core();
  }
}

void thread_solver::announce(counter& of, std::uint32_t value) const {
  of.store(value, std::memory_order_release);
  if (how_ == waiting::sleeping) of.notify_one();
}

void thread_solver::serve(int core) {
  if (core >= 0) app::stay_on(core);
  for (std::uint32_t turn = 1;; ++turn) {
    wait_for(started_, turn);
    if (edge_ == nullptr) return;
    row_ = there_.step(*edge_, sweeps_);
    announce(finished_, turn);
  }
}

}  // namespace coupled
