// What is under way for a program in C: a call, whose result is bytes, or a transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ham/ham.h"
#include "ham/offload/destination.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::c_api {

using bytes = std::vector<std::byte>;

/// `node` with a deadline after `timeout_ms`, without one if that is negative or HAM_STOPPABLE.
[[nodiscard]] offload::destination bounded(ham_node node, std::int64_t timeout_ms);

/// Throw what async throws.
[[nodiscard]] offload::future<bytes> start_call(const offload::destination& to, std::string_view name,
                                                std::span<const std::byte> argument);
/// A call of a function in C++ by its key, with arguments that are encoded as its own.
[[nodiscard]] offload::future<bytes> start_encoded_call(const offload::destination& to, std::string_view name,
                                                        std::string_view layout, std::span<const std::byte> arguments);
void send_ping(const offload::destination& to, std::string_view name, std::span<const std::byte> argument);

/// Of a result as its function has encoded it: into a slot of bytes.
void keep_bytes(detail::call_slot& slot, msg::reader& reply);

/// Copies a result to where a caller wants it. A status.
int copy_result(const bytes& result, void* space, std::size_t space_bytes, std::size_t* result_bytes);

}  // namespace ham::c_api

struct ham_future {
  explicit ham_future(ham::offload::future<ham::c_api::bytes> call) : state(std::move(call)) {}
  explicit ham_future(ham::offload::future<void> transfer) : state(std::move(transfer)) {}

  /// Waits; throws what the operation failed with, but only once: after that the future is an empty result.
  const ham::c_api::bytes& result();
  [[nodiscard]] bool wait(std::int64_t timeout_ms);
  /// False: it has ended, or is no call.
  [[nodiscard]] bool request_stop() noexcept;
  /// Lets a call go on; waits for a transfer.
  void let_go() noexcept;

 private:
  std::variant<ham::offload::future<ham::c_api::bytes>, ham::offload::future<void>, ham::c_api::bytes,
               std::exception_ptr>
      state;
};
