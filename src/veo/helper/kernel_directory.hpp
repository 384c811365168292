// Finds out the types of kernels: once for each, from the debug information of its library.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "../call/kernel_types.hpp"

namespace ham::inline v1::debug_info {
class function_types;
}

namespace ham::inline v1::veo {

/// Files are opened when their libraries are loaded, for clients delete them then, and read when a kernel of theirs is
/// called first. Any thread.
class kernel_directory {
 public:
  kernel_directory();
  ~kernel_directory();
  kernel_directory(const kernel_directory&) = delete;
  kernel_directory& operator=(const kernel_directory&) = delete;

  void loaded(void* library);
  /// Before the library goes; forgets what it has told of it.
  void unloading(void* library, std::uint64_t handle);
  /// A symbol that a host has asked for.
  void named(std::uint64_t library, std::uint64_t address, const std::string& name);

  /// Never nullptr.
  [[nodiscard]] std::shared_ptr<const kernel_types> types_of(std::uint64_t kernel);
  /// Changes when what types_of has said may be wrong.
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

 private:
  struct symbol {
    std::uint64_t library;
    std::string name;
  };
  struct file {
    std::unique_ptr<debug_info::function_types> types;
    bool was_loaded = false;  ///< on request, not as what another one needs
  };
  struct place;
  [[nodiscard]] place place_of(std::uint64_t kernel) const;
  [[nodiscard]] std::shared_ptr<const kernel_types> read(std::uint64_t kernel);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, symbol> symbols_;
  std::map<const void*, file> files_;  // by the loader's record of the library
  std::unordered_map<std::uint64_t, std::shared_ptr<const kernel_types>> types_;
  std::atomic<std::uint32_t> generation_{0};
};

}  // namespace ham::veo
