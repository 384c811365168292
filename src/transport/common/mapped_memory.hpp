// One-sided access to a peer's heap: one copy by the caller.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "transport/common/abandonable_memory.hpp"

namespace ham::inline v1::transport {

class mapped_memory final : public abandonable_memory {
 public:
  explicit mapped_memory(base::unique_fd heap_file) : abandonable_memory(std::move(heap_file)) {}

  [[nodiscard]] background_access background() const noexcept override { return background_access::parts; }
  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    std::byte* to = view().translate(address, tag, size, why);
    if (to != nullptr) std::memcpy(to, from, size);
    return to_access_result(why);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    const std::byte* from = view().translate(address, tag, size, why);
    if (from != nullptr) std::memcpy(to, from, size);
    return to_access_result(why);
  }
  [[nodiscard]] std::shared_ptr<std::byte> map(std::uint64_t address, std::uint64_t tag, std::size_t size,
                                               access_result& how) override {
    auto inside = std::make_shared<const visit>(*this);
    if (!*inside) {
      how = access_result::lost;
      return nullptr;
    }
    base::heap_check why{};
    std::byte* const at = view().translate(address, tag, size, why);
    how = to_access_result(why);
    return at == nullptr ? nullptr : std::shared_ptr<std::byte>(std::move(inside), at);
  }
};

}  // namespace ham::transport
