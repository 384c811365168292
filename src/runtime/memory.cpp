// Memory verbs: one-sided where the transport can, else messages executed by the owner.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "base/clock.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/late_answer.hpp"
#include "ham/offload/memory.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/device_accesses.hpp"
#include "runtime/device_copies.hpp"
#include "runtime/end_of_handle.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/message_transfer.hpp"
#include "runtime/stoppable_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

// ---- executed by the owner of the memory

std::pair<std::uint64_t, std::uint64_t> allocate_here(std::uint64_t bytes) {
  const ham::detail::node_memory::allocation got = current().memory.allocate(bytes);
  return {got.address, got.tag};
}

void free_here(std::uint64_t address, std::uint64_t tag) {
  engine& at = current();
  if (at.memory.free(address, tag)) return;
  throw buffer_error("cannot free " + hexadecimal(address) + " of node " + std::to_string(at.self()) +
                     " (it is not the start of a live allocation there: freed before, in its middle, or not from "
                     "allocate); free once what allocate returned");
}

void store_here(std::uint64_t address, std::uint64_t tag, std::span<const std::byte> bytes) {
  store_local(current(), {address, tag}, bytes.data(), bytes.size());
}

std::vector<std::byte> load_here(std::uint64_t address, std::uint64_t tag, std::uint64_t bytes) {
  engine& at = current();
  if (tag != 0) check_local(at, {address, tag}, bytes);
  if (bytes > piece_bytes) refuse("more than one piece at once", at.self(), {address, tag}, bytes);
  std::vector<std::byte> result(bytes);
  load_local(at, {address, tag}, result.data(), bytes);
  return result;
}

/// What store_here and load_here do where memory is a device's.
template <class>
struct store_on_device {
  [[nodiscard]] static bool take(incoming_call& call) {
    using ham::detail::arguments_of;
    const auto [address, tag, bytes] = arguments_of<std::uint64_t, std::uint64_t, std::span<const std::byte>>(call);
    if (tag == 0) return false;
    call.decoded = true;
    check_local(*call.at, {address, tag}, bytes.get().size());
    return ham::detail::store_later(call, {address}, bytes);
  }
};
template <class>
struct load_on_device {
  [[nodiscard]] static bool take(incoming_call& call) {
    using ham::detail::arguments_of;
    const auto [address, tag, bytes] = arguments_of<std::uint64_t, std::uint64_t, std::uint64_t>(call);
    if (tag == 0) return false;
    call.decoded = true;
    check_local(*call.at, {address, tag}, bytes);
    return ham::detail::load_later(call, {address}, bytes);
  }
};
constexpr auto storing = with_policy<store_on_device>(fn<&store_here>);
constexpr auto loading = with_policy<load_on_device>(fn<&load_here>);

/// Sends own memory, which is checked first, to another node.
future<void> put_own(engine& at, raw_buffer from, node_t to_node, raw_buffer to, std::size_t bytes, element of,
                     transfer_terms how) {
  check_local(at, from, bytes);
  if (at.memory.device() != nullptr) {
    copy_from_device(at, from, to_node, to, one_row(bytes), of, how);
    return ready_or_failed(at, operation::copy, to_node, [] {});
  }
  return put_bytes(at, pointer_to(from), to_node, to, bytes, of, how);
}

/// `time_left_ns`: as terms_left() reads it.
void copy_from_here(std::uint64_t from, std::uint64_t from_tag, node_t to_node, std::uint64_t to, std::uint64_t to_tag,
                    std::uint64_t bytes, std::uint32_t number_bytes, bool known, std::int64_t time_left_ns) {
  engine& at = current();
  const transfer_terms how = terms_left(time_left_ns);
  if (from_tag != 0) check_local(at, {from, from_tag}, bytes);
  // As one with a deadline, whose error says what became of all of it, and within a node, where both may overlap. The
  // last part comes first: whatever reaches beyond its memory is refused before any byte moves.
  const bool as_one = how.deadline_ns != 0 || to_node == at.self() || bytes <= bytes_per_sign;
  const std::uint64_t block = as_one ? bytes : bytes_per_sign;
  std::vector<std::byte> copy;
  for (std::uint64_t parts = as_one ? 1 : (bytes - 1) / block + 1; parts-- > 0;) {
    const std::uint64_t begin = parts * block;
    const std::uint64_t count = std::min(block, bytes - begin);
    const raw_buffer source{from + begin, from_tag};
    const raw_buffer target{to + begin, to_tag};
    if (from_tag != 0) {
      get_with_signs(put_own(at, source, to_node, target, count, {number_bytes, known}, how));
    } else {
      copy.resize(count);
      load_local(at, source, copy.data(), count);
      get_with_signs(put_bytes(at, copy.data(), to_node, target, count, {number_bytes, known}, how));
    }
  }
}

