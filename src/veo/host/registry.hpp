// All procs and contexts of this process: tells handles that live from stale and foreign ones.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "proc.hpp"

namespace ham::inline v1::veo {

enum class life : std::uint8_t { unknown, live, ended };

/// Any thread. A child after fork has an empty one of its own.
class registry {
 public:
  static registry& of_this_process() noexcept;

  /// Starts a helper. Throws ham::error.
  proc* create(int ve_node, const std::string& command);
  [[nodiscard]] life state_of(const void* handle) const;
  [[nodiscard]] proc* with_identifier(int identifier) const;
  void add(const veo_thr_ctxt* context);
  void end(const veo_thr_ctxt* context);
  /// Kernels call functions of this process from now on: a thread sees to it while the program computes.
  void serve_helpers();
  /// Ends a proc as veo_proc_destroy does.
  void destroy(proc& which);
  /// At the end of the process.
  void destroy_all();

 private:
  [[nodiscard]] int take_identifier();
  void leave_runtime();

  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, life> handles_;
  std::vector<proc*> by_identifier_;  // nullptr: free
  std::vector<bool> taken_;
  std::vector<std::unique_ptr<proc>> all_;  // also those that have ended: clients keep their handles
  std::unique_ptr<runtime> runtime_;
  int users_ = 0;  ///< of the runtime: procs that live, start or end
};

/// The object if the handle lives, else nullptr and errno EINVAL.
[[nodiscard]] proc* live(veo_proc_handle* handle) noexcept;
[[nodiscard]] veo_thr_ctxt* live(veo_thr_ctxt* handle) noexcept;

}  // namespace ham::veo
