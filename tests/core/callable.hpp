// A function for calls that have no engine: does what the test says.
#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/batch_reply.hpp"
#include "core/wire.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/wire.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::test {

using bytes = std::vector<std::byte>;

/// What it does; `id`: of the call.
inline std::function<void(std::uint32_t id)> on_call;

struct callable {
  using tag = callable;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static void handler(void* buffer) {
    auto& call = *static_cast<detail::incoming_call*>(buffer);
    on_call(call.call);
    if (call.batch == nullptr) return;
    detail::reply_room out;
    call.batch->begin(call.call, 0, out);
    call.batch->finish();
  }
  static std::string layout() { return {}; }
  static constexpr std::size_t message_size() { return 0; }
};

/// Its key in the table of this process.
inline std::uint32_t callable_key() { return msg::handler_registrar<callable>::entry().resolve(); }

/// The records of calls of it with these ids, with one byte of arguments each.
inline bytes batch_of(std::initializer_list<std::uint32_t> ids, std::uint32_t key = callable_key()) {
  bytes result(ids.size() * (detail::record_head_bytes + 1));
  msg::writer to(result.data(), result.size());
  for (const std::uint32_t id : ids) {
    to.number(key);
    to.number(id);
    to.number(std::uint32_t{1});
    to.number(std::uint8_t{0});
  }
  return result;
}

}  // namespace ham::test
