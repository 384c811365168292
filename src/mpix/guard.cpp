// Signal handlers that leave a crashed kernel by a jump.
#include "mpix/guard.hpp"

#include "mpix/kernel.hpp"
#include "mpix/settings.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>

namespace ham::inline v1::mpix {
namespace {

constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// What the handlers see. A process has one guard.
struct {
  sigjmp_buf way_out;
  volatile sig_atomic_t in_kernel = 0;
  volatile sig_atomic_t has_crashed = 0;
  volatile sig_atomic_t signal = 0;
  const char* volatile kernel = "";
  pthread_t thread{};
  int rank = -1;
  int grace_s = 0;
} state;

// Signal-safe; texts that do not fit are cut.
class line {
 public:
  line& operator<<(const char* text) {
    const std::size_t length = std::min(std::strlen(text), sizeof text_ - used_);
    std::memcpy(text_ + used_, text, length);
    used_ += length;
    return *this;
  }
  line& operator<<(int number) {
    char digits[12];
    char* end = digits + sizeof digits;
    char* begin = end;
    *--begin = '\0';
    do *--begin = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    return *this << begin;
  }
  ~line() { (void)!::write(STDERR_FILENO, text_, used_); }

 private:
  char text_[400];
  std::size_t used_ = 0;
};

[[noreturn]] void end_now(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  ::_exit(1);
}

void on_crash(int signal) {
  const bool can_leave = state.in_kernel != 0 && ::pthread_equal(::pthread_self(), state.thread) != 0;
  line() << "ham: kernel \"" << state.kernel << "\" on child " << state.rank
         << (can_leave ? " crashed: " : " or what it left behind crashed beyond repair: ") << signal_text(signal)
         << "\n";
  if (!can_leave || state.grace_s == 0) end_now(signal);
  state.in_kernel = 0;
  state.has_crashed = 1;
  state.signal = signal;
  // What the kernel has damaged may keep this process from reporting. Twice the grace: the usual end is the one by MPI.
  if (state.grace_s > 0) ::alarm(static_cast<unsigned>(2 * state.grace_s));
  siglongjmp(state.way_out, 1);
}

void on_alarm(int /*signal*/) {
  line() << "ham: child " << state.rank << " ends the job: kernel \"" << state.kernel
         << "\" crashed here, and the parents or other children do not get on\n";
  ::_exit(1);
}

void on_exit_in_kernel() {
  if (state.in_kernel != 0) {
    line() << "ham: kernel \"" << state.kernel << "\" on child " << state.rank
           << " called exit: a kernel ends by returning\n";
  }
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  ::sigaction(signal, &action, nullptr);
}

std::string type_of_exception() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "something";
  int status = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string result = status == 0 ? readable : type->name();
  std::free(readable);
  return result;
}

// Apart from the function with the jump, whose variables must not be in registers.
void run_catching(kernel& what, std::span<std::byte* const> arguments, run_outcome& outcome) {
  try {
    outcome.result = what.run(arguments);
  } catch (const std::exception& problem) {
    outcome.threw = true;
    outcome.text = "threw " + type_of_exception() + ": " + problem.what();
  } catch (...) {
    outcome.threw = true;
    outcome.text = "threw " + type_of_exception();
  }
}

}  // namespace

const char* signal_text(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV, memory that is not there";
    case SIGBUS: return "SIGBUS, memory that cannot be reached";
    case SIGFPE: return "SIGFPE, arithmetic without result";
    case SIGILL: return "SIGILL, no instruction";
    case SIGABRT: return "SIGABRT, abort was called";
    default: return "a signal";
  }
}

guard::guard(int rank) {
  state.rank = rank;
  state.thread = ::pthread_self();
  state.grace_s = static_cast<int>(settings::get().grace.count());
  static std::array<std::byte, 64 * 1024> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  std::atexit(on_exit_in_kernel);
}

void guard::take_signals() noexcept {
  for (const int signal : crash_signals) install(signal, on_crash);
}

run_outcome guard::run(kernel& what, const char* name, std::span<std::byte* const> arguments) {
  run_outcome outcome;
  state.kernel = name;
  if (sigsetjmp(state.way_out, 0) == 0) {
    state.in_kernel = 1;
    run_catching(what, arguments, outcome);
    state.in_kernel = 0;
    return outcome;
  }
  install(SIGALRM, on_alarm);
  run_outcome crash;
  crash.signal = state.signal;
  return crash;
}

void guard::report_received() noexcept {
  if (state.has_crashed != 0) ::alarm(0);
}

void guard::limit_the_end() noexcept {
  if (state.has_crashed != 0 && state.grace_s > 0) ::alarm(static_cast<unsigned>(state.grace_s));
}

}  // namespace ham::mpix
