// Linked into tests under ThreadSanitizer, which does not see the counters of exceptions: they are the C++ library's,
// whose code is not instrumented. A thread that frees an exception which another one has read would seem to race with
// it. Here one mutex is held while references go, and ThreadSanitizer sees that.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// Recursive: the destructor of one may release another.
pthread_mutex_t releasing = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

template <class Function>
Function* next_of(const char* symbol) {
  void* const found = ::dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "tests: the C++ library has no %s\n", symbol);
    std::abort();
  }
  return reinterpret_cast<Function*>(found);
}

/// A child process has no thread that would give it free.
[[maybe_unused]] const int of_forks =
    ::pthread_atfork([] { ::pthread_mutex_lock(&releasing); }, [] { ::pthread_mutex_unlock(&releasing); },
                     [] { releasing = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; });

struct releasing_guard {
  releasing_guard() { ::pthread_mutex_lock(&releasing); }
  releasing_guard(const releasing_guard&) = delete;
  releasing_guard& operator=(const releasing_guard&) = delete;
  ~releasing_guard() { ::pthread_mutex_unlock(&releasing); }
};

}  // namespace

extern "C" {
void __cxa_end_catch() {  // NOLINT(bugprone-reserved-identifier)
  static auto* const next = next_of<void()>("__cxa_end_catch");
  const releasing_guard guard;
  next();
}

/// std::exception_ptr::_M_release(), which is private.
void ham_test_release_exception(void* pointer) noexcept __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
void ham_test_release_exception(void* pointer) noexcept {
  static auto* const next = next_of<void(void*)>("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
  const releasing_guard guard;
  next(pointer);
}
}
