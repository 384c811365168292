// Calls and time of each kernel, for helpers called aveorun-ftrace.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace ham::inline v1::veo {

/// Any thread.
class profile {
 public:
  /// The one of this process; nullptr: kernels are not profiled.
  [[nodiscard]] static profile* of_this_process() noexcept { return own; }
  /// Profiles from now on, and writes the table when the process leaves by exit: to the file that VE_FTRACE_OUT_NAME
  /// names, else to stderr. Before the first call.
  static void start();

  /// Whether a call of this kernel is the first one: then add wants its name.
  [[nodiscard]] bool is_new(std::uint64_t kernel) const;
  void add(std::uint64_t kernel, std::int64_t time_ns, const std::string& name = {});
  /// One line per kernel, the longest time first; kernels of the same name are one.
  [[nodiscard]] std::string table() const;

 private:
  struct entry {
    std::string name;
    std::uint64_t calls = 0;
    std::int64_t total_ns = 0;
    std::int64_t min_ns = INT64_MAX;
    std::int64_t max_ns = 0;
  };
  static profile* own;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, entry> kernels_;
};

/// Whether a helper of this name, argv[0], profiles, or was linked by mk_veorun_static -ftrace.
[[nodiscard]] bool wants_profile(const std::string& program) noexcept;

}  // namespace ham::veo
