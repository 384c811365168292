// The host's way to a ring in a Vector Engine's memory: every access is a transfer of VEO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/common/libveo.hpp"
#include "transport/common/memory_access.hpp"
#include "transport/common/reachability.hpp"

namespace ham::inline v1::transport::veo {

/// Any thread: the requests of one VEO process are executed in order, each complete when its function returns.
class veo_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  veo_access(const libveo& veo, veo_proc_handle* process, std::uint64_t ring, std::shared_ptr<reachability> reach)
      : veo_(veo), process_(process), ring_(ring), reach_(std::move(reach)) {}

  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    std::uint64_t word = 0;
    read(at, &word, sizeof word);
    return failed() ? 0 : word;
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept { write(at, &word, sizeof word); }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept { read(at, to, size); }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept { write(at, from, size); }
  void fence() noexcept {}
  [[nodiscard]] bool failed() const noexcept { return reach_->lost(); }

 private:
  void read(std::uint64_t at, void* to, std::size_t size) noexcept {
    reach_->use([&] { return veo_.read_mem(process_, to, ring_ + at, size) == 0; });
  }
  void write(std::uint64_t at, const void* from, std::size_t size) noexcept {
    reach_->use([&] { return veo_.write_mem(process_, ring_ + at, from, size) == 0; });
  }

  const libveo& veo_;
  veo_proc_handle* process_;
  std::uint64_t ring_;
  std::shared_ptr<reachability> reach_;
};
static_assert(memory_access<veo_access>);

}  // namespace ham::transport::veo
