// The host's way to a ring in a Vector Engine's memory: every access is a transfer of VEO.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/common/libveo.hpp"
#include "transport/common/memory_access.hpp"

namespace ham::transport::veo {

/// Any thread: the requests of one VEO process are executed in order, each complete when its function returns.
class veo_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  /// `failed` is set by whoever destroys the process, and here when a transfer fails.
  veo_access(const libveo& veo, veo_proc_handle* process, std::uint64_t ring, std::shared_ptr<std::atomic<bool>> failed)
      : veo_(veo), process_(process), ring_(ring), failed_(std::move(failed)) {}

  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    std::uint64_t word = 0;
    read(at, &word, sizeof word);
    return failed() ? 0 : word;
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept { write(at, &word, sizeof word); }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept { read(at, to, size); }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept { write(at, from, size); }
  void fence() noexcept {}
  [[nodiscard]] bool failed() const noexcept { return failed_->load(std::memory_order_relaxed); }

 private:
  void read(std::uint64_t at, void* to, std::size_t size) noexcept {
    if (!failed() && veo_.read_mem(process_, to, ring_ + at, size) != 0) failed_->store(true);
  }
  void write(std::uint64_t at, const void* from, std::size_t size) noexcept {
    if (!failed() && veo_.write_mem(process_, ring_ + at, from, size) != 0) failed_->store(true);
  }

  const libveo& veo_;
  veo_proc_handle* process_;
  std::uint64_t ring_;
  std::shared_ptr<std::atomic<bool>> failed_;
};
static_assert(memory_access<veo_access>);

}  // namespace ham::transport::veo
