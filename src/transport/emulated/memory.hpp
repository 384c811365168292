// One-sided access to the peer's heap over the emulated link, for the side that can initiate accesses.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "transport/common/abandonable_memory.hpp"
#include "transport/emulated/link.hpp"

namespace ham::inline v1::transport::emulated {

class peer_memory final : public abandonable_memory {
 public:
  peer_memory(base::unique_fd heap_file, std::shared_ptr<wire> over)
      : abandonable_memory(std::move(heap_file)), over_(std::move(over)) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    std::byte* const to = view().translate(address, tag, size, why);
    if (to != nullptr) {
      const std::int64_t arrival = over_->send_block(size);
      std::memcpy(to, from, size);
      wire::wait(arrival);
    }
    return to_access_result(why);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    const std::byte* const from = view().translate(address, tag, size, why);
    if (from != nullptr) over_->read_block(size, [&] { std::memcpy(to, from, size); });
    return to_access_result(why);
  }

 private:
  std::shared_ptr<wire> over_;
};

}  // namespace ham::transport::emulated
