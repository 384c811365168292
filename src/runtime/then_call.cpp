// Bytes that go ahead of a call: written by the caller, or in the call's own message.
#include "ham/offload/then_call.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/engine.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/message_transfer.hpp"

namespace ham::inline v1 {

void detail::write_brought(std::byte* to, const brought_bytes& what) noexcept {
  msg::writer head(to, brought_bytes::head_bytes);
  head.number(what.address);
  head.number(what.tag);
  head.number(static_cast<std::uint64_t>(what.size));
  std::byte* const bytes = to + brought_bytes::head_bytes;
  if (what.size != 0) std::memcpy(bytes, what.from, what.size);
  offload::detail::swap_bytes(bytes, what.size, what.swapped);
}

void detail::store_brought(incoming_call& call) {
  msg::reader from(call.payload);
  const auto address = from.number<std::uint64_t>();
  const auto tag = from.number<std::uint64_t>();
  const auto size = from.number<std::uint64_t>();
  from.require(size);
  const std::span<const std::byte> rest = call.payload.subspan(brought_bytes::head_bytes);
  call.decoded = true;  // what is thrown now is the caller's mistake, not a broken message
  offload::detail::store_local(*call.at, {address, tag}, rest.data(), size);
  call.decoded = false;
  call.payload = rest.subspan(size);
}

namespace offload::detail {
namespace {

/// What travels with a call. More would be copied twice, and hold up what follows in the queue.
constexpr std::size_t max_brought = std::size_t{64} << 10;

/// A slot of a put to `node` that has failed with the exception that is being handled.
call_slot* failed_put(engine& at, node_t node) {
  call_slot* const slot = make_transfer_slot(at, operation::put, node);
  fulfil<void>(*slot, [] { throw; });
  return slot;
}

/// As put_before_call.
bytes_go put_now(engine& at, const destination& to, const element& of, brought_bytes& data, call_slot*& failed) {
  using background_access = transport::remote_memory::background_access;
  try {
    const raw_buffer there{data.address, data.tag};
    if (data.size == 0) return bytes_go::ahead;
    if (to.node == at.self()) {
      at.memory.count_put(data.size);
      store_local(at, there, data.from, data.size);
      return bytes_go::ahead;
    }
    ham::detail::peer_hold who = at.peer_of(to.node, {to.deadline_ns});
    data.swapped = swap_width(at, *who, of);
    transport::remote_memory* const memory = at.memory.of(*who);
    const bool mapped =
        memory != nullptr && data.tag != 0 && data.swapped == 0 && memory->background() == background_access::parts;
    const std::size_t most = std::min<std::uint64_t>(max_brought, who->max_message / 2);
    if (mapped ? at.memory.transfers().pays(data.size) : data.size > most) return bytes_go::by_themselves;
    at.memory.count_put(data.size);
    if (!mapped) return bytes_go::in_message;
    if (who->sending.try_lock()) {  // or the endpoint may go meanwhile
      who->to->expect_send();       // the call's cache lines come while the bytes are copied
      who->sending.unlock();
    }
    const transport::access_result how = memory->put(data.address, data.tag, data.from, data.size);
    if (how == transport::access_result::done) [[likely]]
      return bytes_go::ahead;
    const one_sided what{one_sided::direction::put, const_cast<std::byte*>(data.from), to.node, there, data.size, {}};
    what.check(at, *who, how);
    return bytes_go::ahead;
  } catch (const buffer_error&) {
    failed = failed_put(at, to.node);
  } catch (const node_failure&) {
    failed = failed_put(at, to.node);
  } catch (const deadline_exceeded&) {
    failed = failed_put(at, to.node);
  }
  return bytes_go::nowhere;
}

}  // namespace

call_slot* make_slot_behind(engine& at, operation verb, destination& to) {
  call_slot* const slot = make_transfer_slot(at, verb, to.node);
  to.runtime = at.serial;
  to.node = at.exactly(to.node);
  return slot;
}

bytes_go put_before_call(engine& at, destination& to, const element& of, brought_bytes& data, call_slot*& failed) {
  const bytes_go how = put_now(at, to, of, data, failed);
  if (how == bytes_go::ahead || how == bytes_go::in_message) to.node = at.exactly(to.node);
  return how;
}

}  // namespace offload::detail
}  // namespace ham
