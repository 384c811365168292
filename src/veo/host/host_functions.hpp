// Functions of this process that kernels call (VHcall): libraries, lines, and the calls that run now.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "../host_requests.hpp"

struct veo_proc_handle;
struct veo_thr_ctxt;

/// A line as functions of the host see it.
struct veos_handle {
  veo_proc_handle* of = nullptr;
  ham::veo::line from;
  ham::offload::destination here;  ///< the context whose thread executes its calls
  ham::offload::destination back;  ///< where the helper executes what they ask of it
};

namespace ham::inline v1::veo {

/// Any thread. Its mutex is taken within calls of libveo, so nothing is called with it held.
class host_functions final : public host_side {
 public:
  static host_functions& of_this_process() noexcept;
  /// In a child after fork: the parent's helpers, and locks that its threads may hold, are none of the child's.
  static void forget_in_child() noexcept;

  /// A helper has started. Its kernels may call from now on.
  void begin(node_t helper, veo_proc_handle& of);
  /// It has gone: its lines end, its libraries are unloaded when none of their functions runs any more.
  void end(node_t helper);
  /// Functions that run now.
  [[nodiscard]] int running() const noexcept { return running_.load(); }

  line_answer open(const line& whose) override;
  void close(node_t helper, context_number at_host) override;
  host_answer install(node_t helper, std::string_view path) override;
  host_answer uninstall(node_t helper, std::uint64_t library) override;
  host_answer find(node_t helper, std::uint64_t library, std::string_view name) override;
  host_answer invoke(node_t helper, std::uint64_t function, std::span<const std::byte> in,
                     std::uint64_t out_bytes) override;
  host_answer call(node_t helper, std::uint64_t function, std::span<const std::byte> arguments) override;

 private:
  struct library;
  struct function {
    std::shared_ptr<library> in;
    std::uint64_t handle = 0;  ///< of the library
    void* address = nullptr;
  };
  struct helper_state {
    veo_proc_handle* of = nullptr;
    std::map<context_number, std::shared_ptr<veos_handle>> lines;  ///< by context of this process
    std::map<std::uint64_t, std::shared_ptr<library>> libraries;
    std::map<std::uint64_t, function> functions;
  };
  class run;
  /// The lock is held. nullptr: it has gone.
  [[nodiscard]] helper_state* state_of(node_t helper);
  [[nodiscard]] std::shared_ptr<library> wanted_library(node_t helper, std::uint64_t number);
  [[nodiscard]] function wanted(node_t helper, std::uint64_t number);

  mutable std::mutex mutex_;
  std::map<node_t, helper_state> helpers_;
  std::uint64_t last_number_ = 0;  ///< of libraries and functions, of all helpers: none stands for another one later
  std::atomic<int> running_{0};
};

/// The line whose call the calling thread executes; nullptr: none.
[[nodiscard]] const veos_handle* calling_line() noexcept;
/// Whether the calling thread executes a call that a request of this context waits for.
[[nodiscard]] bool called_from(const veo_thr_ctxt& context) noexcept;
/// The same for any context of a proc.
[[nodiscard]] bool called_from(const veo_proc_handle& of) noexcept;

}  // namespace ham::veo
