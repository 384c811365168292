// put or get of bytes, or of a block of rows, that the transport moves while its caller goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "core/started_transfers.hpp"
#include "runtime/memory_access.hpp"

namespace ham::inline v1::offload::detail {

/// Some rows are under way at once. A block is checked as one before any byte moves.
class started_rows final : public ham::detail::started_transfer {
 public:
  static constexpr std::size_t max_under_way = 8;

  started_rows(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory, const one_sided& what);
  ~started_rows() override;

  [[nodiscard]] call_slot& slot() noexcept { return slot_; }
  [[nodiscard]] bool move_on() noexcept override;
  void give_up() noexcept override;

 private:
  [[nodiscard]] bool rows_over() noexcept;
  void test_all() noexcept;
  void start_next();
  void settle() noexcept;

  engine& at_;
  const ham::detail::peer_hold who_;  // and with it the memory
  transport::remote_memory& memory_;
  const one_sided what_;
  call_slot& slot_;
  const std::size_t checks_;  // accesses of no bytes that come first
  const std::size_t steps_;   // those, and rows
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<transport::started_access>> under_way_;
  transport::access_result result_ = transport::access_result::done;  // the first that was not `done`
  std::int64_t wait_for_loss_until_ns_ = 0;
  std::exception_ptr problem_;  // of the transport itself, such as no memory
};

}  // namespace ham::offload::detail
