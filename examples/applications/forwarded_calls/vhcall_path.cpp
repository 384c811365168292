// Through VHcall: a kernel in a VEO helper calls functions of a library that it has loaded into this process.
#include <ve_offload.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "forwarded_calls/paths.hpp"

namespace forwarded_calls {
namespace {

/// The libraries lie beside the program.
std::string beside_program(const char* library) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / library).string();
}

class vhcall_path final : public path, public output_path {
 public:
  vhcall_path() : process_(veo_proc_create(0)) {
    if (process_ == nullptr) throw std::runtime_error("no VEO helper could be started");
    library_ = veo_load_library(process_, beside_program("libforwarded_calls_kernels.so").c_str());
    if (library_ == 0) throw std::runtime_error("libforwarded_calls_kernels.so cannot be loaded");
    const std::string host = beside_program("libforwarded_calls_host.so");
    veo_args* const args = veo_args_alloc();
    veo_args_set_stack(args, VEO_INTENT_IN, 0, const_cast<char*>(host.c_str()), host.size() + 1);
    const std::int64_t installed = call("install", args);
    veo_args_free(args);
    if (installed != 0) throw std::runtime_error("libforwarded_calls_host.so cannot be installed");
  }
  ~vhcall_path() override { veo_proc_destroy(process_); }
  vhcall_path(const vhcall_path&) = delete;
  vhcall_path& operator=(const vhcall_path&) = delete;

  std::string name() const override { return "VHcall"; }
  double seconds_of(operation which, std::uint64_t bytes, std::uint64_t count) override {
    const std::int64_t nanoseconds = call(which == operation::write ? "forward_writes" : "forward_reads", bytes, count);
    if (nanoseconds < 0) throw std::runtime_error("a system call that was forwarded by VHcall has failed");
    return 1e-9 * static_cast<double>(nanoseconds);
  }
  std::string output_name() const override { return name(); }
  double seconds_of_lines(std::uint64_t bytes, std::uint64_t count) override {
    const std::int64_t nanoseconds = call("forward_lines", bytes, count);
    if (nanoseconds < 0) throw std::runtime_error("lines that were printed by VHcall have been lost or changed");
    return 1e-9 * static_cast<double>(nanoseconds);
  }
  bool file_is_right(std::uint64_t bytes) override { return call("file_is_right", bytes, 0) == 1; }
  void clear_file(std::uint64_t bytes) override { (void)call("clear_file", bytes, 0); }

 private:
  std::int64_t call(const char* kernel, veo_args* args) {
    std::uint64_t result = 0;
    if (veo_call_sync(process_, veo_get_sym(process_, library_, kernel), args, &result) != 0) {
      throw std::runtime_error(std::string(kernel) + ": the kernel has failed");
    }
    return static_cast<std::int64_t>(result);
  }
  std::int64_t call(const char* kernel, std::uint64_t bytes, std::uint64_t count) {
    veo_args* const args = veo_args_alloc();
    veo_args_set_u64(args, 0, bytes);
    veo_args_set_u64(args, 1, count);
    const std::int64_t result = call(kernel, args);
    veo_args_free(args);
    return result;
  }

  veo_proc_handle* process_;
  std::uint64_t library_ = 0;
};

}  // namespace

paths make_vhcall() {
  const auto both = std::make_shared<vhcall_path>();
  return {both, both};
}

}  // namespace forwarded_calls