/// A part of memory that is moved in parts; each is checked by its owner.
raw_buffer further(const raw_buffer& begin, std::size_t bytes) noexcept { return {begin.address + bytes, begin.tag}; }

[[maybe_unused]] const bool always_run = ham::detail::always_run(fn<&free_here>, storing, loading, fn<&copy_from_here>);

}  // namespace

std::uint64_t local_tag(const void* address, node_t node) noexcept {
  engine* const at = ham::detail::current_or_null();
  if (at == nullptr || address == nullptr || node != at->self()) return 0;
  return at->memory.tag_of(reinterpret_cast<std::uintptr_t>(address));
}

void throw_too_large(std::size_t elements, std::size_t element_bytes) {
  throw buffer_error(std::to_string(elements) + " elements of " + std::to_string(element_bytes) +
                     " bytes are more than there are addresses; check the count");
}

std::int64_t time_left(const transfer_terms& how) noexcept {
  return how.deadline_ns == 0 ? 0 : std::max<std::int64_t>(1, how.deadline_ns - base::now_ns());
}

transfer_terms terms_left(std::int64_t time_left_ns) noexcept {
  if (time_left_ns <= 0) return {};
  return {moved_by::anyone, nanoseconds_from_now(static_cast<long double>(time_left_ns))};
}

void require_node_of(const destination& to, node_t one, node_t other) {
  if (to.node == one || to.node == other) return;
  const ham::detail::replacements& numbers = engine_for(to).numbers;  // it may be of a process that has that number now
  if (numbers.any() && (to.node == numbers.number_of(one) || to.node == numbers.number_of(other))) return;
  throw buffer_error("a transfer to memory of node " + std::to_string(one) +
                     (one == other ? std::string() : ", and of node " + std::to_string(other)) +
                     " cannot be bounded by a destination on node " + std::to_string(to.node) +
                     "; name the node of the buffer");
}

raw_buffer allocate_bytes(destination& on, std::size_t bytes, const std::stop_token* token) {
  engine& at = engine_for(on);
  const engine_scope scope(&at);
  on.node = at.process_of_handle(on, token);
  if (on.node == at.self() && (token == nullptr || !token->stop_requested())) {
    const auto [address, tag] = allocate_here(bytes);
    return {address, tag};
  }
  destination exact = on;
  exact.node = at.exactly(on.node);
  const auto give_back =
      [by = destination(exact.node, 0, serial_of(at))](const std::pair<std::uint64_t, std::uint64_t>& late) {
        ham::detail::give_back([&] { return async(by, fn<&free_here>, late.first, late.second); });
      };
  const auto [address, tag] =
      ham::detail::sync_or_undo_unless(token, exact, give_back, fn<&allocate_here>, static_cast<std::uint64_t>(bytes));
  return {address, tag};
}

void free_bytes(const destination& to, node_t owner, raw_buffer what) {
  if (what.address == 0) {
    throw buffer_error(
        "cannot free a null buffer_ptr (it names no memory: default-constructed, of nullptr, or of an owner that was "
        "moved from); free what allocate returned, and only where it is not null");
  }
  engine& at = engine_for(to);
  const engine_scope scope(&at);
  destination on = to;
  on.node = at.exactly(owner);
  if (owner == at.self())
    free_here(what.address, what.tag);
  else
    sync(on, fn<&free_here>, what.address, what.tag);
}

bool free_at_end(std::uint64_t runtime, node_t node, raw_buffer what, std::int64_t limit_ns) noexcept {
  try {
    engine* const at = ham::detail::find_engine(runtime);
    if (at == nullptr) return true;  // its memory is gone
    const engine_scope scope(at);
    if (node == at->self()) {
      free_here(what.address, what.tag);
      return true;
    }
    return ham::detail::end_handle(
        *at, node, "a buffer",
        [at, node, what] { return try_async(at->exactly(node), fn<&free_here>, what.address, what.tag); }, limit_ns);
  } catch (const std::exception&) {
    return true;  // the node may be gone, and its memory with it
  }
}

