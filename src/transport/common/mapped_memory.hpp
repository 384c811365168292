// One-sided access to a peer's heap: one copy by the caller.
#pragma once

#include <atomic>
#include <cstring>

#include "transport/common/heap_access.hpp"

namespace ham::transport {

class mapped_memory final : public remote_memory {
 public:
  explicit mapped_memory(base::unique_fd heap_file) : view_(std::move(heap_file)) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    std::byte* to = view_.translate(address, tag, size, why);
    if (to != nullptr) std::memcpy(to, from, size);
    return to_access_result(why);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    const visit inside(*this);
    if (!inside) return access_result::lost;
    base::heap_check why{};
    const std::byte* from = view_.translate(address, tag, size, why);
    if (from != nullptr) std::memcpy(to, from, size);
    return to_access_result(why);
  }

  void abandon() noexcept override {
    if (visitors_.fetch_or(abandoned) == 0) view_.close();
  }
  [[nodiscard]] bool unused() const noexcept override {
    return visitors_.load(std::memory_order_acquire) < one_visitor;
  }

 private:
  static constexpr std::uint32_t abandoned = 1;
  static constexpr std::uint32_t one_visitor = 2;

  class visit {
   public:
    explicit visit(mapped_memory& where) noexcept
        : where_(where), open_((where.visitors_.fetch_add(one_visitor) & abandoned) == 0) {}
    ~visit() {
      if (where_.visitors_.fetch_sub(one_visitor) == one_visitor + abandoned) where_.view_.close();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    explicit operator bool() const noexcept { return open_; }

   private:
    mapped_memory& where_;
    const bool open_;
  };

  base::heap_view view_;
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace ham::transport
