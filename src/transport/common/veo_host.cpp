// Set-up and end of targets through VEO.
#include "transport/common/veo_host.hpp"

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "transport/common/veo_memory.hpp"

namespace ham::inline v1::transport::veo {
namespace {

constexpr std::chrono::milliseconds end_timeout{500};
constexpr std::chrono::milliseconds poll_interval{10};
constexpr std::uint64_t line = one_sided_layout::line;

[[noreturn]] void refuse(const target_plan& plan, const std::string& what, const std::string& advice) {
  throw config_error("no start of a target on Vector Engine " + std::to_string(plan.engine) + " (" + what + "); " +
                     advice);
}

}  // namespace

/// VEO tells nobody of an end: the supervisor asks. mutex_ is held.
class veo_host::supervised_engine final : public supervised_process {
 public:
  supervised_engine(const veo_host& host, engine_process& one) : host_(host), one_(one) {}

  [[nodiscard]] std::int64_t pid() const noexcept override { return one_.pid; }
  [[nodiscard]] int end_fd() const noexcept override { return -1; }
  [[nodiscard]] std::string wait_for_end(std::chrono::milliseconds timeout) override {
    const std::int64_t until = base::now_ns() + std::chrono::nanoseconds(timeout).count();
    while (!has_ended()) {
      if (base::now_ns() >= until) return {};
      base::sleep_ns(1'000'000);
    }
    return "has ended, or its ham_main";
  }
  /// What was killed counts as ended: to destroy a VEO process waits for all that runs in it.
  void kill() noexcept override {
    const std::int32_t pid = host_.pid_of(one_);
    one_.unreachable = pid <= 0;
    if (pid > 0) ::kill(pid, SIGKILL);
    killed_ = true;
  }

 private:
  [[nodiscard]] bool has_ended() const noexcept {
    std::uint64_t result = 0;
    return killed_ || host_.veo_.call_peek_result(one_.context, one_.request, &result) != command_unfinished;
  }

