// An endpoint over a one-sided ring; the same for the side that initiates all accesses and for the one that makes none.
#pragma once

#include <utility>

#include "transport/common/one_sided_receiver.hpp"
#include "transport/common/one_sided_sender.hpp"
#include "transport/common/polled_endpoint.hpp"

namespace ham::inline v1::transport {

template <memory_access Access>
class one_sided_endpoint final : public polled_endpoint {
 public:
  template <class... Medium>
  one_sided_endpoint(node_t peer, const one_sided_terms& terms, Medium&&... medium)
      : polled_endpoint(peer),
        access_(std::forward<Medium>(medium)...),
        credits_(terms.layout.buffers),
        max_payload_(terms.layout.max_payload()),
        sender_(access_, terms, credits_),
        receiver_(access_, terms, credits_) {}

  [[nodiscard]] std::size_t max_payload() const noexcept override { return max_payload_; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override { return sender_.reserve(size); }
  void cancel() noexcept override {}  // without its flag a buffer means nothing
  void commit(const frame_head& head) noexcept override {
    sender_.commit(head);
    sent_ = sender_.sent();
    set_active();
    expect_next(sender_.buffer());
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return sender_.consumed(sent_); }

  [[nodiscard]] bool poll(frame& out) noexcept override {
    const ring_status status = receiver_.poll(out);
    if (status == ring_status::broken) [[unlikely]]
      malformed_ = true;
    return status == ring_status::frame;
  }
  void release() noexcept override { receiver_.release(); }

  [[nodiscard]] bool empty() const noexcept override { return receiver_.empty(); }
  [[nodiscard]] bool malformed() const noexcept override { return malformed_; }
  [[nodiscard]] bool failed() const noexcept override { return access_.failed(); }

  [[nodiscard]] Access& access() noexcept { return access_; }

 private:
  Access access_;
  credit_exchange credits_;
  std::size_t max_payload_;
  one_sided_sender<Access> sender_;
  one_sided_receiver<Access> receiver_;
  bool malformed_ = false;
};

}  // namespace ham::transport
