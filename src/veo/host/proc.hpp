// A proc (struct veo_proc_handle): a helper process with its contexts and the symbols that are known of it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "context.hpp"
#include "near_memory.hpp"

/// Any thread.
struct veo_proc_handle {
 public:
  /// Starts the helper of a resolved node. Throws ham::config_error, ham::node_failure.
  veo_proc_handle(int ve_node, const std::string& command, int identifier);
  veo_proc_handle(const veo_proc_handle&) = delete;
  veo_proc_handle& operator=(const veo_proc_handle&) = delete;
  ~veo_proc_handle() = default;

  [[nodiscard]] bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
  /// The helper is gone, or going.
  void lost(const std::string& why) noexcept;
  /// Also checks whether the helper is there.
  [[nodiscard]] bool has_gone() noexcept;
  [[nodiscard]] int identifier() const noexcept { return identifier_; }
  [[nodiscard]] int ve_node() const noexcept { return ve_node_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool near() const noexcept { return near_; }
  /// Whether kernels that were linked into the helper call functions of this process.
  [[nodiscard]] bool calls_host() const noexcept { return calls_host_; }
  [[nodiscard]] veo_thr_ctxt& main() noexcept { return *main_; }

  /// In the order of the context, between the client's memory and the helper's.
  [[nodiscard]] bool transfer(veo_thr_ctxt& in, ham::veo::direction where, std::uint64_t remote, void* local,
                              std::size_t bytes);

  /// Whatever the contexts have queued; in messages, if need be, that go to `by`.
  [[nodiscard]] bool transfer_now(const ham::offload::destination& by, ham::veo::direction where, std::uint64_t remote,
                                  void* local, std::size_t bytes);

  // ---- contexts
  /// 0: the default size. nullptr: the proc is dead. Throws ham::error.
  veo_thr_ctxt* open_context(std::size_t stack_bytes);
  void close_context(veo_thr_ctxt& which);
  [[nodiscard]] int opened() const;
  [[nodiscard]] veo_thr_ctxt* opened_at(int index) const;

  // ---- symbols
  [[nodiscard]] std::uint64_t known_symbol(std::uint64_t library, const char* name) const;
  void learn_symbol(std::uint64_t library, const char* name, std::uint64_t address);
  void forget_symbols(std::uint64_t library);

  // ---- the end
  /// False: somebody has begun already.
  [[nodiscard]] bool begin_to_end() noexcept { return !ending_.exchange(true); }
  /// Waits for all requests, closes all contexts.
  void drain();
  /// Makes the helper leave, and waits until it has.
  void end_helper();
  [[nodiscard]] std::vector<const veo_thr_ctxt*> all_contexts() const;

 private:
  struct context_entry {
    std::unique_ptr<veo_thr_ctxt> self;
    ham::offload::context there;  // of all but the main one
  };
  void find_out_about(bool of_this_machine);

  const int identifier_;
  const int ve_node_;
  ham::node_t node_ = -1;
  bool started_here_ = false;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  bool near_ = false;
  bool calls_host_ = false;
  std::atomic<bool> dead_{false};
  std::atomic<bool> ending_{false};
  std::unique_ptr<veo_thr_ctxt> main_;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<context_entry>> entries_;
  std::vector<std::unique_ptr<context_entry>> closed_;  // stay: stale handles are told from others
  std::vector<veo_thr_ctxt*> opened_;

  mutable std::shared_mutex symbols_mutex_;
  std::map<std::uint64_t, std::map<std::string, std::uint64_t, std::less<>>> symbols_;
};
