// As little of libveo as the veo transport needs, so that it is tested where no VEO is installed: a helper process, its
// memory read and written by the kernel.
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "veo_stand_in/messages.hpp"

using namespace ham::test::veo_stand_in;

struct veo_thr_ctxt {
  struct veo_proc_handle* process;
};
struct veo_proc_handle {
  pid_t pid = -1;
  int socket = -1;
  std::mutex mutex;
  std::deque<veo_thr_ctxt> contexts;

  /// 0 as well if the helper is gone.
  std::uint64_t ask(const request& what) {
    std::lock_guard guard(mutex);
    std::uint64_t answer = 0;
    if (::send(socket, &what, sizeof what, MSG_NOSIGNAL) != sizeof what) return 0;
    return ::recv(socket, &answer, sizeof answer, 0) == sizeof answer ? answer : 0;
  }
};
struct veo_args {
  std::uint64_t first;
};

namespace {

request with_text(order what, std::uint64_t first, const char* text) {
  request result{what, first, 0, {}};
  std::strncpy(result.text, text, sizeof result.text - 1);
  return result;
}

using transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

int copy(transfer how, veo_proc_handle* process, void* here, std::uint64_t there, std::size_t size) {
  if (size == 0) return 0;
  const iovec mine{here, size};
  const iovec theirs{reinterpret_cast<void*>(there), size};
  return how(process->pid, &mine, 1, &theirs, 1, 0) == static_cast<ssize_t>(size) ? 0 : -1;
}

}  // namespace

extern "C" {

veo_proc_handle* veo_proc_create(int) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  const char* const arguments[] = {VEO_STAND_IN_HELPER, nullptr};
  auto* const made = new veo_proc_handle;
  const int error = ::posix_spawn(&made->pid, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  made->socket = ends[0];
  if (error == 0) return made;
  delete made;
  return nullptr;
}

int veo_proc_destroy(veo_proc_handle* process) {
  ::close(process->socket);
  ::waitpid(process->pid, nullptr, 0);
  delete process;
  return 0;
}

std::uint64_t veo_load_library(veo_proc_handle* process, const char* path) {
  return process->ask(with_text(order::load, 0, path));
}
std::uint64_t veo_get_sym(veo_proc_handle* process, std::uint64_t library, const char* name) {
  return process->ask(with_text(order::symbol, library, name));
}
veo_thr_ctxt* veo_context_open(veo_proc_handle* process) {
  return &process->contexts.emplace_back(veo_thr_ctxt{process});
}
veo_args* veo_args_alloc() { return new veo_args{0}; }
int veo_args_set_u64(veo_args* arguments, int, std::uint64_t value) {
  arguments->first = value;
  return 0;
}
void veo_args_free(veo_args* arguments) { delete arguments; }
std::uint64_t veo_call_async(veo_thr_ctxt* context, std::uint64_t address, veo_args* arguments) {
  return context->process->ask({order::call, address, arguments->first, {}}) == 1 ? 0 : ~std::uint64_t{0};
}
int veo_call_peek_result(veo_thr_ctxt* context, std::uint64_t, std::uint64_t* result) {
  *result = 0;
  constexpr int ok = 0;
  constexpr int unfinished = 3;
  return context->process->ask({order::finished, 0, 0, {}}) == 1 ? unfinished : ok;
}
int veo_alloc_mem(veo_proc_handle* process, std::uint64_t* address, std::size_t size) {
  *address = process->ask({order::allocate, size, 0, {}});
  return *address == 0 ? -1 : 0;
}
int veo_read_mem(veo_proc_handle* process, void* to, std::uint64_t from, std::size_t size) {
  return copy(&::process_vm_readv, process, to, from, size);
}
int veo_write_mem(veo_proc_handle* process, std::uint64_t to, const void* from, std::size_t size) {
  return copy(&::process_vm_writev, process, const_cast<void*>(from), to, size);
}
}
