// Switches between stacks, and threads whose kernel threads sleep.
#include "sim/stacks.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstdint>
#include <vector>

extern "C" {
/// Saves the registers that functions preserve, and what follows from the arguments. `fast`: as the processor allows
/// it.
void ham_sim_switch(void** saved_stack, void* stack, void* thread_pointer, unsigned long fast) noexcept;
/// The same, but that the kernel's thread sleeps for ever.
void ham_sim_park(void** saved_stack) noexcept;
}

// The stack holds the registers that a function must preserve; nothing else changes when a function is called.
#if defined(__x86_64__)
__asm__(R"(
  .text
  .globl ham_sim_switch
  .type ham_sim_switch, @function
ham_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  testq %rcx, %rcx
  jz 1f
  wrfsbase %rdx
2:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
1:
  movl $158, %eax     # arch_prctl
  movl $0x1002, %edi  # ARCH_SET_FS
  movq %rdx, %rsi
  syscall
  jmp 2b
  .size ham_sim_switch, .-ham_sim_switch

  .globl ham_sim_park
  .type ham_sim_park, @function
ham_sim_park:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
1:
  xorl %edi, %edi
  xorl %esi, %esi
  xorl %edx, %edx
  xorl %r10d, %r10d
  movl $271, %eax     # ppoll of nothing
  syscall
  jmp 1b
  .size ham_sim_park, .-ham_sim_park
)");
#elif defined(__aarch64__)
__asm__(R"(
  .text
  .globl ham_sim_switch
  .type ham_sim_switch, %function
ham_sim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  msr tpidr_el0, x2
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size ham_sim_switch, .-ham_sim_switch

  .globl ham_sim_park
  .type ham_sim_park, %function
ham_sim_park:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  stlr x9, [x0]
1:
  mov x0, #0
  mov x1, #0
  mov x2, #0
  mov x3, #0
  mov x8, #73  // ppoll of nothing
  svc #0
  b 1b
  .size ham_sim_park, .-ham_sim_park
)");
#else
#error "the simulation runs on x86-64 and AArch64"
#endif

namespace ham::inline v1::sim {
namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 20U;
constexpr std::uint64_t lowest_word = 0x5ca1ab1e0ddba11aU;  // of a stack; stays

std::vector<idle_thread*> waiting;  // the next one last

/// Whether the processor changes the thread pointer without a system call.
unsigned long can_switch_fast() noexcept {
#if defined(__x86_64__)
  constexpr unsigned long fsgsbase = 2;
  return ::getauxval(AT_HWCAP2) & fsgsbase;
#else
  return 1;
#endif
}

void* be_idle(void* record) noexcept {
  auto& self = *static_cast<idle_thread*>(record);
  self.at.thread_pointer = __builtin_thread_pointer();
  ham_sim_park(&self.at.stack_pointer);
  return self.work(self.argument);
}

/// False: the system has no more threads.
bool make_idle_thread(char* stack) {
  auto* const made = new idle_thread;
  made->stack_begin = stack;
  made->stack_end = stack + stack_bytes;
  *reinterpret_cast<std::uint64_t*>(stack) = lowest_word;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, stack, stack_bytes);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a handler would use the stack
  const int error = ::pthread_create(&made->handle, &attributes, &be_idle, made);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    delete made;
    return false;
  }
  while (__atomic_load_n(&made->at.stack_pointer, __ATOMIC_ACQUIRE) == nullptr) ::sched_yield();
  waiting.push_back(made);
  return true;
}

/// Memory for stacks, or nullptr. Takes no memory before it is used.
char* map_stacks(std::size_t bytes) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

}  // namespace

namespace {
unsigned long fast = can_switch_fast();
}  // namespace

void switch_by_system_calls(bool so) noexcept { fast = so ? 0 : can_switch_fast(); }

void switch_context(context& from, const context& to) noexcept {
  from.thread_pointer = __builtin_thread_pointer();
  ham_sim_switch(&from.stack_pointer, to.stack_pointer, to.thread_pointer, fast);
}

bool idle_thread::stack_sufficed() const noexcept {
  return *reinterpret_cast<const std::uint64_t*>(stack_begin) == lowest_word;
}

void make_idle_threads(std::size_t count) {
  char* stacks = map_stacks(count * stack_bytes);
  if (stacks == nullptr) return;
  for (std::size_t i = 0; i < count && make_idle_thread(stacks); ++i) stacks += stack_bytes;
}

idle_thread* take_idle_thread() {
  if (waiting.empty()) make_idle_threads(1);
  if (waiting.empty()) return nullptr;
  idle_thread* const one = waiting.back();
  waiting.pop_back();
  return one;
}

}  // namespace ham::sim
