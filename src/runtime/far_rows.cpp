#include "runtime/far_rows.hpp"

#include "runtime/always_runs.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/message_transfer.hpp"
#include "runtime/row_layout.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::device_rows;

/// Packed bytes of a block, from `from` on, into memory of this node and out of it, which has been checked.
void store_packed(engine& at, raw_buffer to, const row_layout& rows, std::size_t from,
                  std::span<const std::byte> packed) {
  if (at.memory.device() != nullptr && to.tag != 0) {
    at.memory.device()->store_now({to.address, rows.row_bytes, rows.remote_pitch, from}, packed.data(), packed.size());
    return;
  }
  rows.for_each_run(from, packed.size(), [&](std::size_t place, std::size_t there, std::size_t run) {
    store_checked(at, {to.address + there, to.tag}, packed.data() + (place - from), run);
    return true;
  });
}
void load_packed(engine& at, raw_buffer where, const row_layout& rows, std::size_t from, std::span<std::byte> packed) {
  if (at.memory.device() != nullptr && where.tag != 0) {
    at.memory.device()->load_now({where.address, rows.row_bytes, rows.remote_pitch, from}, packed.data(),
                                 packed.size());
    return;
  }
  rows.for_each_run(from, packed.size(), [&](std::size_t place, std::size_t there, std::size_t run) {
    load_checked(at, {where.address + there, where.tag}, packed.data() + (place - from), run);
    return true;
  });
}

[[nodiscard]] row_layout layout_here(const far_rows& part) noexcept {
  return {part.row_bytes, part.row_bytes, part.pitch};
}
[[nodiscard]] device_rows rows_on_device(const far_rows& part) noexcept {
  return {part.address, part.row_bytes, part.pitch, part.from};
}

[[maybe_unused]] const bool rows_always_run = ham::detail::always_run(storing_rows, loading_rows);

}  // namespace

void check_part_here(engine& at, const far_rows& what, std::size_t count) {
  const raw_buffer begin{what.address, what.tag};
  const auto wrong = [&](const char* why) { refuse(why, at.self(), begin, count); };
  if (count == 0) return;
  if (what.row_bytes == 0 || what.pitch < what.row_bytes) wrong("rows that overlap");
  std::uint64_t last = 0;  // one behind the last byte
  std::uint64_t end = 0;   // the same of the packed bytes
  if (__builtin_add_overflow(what.from, count, &end) ||
      __builtin_mul_overflow((end - 1) / what.row_bytes, what.pitch, &last) ||
      __builtin_add_overflow(last, (end - 1) % what.row_bytes + 1, &last) ||
      __builtin_add_overflow(last, what.address, &last)) {
    wrong("outside of the allocation");
  }
  if (what.tag == 0) return;
  const std::uint64_t first = what.address + what.from / what.row_bytes * what.pitch + what.from % what.row_bytes;
  check_local(at, {first, what.tag}, last - first);
}

void store_rows_here(const far_rows& part, std::span<const std::byte> packed) {
  engine& at = current();
  check_part_here(at, part, packed.size());
  store_packed(at, {part.address, part.tag}, layout_here(part), part.from, packed);
}

std::vector<std::byte> load_rows_here(const far_rows& part, std::uint64_t bytes) {
  engine& at = current();
  if (bytes > piece_bytes) refuse("more than one piece at once", at.self(), {part.address, part.tag}, bytes);
  std::vector<std::byte> packed(bytes);
  check_part_here(at, part, bytes);
  load_packed(at, {part.address, part.tag}, layout_here(part), part.from, packed);
  return packed;
}

bool store_rows_later(incoming_call& call) {
  const auto [part, packed] = ham::detail::arguments_of<far_rows, std::span<const std::byte>>(call);
  if (part.tag == 0) return false;
  call.decoded = true;
  check_part_here(*call.at, part, packed.get().size());
  return ham::detail::store_later(call, rows_on_device(part), packed);
}

bool load_rows_later(incoming_call& call) {
  const auto [part, bytes] = ham::detail::arguments_of<far_rows, std::uint64_t>(call);
  if (part.tag == 0) return false;
  call.decoded = true;
  check_part_here(*call.at, part, bytes);
  return ham::detail::load_later(call, rows_on_device(part), bytes);
}

}  // namespace ham::offload::detail
