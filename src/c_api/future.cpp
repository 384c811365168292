// Calls by name, and the futures of ham/ham.h.
#include "c_api/future.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "c_api/functions.hpp"
#include "c_api/status.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::c_api {
namespace {

/// A function in C++ without a result answers with no bytes at all.
void decode_bytes(detail::call_slot& slot, msg::reader& reply) {
  if (reply.remaining() == 0)
    detail::slot_value<bytes>::construct(slot);
  else
    detail::slot_value<bytes>::decode(slot, reply);
}

detail::call_slot* send(const offload::destination& to, detail::result_decoder decode, std::string_view name,
                        std::span<const std::byte> argument) {
  detail::engine& at = detail::current();
  const std::size_t size = msg::encoded_size(name) + msg::encoded_size(argument);
  detail::call_room room;
  if (detail::begin_call(at, to, by_name_entry(), size, decode, detail::when_full::wait, room)) {
    detail::reservation message(room);
    msg::writer out(room.data, size);
    msg::encode(out, name);
    msg::encode(out, argument);
    out.expect_full();
    detail::finish_call(at, message.release());
  }
  return room.slot;
}

std::span<const std::byte> span_of(const void* argument, std::size_t size) {
  if (size != 0) require(argument, "the argument");
  return {static_cast<const std::byte*>(argument), size};
}

}  // namespace

void keep_bytes(detail::call_slot& slot, msg::reader& reply) {
  const std::span<const std::byte> all = reply.view(reply.remaining());
  detail::slot_value<bytes>::construct(slot, bytes(all.begin(), all.end()));
}

offload::destination bounded(ham_node node, std::int64_t timeout_ms) {
  const offload::destination to(node);
  if (timeout_ms == HAM_STOPPABLE) return offload::stoppable(to);
  return timeout_ms < 0 ? to : offload::within(to, std::chrono::milliseconds(timeout_ms));
}

offload::future<bytes> start_call(const offload::destination& to, std::string_view name,
                                  std::span<const std::byte> argument) {
  return offload::detail::future_access::make<bytes>(send(to, &decode_bytes, name, argument));
}

offload::future<bytes> start_encoded_call(const offload::destination& to, std::string_view name,
                                          std::string_view layout, std::span<const std::byte> arguments) {
  std::string both(name);
  both += '\0';
  both += layout;
  return offload::detail::future_access::make<bytes>(send(to, &keep_bytes, both, arguments));
}

void send_ping(const offload::destination& to, std::string_view name, std::span<const std::byte> argument) {
  (void)send(to, nullptr, name, argument);
}

int copy_result(const bytes& result, void* space, std::size_t space_bytes, std::size_t* result_bytes) {
  if (space_bytes != 0) require(space, "the space for the result");
  const std::size_t count = std::min(result.size(), space_bytes);
  if (count != 0) std::memcpy(space, result.data(), count);
  if (result_bytes != nullptr) *result_bytes = result.size();
  if (result.size() <= space_bytes) return HAM_OK;
  return fail(HAM_ERROR_TRUNCATED, "the result has " + std::to_string(result.size()) +
                                       " bytes, and there is space for " + std::to_string(space_bytes));
}

}  // namespace ham::c_api

using ham::c_api::bytes;

const bytes& ham_future::result() {
  try {
    if (auto* const call = std::get_if<ham::offload::future<bytes>>(&state)) {
      bytes got = call->get();
      state.emplace<bytes>(std::move(got));
    } else if (auto* const transfer = std::get_if<ham::offload::future<void>>(&state)) {
      transfer->get();
      state.emplace<bytes>();
    }
  } catch (...) {
    state.emplace<std::exception_ptr>(std::current_exception());
  }
  if (auto* const failed = std::get_if<std::exception_ptr>(&state)) std::rethrow_exception(*failed);
  return std::get<bytes>(state);
}

bool ham_future::wait(std::int64_t timeout_ms) {
  const auto wait_for = [timeout_ms](const auto& future) {
    if (timeout_ms >= 0) return future.wait_for(std::chrono::milliseconds(timeout_ms));
    future.wait();
    return true;
  };
  if (const auto* const call = std::get_if<ham::offload::future<bytes>>(&state)) return wait_for(*call);
  if (const auto* const transfer = std::get_if<ham::offload::future<void>>(&state)) return wait_for(*transfer);
  return true;
}

void ham_future::let_go() noexcept {
  if (auto* const call = std::get_if<ham::offload::future<bytes>>(&state)) call->detach();
}

int ham_call(ham_node node, const char* name, const void* argument, size_t size, int64_t timeout_ms, void* result,
             size_t space, size_t* result_bytes) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    const auto to = ham::c_api::bounded(node, timeout_ms);
    return ham::c_api::copy_result(ham::c_api::start_call(to, name, ham::c_api::span_of(argument, size)).get(), result,
                                   space, result_bytes);
  });
}

int ham_ping(ham_node node, const char* name, const void* argument, size_t size) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    ham::c_api::send_ping(ham::c_api::bounded(node, -1), name, ham::c_api::span_of(argument, size));
    return HAM_OK;
  });
}

int ham_layout(ham_node node, const char* name, int64_t timeout_ms, char* text, size_t space, size_t* length) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    const auto to = ham::c_api::bounded(node, timeout_ms);
    const std::span<const std::byte> of = ham::c_api::span_of(name, std::strlen(name));
    bytes answer = ham::c_api::start_call(to, "ham.layout", of).get();
    if (length != nullptr) *length = answer.size();
    answer.push_back(std::byte{0});
    return ham::c_api::copy_result(answer, text, space, nullptr);
  });
}

int ham_call_encoded(ham_node node, const char* name, const char* layout, const void* arguments, size_t size,
                     int64_t timeout_ms, ham_future** future) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the place of the future");
    *future = nullptr;
    ham::c_api::require(name, "the name");
    ham::c_api::require(layout, "the layout");
    const auto to = ham::c_api::bounded(node, timeout_ms);
    *future = new ham_future(ham::c_api::start_encoded_call(to, name, layout, ham::c_api::span_of(arguments, size)));
    return HAM_OK;
  });
}

int ham_call_async(ham_node node, const char* name, const void* argument, size_t size, int64_t timeout_ms,
                   ham_future** future) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the place of the future");
    *future = nullptr;
    ham::c_api::require(name, "the name");
    const auto to = ham::c_api::bounded(node, timeout_ms);
    *future = new ham_future(ham::c_api::start_call(to, name, ham::c_api::span_of(argument, size)));
    return HAM_OK;
  });
}

int ham_wait(ham_future* future, int64_t timeout_ms) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the future");
    if (future->wait(timeout_ms)) return static_cast<int>(HAM_OK);
    return ham::c_api::fail(HAM_NOT_YET, "it is still under way");
  });
}

int ham_result_size(ham_future* future, size_t* size) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the future");
    ham::c_api::require(size, "the place of the size");
    *size = future->result().size();
    return HAM_OK;
  });
}

int ham_result(ham_future** future, void* result, size_t space, size_t* result_bytes) {
  const int status = ham::c_api::guarded([&] {
    ham::c_api::require(future, "the place of the future");
    ham::c_api::require(*future, "the future");
    return ham::c_api::copy_result((*future)->result(), result, space, result_bytes);
  });
  if (status != HAM_ERROR_TRUNCATED && status != HAM_ERROR_ARGUMENT) delete std::exchange(*future, nullptr);
  return status;
}

void ham_release(ham_future** future) {
  if (future == nullptr || *future == nullptr) return;
  const std::unique_ptr<ham_future> last(std::exchange(*future, nullptr));
  last->let_go();
}
