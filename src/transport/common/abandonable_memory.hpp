// A view of a peer's heap that is given back when the peer is gone, as soon as nobody is inside.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "transport/common/heap_access.hpp"

namespace ham::inline v1::transport {

class abandonable_memory : public remote_memory {
 public:
  void abandon() noexcept override {
    if (visitors_.fetch_or(abandoned) == 0) let_go();
  }

 protected:
  explicit abandonable_memory(base::unique_fd heap_file)
      : view_(std::make_unique<base::heap_view>(std::move(heap_file))) {}

  /// Around each access; false: the memory was abandoned.
  class visit {
   public:
    explicit visit(abandonable_memory& where) noexcept
        : where_(where), open_((where.visitors_.fetch_add(one_visitor) & abandoned) == 0) {}
    ~visit() {
      if (where_.visitors_.fetch_sub(one_visitor) == one_visitor + abandoned) where_.let_go();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    explicit operator bool() const noexcept { return open_; }

   private:
    abandonable_memory& where_;
    const bool open_;
  };
  /// During a visit.
  [[nodiscard]] base::heap_view& view() noexcept { return *view_; }

 private:
  static constexpr std::uint32_t abandoned = 1;
  static constexpr std::uint32_t let_gone = 2;
  static constexpr std::uint32_t one_visitor = 4;

  /// Once: a visitor that was refused may leave while abandon() is here.
  void let_go() noexcept {
    if ((visitors_.fetch_or(let_gone) & let_gone) == 0) view_.reset();
  }

  std::unique_ptr<base::heap_view> view_;
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace ham::transport
