// A helper of libveo, as the benchmarks use it.
#pragma once

#include "process_state.hpp"
#include "session.hpp"

#include <ve_offload.h>

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>

namespace ham::inline v1::bench {

/// A helper on the target's core with a function that does next to nothing.
class veo_session {
 public:
  explicit veo_session(const settings& how) : proc_(veo_proc_create(-1)) {
    if (proc_ == nullptr) throw std::runtime_error("no VEO helper could be started; what it wrote says why");
    pid_ = veo_get_pid_from_hmem(veo_set_proc_identifier(nullptr, veo_proc_identifier(proc_)));
    context_ = veo_context_open(proc_);
    arguments_ = veo_args_alloc();
    veo_args_set_i64(arguments_, 0, 1);
    kernel_ = veo_get_sym(proc_, veo_load_library(proc_, "libc.so.6"), "labs");
    if (kernel_ == 0) throw std::runtime_error("the VEO helper cannot load libc.so.6");
    call();
    pin_process(pid_, how.cores.target);
  }
  ~veo_session() {
    veo_args_free(arguments_);
    veo_proc_destroy(proc_);
  }
  veo_session(const veo_session&) = delete;
  veo_session& operator=(const veo_session&) = delete;

  [[nodiscard]] std::uint64_t submit() { return veo_call_async(context_, kernel_, arguments_); }
  void wait(std::uint64_t request) {
    std::uint64_t result = 0;
    if (veo_call_wait_result(context_, request, &result) != VEO_COMMAND_OK) throw std::runtime_error("a call failed");
  }
  void call() {
    std::uint64_t result = 0;
    if (veo_call_sync(proc_, kernel_, arguments_, &result) != 0) throw std::runtime_error("a call failed");
  }
  [[nodiscard]] veo_proc_handle* proc() noexcept { return proc_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  veo_proc_handle* proc_;
  veo_thr_ctxt* context_ = nullptr;
  veo_args* arguments_ = nullptr;
  std::uint64_t kernel_ = 0;
  pid_t pid_ = -1;
};

}  // namespace ham::bench
