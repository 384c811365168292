// Libraries that were loaded on request, and symbols that were linked in.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "kernel_directory.hpp"

namespace ham::inline v1::veo {

/// Any thread.
class libraries {
 public:
  /// A handle, or 0; what the loader says goes to stderr.
  [[nodiscard]] std::uint64_t load(const std::string& path);
  /// What dlclose says; not 0 for a handle that was not given out.
  [[nodiscard]] int unload(std::uint64_t library);
  /// Address, or 0. Library 0: what mk_veorun_static linked in.
  [[nodiscard]] std::uint64_t symbol(std::uint64_t library, const std::string& name);
  [[nodiscard]] kernel_directory& kernels() noexcept { return kernels_; }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, int> loaded_;  // how often
  kernel_directory kernels_;
};

}  // namespace ham::veo
