// Start, memory, contexts and end of a helper.
#include "proc.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "far_memory.hpp"
#include "host_functions.hpp"
#include "log.hpp"
#include "send.hpp"
#include "start.hpp"
#include "ve_offload.h"

using namespace ham::veo;
namespace offload = ham::offload;

namespace {

constexpr std::chrono::seconds end_timeout{20};
constexpr std::int64_t reap_timeout_ns = 1'000'000'000;

bool ended(int pid_fd, std::chrono::milliseconds within) noexcept {
  pollfd waiting{pid_fd, POLLIN, 0};
  return pid_fd >= 0 && ::poll(&waiting, 1, static_cast<int>(within.count())) > 0;
}

}  // namespace

veo_proc_handle::veo_proc_handle(int ve_node, const std::string& command, int identifier)
    : identifier_(identifier), ve_node_(ve_node) {
  const std::string place = command.empty() ? elsewhere(ve_node) : std::string();
  started_here_ = place.empty();
  if (!started_here_)
    node_ = offload::add_node(place);
  else
    node_ = offload::add_node(helper_program(ve_node, command.empty() ? usual_helper() : words_of(command)));
  main_ = std::make_unique<veo_thr_ctxt>(*this, offload::destination(node_));
  host_functions::of_this_process().begin(node_, *this);
  try {
    find_out_about(!is_address(place));
  } catch (...) {
    end_helper();
    throw;
  }
}

/// Whether the process is of this machine and its addresses are those of the kernel (they are not under an emulator),
/// and whether kernels that were linked in call functions of this one.
void veo_proc_handle::find_out_about(bool of_this_machine) {
  const offload::node_descriptor about = offload::get_node_descriptor(node_);
  pid_ = static_cast<pid_t>(about.pid());
  const answer told = offload::sync(node_, probe_request);
  std::uint64_t there[3] = {};
  if (std::get<2>(told).size() != sizeof there) return;
  std::memcpy(there, std::get<2>(told).data(), sizeof there);
  calls_host_ = there[2] != 0;
  if (!of_this_machine) return;
  pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pid_fd_ >= 0 && pid_fd_ <= STDERR_FILENO)  // the program was started without it
    ::close(std::exchange(pid_fd_, ::fcntl(pid_fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)));
  std::uint64_t seen = 0;
  near_ = copy_near(pid_, direction::from_helper, there[0], &seen, sizeof seen) && seen == there[1];
}

void veo_proc_handle::lost(const std::string& why) noexcept {
  if (dead_.exchange(true) || ending_.load()) return;
  say("the helper of node " + std::to_string(ve_node_) + ", pid " + std::to_string(pid_) + ", is lost: " + why);
}

bool veo_proc_handle::has_gone() noexcept {
  if (dead()) return true;
  if (pid_fd_ >= 0) {
    if (ended(pid_fd_, std::chrono::milliseconds(0))) lost("its process has ended");
    return dead();
  }
  try {
    static_cast<void>(offload::get_node_descriptor(node_));
  } catch (const std::exception& problem) {
    lost(problem.what());
  }
  return dead();
}

// ---- memory

bool veo_proc_handle::transfer(veo_thr_ctxt& in, direction where, std::uint64_t remote, void* local,
                               std::size_t bytes) {
  if (!near_) {
    const asking in_turn = [&](const sender& send, auto out) { return in.exchange(send, std::move(out)); };
    return copy_far(in_turn, where, remote, local, bytes);
  }
  in.settle();
  if (dead()) return false;
  in.count_unseen();
  return bytes == 0 || copy_near(pid_, where, remote, local, bytes);
}

bool veo_proc_handle::transfer_now(const offload::destination& by, direction where, std::uint64_t remote, void* local,
                                   std::size_t bytes) {
  if (dead()) return false;
  if (bytes == 0) return true;
  if (near_) return copy_near(pid_, where, remote, local, bytes);
  const asking at_once = [&](const sender& send, const auto& out) -> local_result {
    const answer got = send(by, 0, blocking::any)->get();
    if (std::get<0>(got) != outcome::done) return {VEO_COMMAND_ERROR, 0};
    if (out != nullptr) deliver(*out, std::get<2>(got));
    return {VEO_COMMAND_OK, 0};
  };
  return copy_far(at_once, where, remote, local, bytes);
}