future<void> put_bytes(engine& at, const void* from, node_t node, raw_buffer to, std::size_t bytes, element of,
                       transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    return in_stoppable_parts(
        at, {operation::put, node, bytes, piece_bytes}, how,
        [&at, from, node, to, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return put_bytes(at, static_cast<const std::byte*>(from) + done, node, further(to, done), count, of, part);
        });
  }
  at.memory.count_put(bytes);
  auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
  return begun_or_late(at, operation::put, node, [&] {
    const std::uint32_t swapped = swap_width(at, node, of, {how.deadline_ns, how.token});
    return transfer(
        at, {one_sided::direction::put, source, node, to, bytes, how}, swapped, piece_bytes,
        [&] { store_local(at, to, from, bytes); },
        [&](std::size_t done, std::size_t piece) {
          std::span<const std::byte> content(source + done, piece);
          std::vector<std::byte> copy;
          if (swapped != 0) {
            copy.assign(content.begin(), content.end());
            swap_bytes(copy.data(), piece, swapped);
            content = copy;
          }
          return unless_stopped(async(messages_to(at, node, how), storing, to.address + done, to.tag, content), how);
        });
  });
}

future<void> get_bytes(engine& at, node_t node, raw_buffer from, void* to, std::size_t bytes, element of,
                       transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    return in_stoppable_parts(
        at, {operation::get, node, bytes, piece_bytes}, how,
        [&at, from, node, to, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return get_bytes(at, node, further(from, done), static_cast<std::byte*>(to) + done, count, of, part);
        });
  }
  at.memory.count_got(bytes);
  auto* target = static_cast<std::byte*>(to);
  return begun_or_late(at, operation::get, node, [&] {
    const std::uint32_t swapped = swap_width(at, node, of, {how.deadline_ns, how.token});
    return transfer(
        at, {one_sided::direction::get, target, node, from, bytes, how}, swapped, piece_bytes,
        [&] { load_local(at, from, to, bytes); },
        [&](std::size_t done, std::size_t piece) {
          return unless_stopped(async(messages_to(at, node, how), loading, from.address + done, from.tag,
                                      static_cast<std::uint64_t>(piece)),
                                how)
              .then([place = target + done, piece, swapped](const std::vector<std::byte>& data) {
                if (data.size() != piece) throw protocol_error("a get was answered with another size");
                std::memcpy(place, data.data(), piece);
                swap_bytes(place, piece, swapped);
              });
        });
  });
}

future<void> copy_bytes(engine& at, node_t from_node, raw_buffer from, node_t to_node, raw_buffer to, std::size_t bytes,
                        element of, transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    // Within a node both may overlap, which only one copy of all bytes knows how to do.
    const std::size_t part_bytes = from_node == to_node ? bytes : piece_bytes;
    return in_stoppable_parts(
        at, {operation::copy, from_node, bytes, part_bytes}, how,
        [&at, from_node, from, to_node, to, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return copy_bytes(at, from_node, further(from, done), to_node, further(to, done), count, of, part);
        });
  }
  if (from_node == at.self() && from.tag != 0) {
    return begun_or_failed(at, to_node, [&] { return put_own(at, from, to_node, to, bytes, of, how); });
  }
  if (to_node == at.self() && to.tag != 0) {
    return begun_or_failed(at, from_node, [&] {
      check_local(at, to, bytes);
      if (at.memory.device() != nullptr) {
        copy_to_device(at, from_node, from, to, one_row(bytes), of, how);
        return ready_or_failed(at, operation::copy, from_node, [] {});
      }
      return get_bytes(at, from_node, from, pointer_to(to), bytes, of, how);
    });
  }
  const engine_scope scope(&at);
  return unless_stopped(
      async(messages_to(at, from_node, how), fn<&copy_from_here>, from.address, from.tag, to_node, to.address, to.tag,
            static_cast<std::uint64_t>(bytes), of.number_bytes, of.known, time_left(how)),
      how);
}

}  // namespace ham::offload::detail
