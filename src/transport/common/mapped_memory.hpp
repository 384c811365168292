// One-sided access to a peer's heap: one copy by the caller.
#pragma once

#include <cstring>

#include "base/heap.hpp"
#include "transport/transport.hpp"

namespace ham::transport {

class mapped_memory final : public remote_memory {
 public:
  explicit mapped_memory(base::unique_fd heap_file) : view_(std::move(heap_file)) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    base::heap_check why{};
    std::byte* to = view_.translate(address, tag, size, why);
    if (to != nullptr) std::memcpy(to, from, size);
    return result(why);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    base::heap_check why{};
    const std::byte* from = view_.translate(address, tag, size, why);
    if (from != nullptr) std::memcpy(to, from, size);
    return result(why);
  }

 private:
  static access_result result(base::heap_check why) noexcept {
    switch (why) {
      case base::heap_check::valid: return access_result::done;
      case base::heap_check::stale: return access_result::stale;
      case base::heap_check::out_of_range: break;
    }
    return access_result::out_of_range;
  }

  base::heap_view view_;
};

}  // namespace ham::transport
