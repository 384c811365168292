// Handlers of faults, and the thread that ends the process.
#include "crash.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

#include "base/clock.hpp"

namespace ham::inline v1::veo {
namespace {

constexpr std::array fault_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t handler_stack_bytes = std::size_t{64} << 10;
constexpr std::int64_t answer_time_ns = 20'000'000;  // for the answer that names the signal to leave

/// A thread that executes requests. Handlers of other threads look at it.
struct runner {
  std::atomic<landing*> at{nullptr};
  std::atomic<pid_t> thread{0};  ///< 0: free
};
constinit std::array<runner, 1024> runners{};
constinit std::atomic<bool> crashing{false};
constinit std::atomic<int> death_signal{0};
int death_pipe[2] = {-1, -1};

/// Plain, because handlers look at it, on threads of others too.
constinit thread_local runner* own_runner = nullptr;

/// Gives the runner back when the thread ends.
struct end_of_thread {
  void* handler_stack = nullptr;
  ~end_of_thread() {
    if (own_runner != nullptr) own_runner->thread.store(0);
    own_runner = nullptr;
    if (handler_stack == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(handler_stack, handler_stack_bytes);
  }
};
thread_local end_of_thread cleanup;

pid_t thread_number() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void die_of(int signal) noexcept {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::syscall(SYS_tgkill, ::getpid(), thread_number(), signal);
}

void on_fault(int signal, siginfo_t*, void*) {
  landing* const place = own_runner == nullptr ? nullptr : own_runner->at.exchange(nullptr);
  if (place != nullptr) {
    const bool access = signal == SIGSEGV || signal == SIGBUS;
    if (!place->harmless || !access) crashing.store(true);
    ::siglongjmp(place->place, signal);
  }
  // A thread that a kernel has started: one that executes a request takes the blame.
  for (runner& one : runners) {
    const pid_t thread = one.thread.load();
    if (thread == 0 || one.at.load() == nullptr) continue;
    ::syscall(SYS_tgkill, ::getpid(), thread, signal);
    for (;;) ::pause();
  }
  die_of(signal);
}

/// Made with the first request, so that it is there in processes that were forked to serve a host.
void start_gravedigger() {
  if (::pipe2(death_pipe, O_CLOEXEC) != 0) throw std::bad_alloc();
  std::thread([] {
    char any = 0;
    while (::read(death_pipe[0], &any, 1) != 1) {
    }
    base::sleep_ns(answer_time_ns);
    die_of(death_signal.load());
    ::_exit(128 + death_signal.load());
  }).detach();
}

}  // namespace

void set_landing(landing* at) noexcept { own_runner->at.store(at, std::memory_order_relaxed); }

bool prepare_thread() {
  if (own_runner != nullptr) [[likely]]
    return false;
  static std::once_flag once;
  std::call_once(once, &start_gravedigger);
  void* const memory = ::mmap(nullptr, handler_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = handler_stack_bytes;
  ::sigaltstack(&stack, nullptr);
  cleanup.handler_stack = memory;
  for (runner& one : runners) {
    pid_t nobody = 0;
    if (!one.thread.compare_exchange_strong(nobody, thread_number())) continue;
    own_runner = &one;
    return true;
  }
  throw std::bad_alloc();
}

void catch_faults() {
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : fault_signals) ::sigaction(signal, &action, nullptr);
}

void begin_to_die(int signal) noexcept {
  crashing.store(true);
  int none = 0;
  death_signal.compare_exchange_strong(none, signal);
  const char any = 0;
  static_cast<void>(!::write(death_pipe[1], &any, 1));
}

void stop_if_crashing() noexcept {
  while (crashing.load(std::memory_order_relaxed)) ::pause();
}

}  // namespace ham::veo
