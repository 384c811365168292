// Start and end of MPI.
#include "transport/mpi/session.hpp"

#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"
#include "transport/mpi/process_manager.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

bool on_several_machines() {
  MPI_Comm near = MPI_COMM_NULL;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near) != MPI_SUCCESS) return false;
  int all = 0;
  int here = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_size(near, &here);
  MPI_Comm_free(&near);
  return here < all;
}

/// Where that is refused, by a filter of system calls or by Yama, UCX connects ranks of one machine by sockets.
bool copies_between_processes() noexcept {
  char from = 1;
  char to = 0;
  const iovec there{&from, 1};
  const iovec here{&to, 1};
  if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != 1) return false;
  if (::process_vm_writev(::getpid(), &here, 1, &there, 1, 0) != 1) return false;
  int scope = 0;  // from 2 on: for those with privileges, or nobody
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/yama/ptrace_scope", "re"); file != nullptr) {
    if (std::fscanf(file, "%d", &scope) != 1) scope = 0;
    std::fclose(file);
  }
  return scope < 2;
}

/// Whether UCX was told to use media of which none is memory of this machine, or some were excluded.
bool is_told_to_use_sockets() noexcept {
  const char* const media = base::foreign_variable("UCX_TLS");
  if (media == nullptr) return false;
  const std::string_view text(media);
  if (text.starts_with('^')) return true;
  constexpr std::string_view in_memory[] = {"all", "sm", "shm", "mm", "posix", "sysv", "cma", "knem", "xpmem"};
  return std::none_of(std::begin(in_memory), std::end(in_memory),
                      [&](std::string_view one) { return text.find(one) != std::string_view::npos; });
}

/// MPICH before 4.2 over UCX may hang in MPI_Finalize where ranks are connected by a network, be it that of one
/// machine: a rank that has disconnected waits in the launcher's barrier, without the progress that others need to
/// disconnect from it (MPICH 6596). Only with MPICH's own launcher can that barrier be left out. Collective.
bool finalize_may_hang() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  int major = 0;
  int minor = 0;
  MPI_Get_library_version(text, &length);
  if (std::sscanf(text, "MPICH Version: %d.%d", &major, &minor) != 2 || std::strstr(text, "ch4:ucx") == nullptr) {
    return false;
  }
  if (major > 4 || (major == 4 && minor >= 2)) return false;
  const bool network = on_several_machines() || !copies_between_processes() || is_told_to_use_sockets();
  const bool hydra = base::foreign_variable("PMI_FD") != nullptr && base::foreign_variable("SLURM_PROCID") == nullptr;
  // That any rank is connected so, and all have been started by that launcher. Twice: what the second one sends goes
  // over connections that exist, so that it is sent when the process ends.
  int some[] = {network ? 1 : 0, hydra ? 0 : 1};
  for (int i = 0; i < 2; ++i) MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return some[0] != 0 && some[1] == 0;
}

/// Instead of MPI_Finalize. Without an acknowledgement the launcher takes the end of this process as a failure.
void leave_launcher() noexcept {
  constexpr int limit_ms = 5'000;
  const char* const text = base::foreign_variable("PMI_FD");
  const auto fd = text == nullptr ? std::nullopt : base::parse_integer(text, 0, INT_MAX);
  if (!fd || !leave_process_manager(static_cast<int>(*fd), limit_ms))
    base::log("mpi", base::log_level::warning, "the MPI launcher did not acknowledge the end of process %d",
              static_cast<int>(::getpid()));
}

/// MPICH's launcher drops what it has not read, and passed on, when the job is aborted.
void await_reader(int pipe) noexcept {
  int unread = 0;
  for (int i = 0; i < 100 && ::ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ++i) base::sleep_ns(10'000'000);
  base::sleep_ns(200'000'000);
}

/// If MPI's own way to abort gets stuck.
void kill_in(time_t seconds) noexcept {
  sigevent how{};
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGKILL;
  timer_t timer{};
  const itimerspec when{{}, {seconds, 0}};
  if (::timer_create(CLOCK_MONOTONIC, &how, &timer) == 0) ::timer_settime(timer, 0, &when, nullptr);
}

}  // namespace

void session::begin() {
  if (ready_) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0 || over_) {
    throw config_error(
        "MPI has ended in this process, and cannot begin again; make one runtime only, or call MPI_Init and "
        "MPI_Finalize yourself around all of them");
  }
  int running = 0;
  MPI_Initialized(&running);
  int level = MPI_THREAD_SINGLE;
  if (running == 0) {
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    if (error != MPI_SUCCESS) throw config_error("MPI_Init_thread failed (" + text_of(error) + ")");
    ours_ = true;
  } else {
    MPI_Query_thread(&level);
  }
  int main_thread = 0;
  MPI_Is_thread_main(&main_thread);
  if (level < MPI_THREAD_SERIALIZED && main_thread == 0) {
    throw config_error(
        "this MPI lets only the thread call it that called MPI_Init; make the runtime there, or ask MPI_Init_thread "
        "for "
        "MPI_THREAD_MULTIPLE");
  }
  gate_.set(level, main_thread != 0);
  ready_ = true;
}

void session::finish() noexcept {
  if (!ours_) return;
  ours_ = false;
  ready_ = false;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  over_ = true;
  if (finalize_may_hang())
    leave_launcher();
  else
    MPI_Finalize();
}

void session::finish_failed(const std::string& why) noexcept {
  if (!ours_) return;
  constexpr std::int64_t max_s = 10;
  const std::int64_t set_s = base::number_of(base::setting::mpi_end_timeout).value_or(0);  // 0: never
  const std::chrono::seconds limit(set_s > 0 ? std::min(set_s, max_s) : max_s);
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread watch;
  try {
    watch = base::start_thread([&] {
      std::unique_lock lock(mutex);
      if (!changed.wait_for(lock, limit, [&] { return ended; })) abort_all(why);
    });
  } catch (const std::exception&) {  // threads may be what is missing
    abort_all(why);
  }
  finish();
  {
    std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_one();
  watch.join();
}

/// Does not return. The launcher ends the others, if not when it is told then because this process is gone.
void session::abort_all(const std::string& why) noexcept {
  constexpr int failed = 2;
  base::log("mpi", base::log_level::error, "%s; other ranks wait for process %d, which has failed: aborting",
            why.empty() ? "no memory" : why.c_str(), static_cast<int>(::getpid()));
  await_reader(STDERR_FILENO);
  kill_in(5);
  if (gate_.open_to_all()) MPI_Abort(MPI_COMM_WORLD, failed);
  ::_exit(failed);
}

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) return "error " + std::to_string(error);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace ham::transport::mpi