// ---- contexts

veo_thr_ctxt* veo_proc_handle::open_context(std::size_t stack_bytes) {
  main_->settle();
  if (dead()) return nullptr;
  {
    std::lock_guard guard(mutex_);
    if (opened_.empty()) {
      opened_.push_back(main_.get());
      return main_.get();
    }
  }
  auto entry = std::unique_ptr<context_entry>(new context_entry{nullptr, offload::context(node_, stack_bytes)});
  offload::sync(entry->there, begin_context_request, entry->there.id());
  entry->self = std::make_unique<veo_thr_ctxt>(*this, entry->there);
  std::lock_guard guard(mutex_);
  opened_.push_back(entry->self.get());
  entries_.push_back(std::move(entry));
  return opened_.back();
}

void veo_proc_handle::close_context(veo_thr_ctxt& which) {
  if (&which == main_.get()) return;
  std::unique_ptr<context_entry> entry;
  {
    std::lock_guard guard(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const auto& one) { return one->self.get() == &which; });
    if (found == entries_.end()) return;
    entry = std::move(*found);
    entries_.erase(found);
    std::erase(opened_, &which);
  }
  which.sync();
  which.close();
  try {
    offload::sync(entry->there, end_context_request);
    entry->there.close();
  } catch (const std::exception& problem) {
    trace(problem.what());  // its helper has gone, and the thread with it
  }
  std::lock_guard guard(mutex_);
  closed_.push_back(std::move(entry));
}

int veo_proc_handle::opened() const {
  std::lock_guard guard(mutex_);
  return static_cast<int>(opened_.size());
}

veo_thr_ctxt* veo_proc_handle::opened_at(int index) const {
  std::lock_guard guard(mutex_);
  if (index < 0 || static_cast<std::size_t>(index) >= opened_.size()) return nullptr;
  return opened_[static_cast<std::size_t>(index)];
}

std::vector<const veo_thr_ctxt*> veo_proc_handle::all_contexts() const {
  std::lock_guard guard(mutex_);
  std::vector<const veo_thr_ctxt*> all{main_.get()};
  for (const auto& one : entries_) all.push_back(one->self.get());
  return all;
}

// ---- symbols

std::uint64_t veo_proc_handle::known_symbol(std::uint64_t library, const char* name) const {
  std::shared_lock guard(symbols_mutex_);
  const auto of_library = symbols_.find(library);
  if (of_library == symbols_.end()) return 0;
  const auto found = of_library->second.find(std::string_view(name));
  return found == of_library->second.end() ? 0 : found->second;
}

void veo_proc_handle::learn_symbol(std::uint64_t library, const char* name, std::uint64_t address) {
  std::lock_guard guard(symbols_mutex_);
  symbols_[library][name] = address;
}

void veo_proc_handle::forget_symbols(std::uint64_t library) {
  std::lock_guard guard(symbols_mutex_);
  symbols_.erase(library);
}

// ---- the end

void veo_proc_handle::drain() {
  std::vector<veo_thr_ctxt*> all{main_.get()};
  {
    std::lock_guard guard(mutex_);
    for (const auto& one : entries_) all.push_back(one->self.get());
  }
  for (veo_thr_ctxt* const one : all) one->lift_blocks();
  for (veo_thr_ctxt* const one : all) one->sync();
  for (veo_thr_ctxt* const one : all) one->close();
}

void veo_proc_handle::end_helper() {
  const bool was_dead = dead_.exchange(true);
  try {
    offload::remove_node(node_, was_dead ? std::chrono::seconds(1) : end_timeout);
  } catch (const std::exception& problem) {
    trace(problem.what());
  }
  host_functions::of_this_process().end(node_);
  if (pid_fd_ < 0) return;
  ended(pid_fd_, end_timeout + std::chrono::seconds(2));
  ::close(std::exchange(pid_fd_, -1));
  // Clients that look for the process shall not find its remains; the runtime is about to reap it.
  if (!started_here_) return;
  ham::base::backoff<ham::base::backoff_schedule{.yields = 0, .sleep_ns = 50'000, .max_sleep_ns = 1'000'000}> pause;
  for (const std::int64_t until = ham::base::now_ns() + reap_timeout_ns; ::kill(pid_, 0) == 0;) {
    if (ham::base::now_ns() > until) break;
    pause.wait();
  }
}
