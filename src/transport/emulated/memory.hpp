// One-sided access to the peer's heap over the emulated link, for the side that can begin journeys.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "base/heap.hpp"
#include "transport/emulated/link.hpp"
#include "transport/transport.hpp"

namespace ham::transport::emulated {

class peer_memory final : public remote_memory {
 public:
  peer_memory(base::unique_fd heap_file, std::shared_ptr<wire> over)
      : view_(std::move(heap_file)), over_(std::move(over)) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    base::heap_check why{};
    std::byte* const to = view_.translate(address, tag, size, why);
    if (to != nullptr) {
      const std::int64_t arrival = over_->send_block(size);
      std::memcpy(to, from, size);
      wire::wait(arrival);
    }
    return result(why);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    base::heap_check why{};
    const std::byte* const from = view_.translate(address, tag, size, why);
    if (from != nullptr) over_->read_block(size, [&] { std::memcpy(to, from, size); });
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
  std::shared_ptr<wire> over_;
};

}  // namespace ham::transport::emulated