  const veo_host& host_;
  engine_process& one_;
  bool killed_ = false;
};

veo_host::veo_host(node_t self, observer& to, polling_interval interval)
    : polled_transport(to, interval),
      veo_(libveo::get()),
      self_(self),
      next_epoch_(static_cast<std::uint32_t>(base::now_ns())) {}

std::uint64_t veo_host::allocate(const engine_process& process, std::size_t size) const {
  std::uint64_t address = 0;
  if (veo_.alloc_mem(process.handle, &address, size + line) != 0 || address == 0) {
    throw config_error("the memory of a Vector Engine is full; use fewer targets on it");
  }
  return (address + line - 1) / line * line;
}

void veo_host::write(const engine_process& process, std::uint64_t to, const void* from, std::size_t size) const {
  if (veo_.write_mem(process.handle, to, from, size) != 0) {
    throw config_error("the memory of a Vector Engine cannot be written; see what the VEO library printed");
  }
}

void veo_host::start(const target_plan& plan, std::uint32_t nodes) {
  engine_process made;
  made.handle = veo_.proc_create(plan.engine);
  if (made.handle == nullptr) refuse(plan, "veo_proc_create says no", "see what it printed, and VEORUN_BIN");
  try {
    set_up(made, plan, nodes);
  } catch (...) {
    veo_.proc_destroy(made.handle);
    throw;
  }
}

void veo_host::set_up(engine_process& made, const target_plan& plan, std::uint32_t nodes) {
  welcome said;
  said.node = plan.node;
  said.host = self_;
  said.nodes = nodes;
  said.epoch = next_epoch_ = next_epoch_ * 1664525U + 1013904223U;
  auto endpoint = make_ring(made, said);
  made.welcome_at = allocate(made, sizeof said);
  endpoint->set_memory(std::make_shared<target_memory>(veo_, made.handle, made.welcome_at, made.reach));
  write(made, made.welcome_at, &said, sizeof said);
  call_ham_main(made, plan);
  {
    std::lock_guard guard(mutex_);
    engine_process& kept = processes_[plan.node] = made;
    supervisor_.adopt(plan.node, std::make_unique<supervised_engine>(*this, kept));
    if (!watcher_.joinable()) watcher_ = base::start_thread([this] { watch(); });
  }
  adopt(std::move(endpoint));
}

/// ham_main gets a context of its own: transfers would wait behind it on the first one.
void veo_host::call_ham_main(engine_process& made, const target_plan& plan) const {
  const std::uint64_t library = veo_.load_library(made.handle, plan.application.c_str());
  if (library == 0) {
    refuse(plan, "it cannot load " + plan.application,
           "build the application as a library for it and name the file in HAM_VEO_APPLICATION");
  }
  const std::uint64_t entry = veo_.get_sym(made.handle, library, "ham_main");
  if (entry == 0) refuse(plan, plan.application + " has no ham_main", "link it with HAM");
  const std::uint64_t main = veo_.get_sym(made.handle, library, "main");
  write(made, made.welcome_at + offsetof(welcome, main), &main, sizeof main);
  if (veo_.context_open(made.handle) == nullptr || (made.context = veo_.context_open(made.handle)) == nullptr) {
    refuse(plan, "it opens no second context", "set VE_OMP_NUM_THREADS=1, which some VEO libraries ask for");
  }
  veo_args* const arguments = veo_.args_alloc();
  veo_.args_set_u64(arguments, 0, made.welcome_at);
  made.request = veo_.call_async(made.context, entry, arguments);
  veo_.args_free(arguments);
  if (made.request == no_request) refuse(plan, "ham_main cannot be called", "see what the VEO library printed");
}

void veo_host::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, poll_interval, [this] { return stop_; })) {
    std::vector<std::pair<node_t, std::string>> gone;
    std::vector<engine_process> dead;
    for (process_supervisor::event& news : supervisor_.turn()) {
      if (news.what != process_supervisor::event::kind::ended) continue;
      engine_process& one = processes_.at(static_cast<node_t>(news.who));
      one.ended = true;
      if (!std::exchange(one.told, true)) gone.emplace_back(static_cast<node_t>(news.who), std::move(news.how));
    }
    for (auto at = processes_.begin(); at != processes_.end();) {
      const auto& [node, one] = *at++;
      if (one.ended && one.forgotten) dead.push_back(std::move(processes_.extract(node).mapped()));
    }
    lock.unlock();
    for (const auto& [node, how] : gone) observing().on_lost(node, "its process " + how);
    for (engine_process& one : dead) destroy(one);
    lock.lock();
  }
}

/// mutex_ is held. A target tells who it is before it says anything else.
std::int32_t veo_host::pid_of(const engine_process& one) const noexcept {
  if (one.pid == 0 && one.handle != nullptr) {
    veo_.read_mem(one.handle, &one.pid, one.welcome_at + offsetof(welcome, pid), sizeof one.pid);
  }
  return one.pid;
}

std::int64_t veo_host::peer_pid(node_t node) const noexcept {
  std::lock_guard guard(mutex_);
  const auto found = processes_.find(node);
  const std::int32_t pid = found == processes_.end() ? 0 : pid_of(found->second);
  return pid > 0 ? pid : -1;
}

/// One that has not told who it is and does not end by itself is left to the library, which ends it with this process.
void veo_host::destroy(engine_process& one) const noexcept {
  if (one.unreachable) return;
  one.reach->end();
  veo_.proc_destroy(std::exchange(one.handle, nullptr));
}

void veo_host::end(node_t node, std::chrono::milliseconds timeout) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = processes_.find(node);
  if (found == processes_.end()) return;
  found->second.told = true;
  found->second.forgotten = true;
  supervisor_.kill_at(node, base::now_ns() + std::chrono::nanoseconds(timeout).count());
}

void veo_host::forgotten(node_t node) noexcept {
  std::lock_guard guard(mutex_);
  if (const auto found = processes_.find(node); found != processes_.end()) found->second.forgotten = true;
}

void veo_host::shutdown() noexcept {
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
    stopped_.notify_all();
  }
  if (watcher_.joinable()) watcher_.join();
  std::lock_guard guard(mutex_);
  supervisor_.stop(end_timeout);
  for (auto& [node, one] : processes_) {
    if (one.handle != nullptr) destroy(one);
  }
}

}  // namespace ham::transport::veo
