// The registry, what fork does to it, and the end of the process.
#include "registry.hpp"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "ham/offload/detail/reverse_calls.hpp"
#include "host_functions.hpp"
#include "log.hpp"
#include "start.hpp"

namespace ham::inline v1::veo {
namespace {

/// Changes whenever a handle may have ended: what threads remember of handles is void then.
constinit std::atomic<std::uint64_t> generation{1};
constinit std::atomic<registry*> current{nullptr};

/// Nodes of a job have a number each, once and for all: a job that many helpers have come from makes way for a new one.
constexpr std::size_t many_nodes = 256;

struct remembered {
  const void* handle = nullptr;
  std::uint64_t generation = 0;
};
constinit thread_local remembered last_proc;
constinit thread_local remembered last_context;

bool is_live(const void* handle, remembered& last) noexcept {
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (last.handle == handle && last.generation == now) [[likely]]
    return true;
  if (handle == nullptr || registry::of_this_process().state_of(handle) != life::live) {
    errno = EINVAL;
    return false;
  }
  last = {handle, now};
  return true;
}

/// The parent's procs are none of the child's; its locks may be held by threads that are not there.
void forget_in_child() {
  current.store(nullptr);
  host_functions::forget_in_child();
  generation.fetch_add(1);
}

[[gnu::destructor]] void end_all() {
  if (registry* const one = current.load(); one != nullptr) one->destroy_all();
}

}  // namespace

registry& registry::of_this_process() noexcept {
  if (registry* const one = current.load(std::memory_order_acquire)) return *one;
  static const int handlers = ::pthread_atfork(nullptr, nullptr, &forget_in_child);
  static_cast<void>(handlers);
  auto* const fresh = new registry;  // never destroyed: clients use the API until the very end
  registry* none = nullptr;
  if (current.compare_exchange_strong(none, fresh)) return *fresh;
  delete fresh;
  return *none;
}

int registry::take_identifier() {
  std::size_t free = 0;
  while (free < taken_.size() && taken_[free]) ++free;
  if (free == taken_.size()) {
    taken_.push_back(false);
    by_identifier_.push_back(nullptr);
  }
  taken_[free] = true;
  return static_cast<int>(free);
}

proc* registry::create(int ve_node, const std::string& command) {
  int identifier = -1;
  {
    std::lock_guard guard(mutex_);
    if (runtime_ == nullptr) {
      runtime_options options;
      options.nodes = "none";
      // Helpers that this process starts are its own; those of other machines may send what everybody may.
      if (!uses_other_machines()) options.max_message = std::size_t{1} << 40;
      runtime_ = std::make_unique<runtime>(options);
    }
    ++users_;
    identifier = take_identifier();
  }
  std::unique_ptr<proc> fresh;
  try {
    fresh = std::make_unique<proc>(ve_node, command, identifier);
  } catch (...) {
    std::lock_guard guard(mutex_);
    taken_[static_cast<std::size_t>(identifier)] = false;
    leave_runtime();
    throw;
  }
  if (fresh->calls_host()) serve_helpers();
  std::lock_guard guard(mutex_);
  proc* const result = fresh.get();
  handles_[result] = life::live;
  handles_[&result->main()] = life::live;
  by_identifier_[static_cast<std::size_t>(identifier)] = result;
  all_.push_back(std::move(fresh));
  return result;
}

life registry::state_of(const void* handle) const {
  std::shared_lock guard(mutex_);
  const auto found = handles_.find(handle);
  return found == handles_.end() ? life::unknown : found->second;
}

proc* registry::with_identifier(int identifier) const {
  std::shared_lock guard(mutex_);
  if (identifier < 0 || static_cast<std::size_t>(identifier) >= by_identifier_.size()) return nullptr;
  return by_identifier_[static_cast<std::size_t>(identifier)];
}

void registry::add(const veo_thr_ctxt* context) {
  std::lock_guard guard(mutex_);
  handles_[context] = life::live;
}

void registry::end(const veo_thr_ctxt* context) {
  std::lock_guard guard(mutex_);
  handles_[context] = life::ended;
  generation.fetch_add(1, std::memory_order_acq_rel);
}

void registry::serve_helpers() {
  std::lock_guard guard(mutex_);
  if (runtime_ == nullptr) return;
  detail::start_progress_thread();
}

void registry::destroy(proc& which) {
  if (!which.begin_to_end()) return;
  // exit() in a function that a kernel has called: the kernel waits for what does not return.
  if (called_from(which))
    which.lost("a function of the host that one of its kernels has called ends this process");
  else
    which.drain();
  {
    std::lock_guard guard(mutex_);
    handles_[&which] = life::ended;
    for (const veo_thr_ctxt* const one : which.all_contexts()) handles_[one] = life::ended;
    by_identifier_[static_cast<std::size_t>(which.identifier())] = nullptr;
    generation.fetch_add(1, std::memory_order_acq_rel);
  }
  which.end_helper();
  std::lock_guard guard(mutex_);
  taken_[static_cast<std::size_t>(which.identifier())] = false;
  leave_runtime();
}

/// The lock is held.
void registry::leave_runtime() {
  if (--users_ != 0 || runtime_ == nullptr || runtime_->num_nodes() <= many_nodes) return;
  // It would wait for functions that helpers have called, which may need this lock.
  if (host_functions::of_this_process().running() == 0) runtime_.reset();
}

void registry::destroy_all() {
  std::vector<proc*> left;
  {
    std::shared_lock guard(mutex_);
    for (const auto& one : all_) left.push_back(one.get());
  }
  for (proc* const one : left) destroy(*one);
  std::lock_guard guard(mutex_);
  // The runtime would wait for functions that helpers have called, which may be what ends this process.
  if (host_functions::of_this_process().running() == 0)
    runtime_.reset();
  else
    static_cast<void>(runtime_.release());
}

proc* live(veo_proc_handle* handle) noexcept { return is_live(handle, last_proc) ? handle : nullptr; }
veo_thr_ctxt* live(veo_thr_ctxt* handle) noexcept { return is_live(handle, last_context) ? handle : nullptr; }

}  // namespace ham::veo
