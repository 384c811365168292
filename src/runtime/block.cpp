// Blocks of rows in memory of other nodes: row by row where an access is a copy, else packed into messages.
#include "ham/offload/block.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "ham/offload/call.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/device_copies.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/engine.hpp"
#include "runtime/far_rows.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/message_transfer.hpp"
#include "runtime/row_layout.hpp"
#include "runtime/stoppable_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::device_rows;

/// Rows are packed into messages of this size: packing is pipelined with sending, and no message is so large that its
/// memory comes from the kernel each time (over tcp three times as fast as 1 MiB at once).
constexpr std::size_t packed_bytes = std::size_t{64} << 10;

[[nodiscard]] std::size_t product(std::size_t count, std::size_t bytes) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(count, bytes, &result)) throw_too_large(count, bytes);
  return result;
}

/// Throws ham::buffer_error if rows of so many bytes overlap, or reach beyond all addresses. There are two at least.
void check_rows(const char* whose, std::size_t rows, std::size_t row_bytes, std::size_t pitch) {
  if (pitch < row_bytes) {
    throw buffer_error("rows of " + std::to_string(row_bytes) + " bytes overlap at a " + whose + " pitch of " +
                       std::to_string(pitch) + " bytes; a pitch is not less than a row");
  }
  if (row_bytes > SIZE_MAX - product(rows - 1, pitch)) throw_too_large(rows, pitch);
}

/// Rows that follow each other on both sides become one.
block_rows checked(const block_rows& what) {
  (void)product(what.rows, what.row_bytes);
  if (what.rows <= 1) return one_row(what.rows * what.row_bytes);
  check_rows("source", what.rows, what.row_bytes, what.source_pitch);
  check_rows("target", what.rows, what.row_bytes, what.target_pitch);
  const bool without_gaps = what.source_pitch == what.row_bytes && what.target_pitch == what.row_bytes;
  return without_gaps ? one_row(what.rows * what.row_bytes) : what;
}

/// For put and get of what is one row.
row_layout layout_of(const block_rows& what, std::size_t local_pitch, std::size_t remote_pitch) {
  return what.rows == 1 ? row_layout{} : row_layout{what.row_bytes, local_pitch, remote_pitch};
}

/// `count` packed bytes of a block from `from` on, out of local memory and into it.
std::vector<std::byte> pack(const row_layout& rows, const std::byte* local, std::size_t from, std::size_t count) {
  std::vector<std::byte> packed(count);
  std::byte* to = packed.data();
  rows.for_each_run(from, count, [&](std::size_t at, std::size_t, std::size_t run) {
    std::memcpy(to, local + at, run);
    to += run;
    return true;
  });
  return packed;
}
void unpack(const row_layout& rows, std::byte* local, std::size_t from, std::span<const std::byte> packed) {
  const std::byte* next = packed.data();
  rows.for_each_run(from, packed.size(), [&](std::size_t at, std::size_t, std::size_t run) {
    std::memcpy(local + at, next, run);
    next += run;
    return true;
  });
}

// ---- executed by the owner of the memory

/// copy_block(part, source, target) for parts of at most bytes_per_sign, or one row, which begin so far behind the
/// beginnings of the block; for all of it if it is to be copied `as_one`. The last part comes first: what reaches
/// beyond its memory is refused before any byte moves.
template <class Copy>
void for_each_block(const block_rows& all, bool as_one, Copy copy_block) {
  if (as_one || all.rows * all.row_bytes <= bytes_per_sign) {
    copy_block(all, 0, 0);
    return;
  }
  if (all.rows == 1) {
    for (std::size_t parts = (all.row_bytes - 1) / bytes_per_sign + 1; parts-- > 0;) {
      const std::size_t begin = parts * bytes_per_sign;
      copy_block(one_row(std::min(bytes_per_sign, all.row_bytes - begin)), begin, begin);
    }
    return;
  }
  const std::size_t step = std::max<std::size_t>(1, bytes_per_sign / all.row_bytes);
  for (std::size_t parts = (all.rows - 1) / step + 1; parts-- > 0;) {
    const std::size_t first = parts * step;
    const std::size_t count = std::min(step, all.rows - first);
    const block_rows part =
        count == 1 ? one_row(all.row_bytes) : block_rows{count, all.row_bytes, all.source_pitch, all.target_pitch};
    copy_block(part, first * all.source_pitch, first * all.target_pitch);
  }
}

/// The part of a copy that the owner of the source executes. `shape`: the members of block_rows.
void copy_rows_from_here(std::uint64_t from, std::uint64_t from_tag, node_t to_node, std::uint64_t to,
                         std::uint64_t to_tag, const std::array<std::uint64_t, 4>& shape, std::uint32_t number_bytes,
                         bool known, std::int64_t time_left_ns) {
  engine& at = current();
  const transfer_terms how = terms_left(time_left_ns);
  const block_rows all = checked({shape[0], shape[1], shape[2], shape[3]});
  const element of{number_bytes, known};
  for_each_block(all, how.deadline_ns != 0, [&](const block_rows& what, std::size_t source, std::size_t target) {
    const raw_buffer there{to + target, to_tag};
    if (from_tag != 0) {
      get_with_signs(copy_rows(at, at.self(), {from + source, from_tag}, to_node, there, what, of, how));
      return;
    }
    std::vector<std::byte> packed(what.rows * what.row_bytes);
    const row_layout rows{what.row_bytes, what.row_bytes, what.source_pitch};
    rows.for_each_run(0, packed.size(), [&](std::size_t place, std::size_t place_there, std::size_t run) {
      load_local(at, {from + source + place_there, 0}, packed.data() + place, run);
      return true;
    });
    get_with_signs(put_rows(at, packed.data(), to_node, there,
                            {what.rows, what.row_bytes, what.row_bytes, what.target_pitch}, of, how));
  });
}

// ---- put and get

/// Through packed bytes, so that a row costs no copy of its own.
void move_rows_of_device(ham::detail::device_heap& device, const one_sided& what) {
  for (std::size_t done = 0; done < what.bytes; done += piece_bytes) {
    const std::size_t piece = std::min(piece_bytes, what.bytes - done);
    const device_rows there{what.there.address, what.rows.row_bytes, what.rows.remote_pitch, done};
    if (what.which == one_sided::direction::put) {
      device.store_now(there, pack(what.rows, what.local, done, piece).data(), piece);
    } else {
      std::vector<std::byte> packed(piece);
      device.load_now(there, packed.data(), piece);
      unpack(what.rows, what.local, done, packed);
    }
  }
}

/// By this process itself, as transfer() wants it.
void move_own_rows(engine& at, const one_sided& what) {
  const bool put = what.which == one_sided::direction::put;
  if (what.there.tag != 0) check_local(at, what.there, what.rows.remote_extent(what.bytes));
  if (at.memory.device() != nullptr && what.there.tag != 0) {
    move_rows_of_device(*at.memory.device(), what);
    return;
  }
  what.rows.for_each_run(0, what.bytes, [&](std::size_t here, std::size_t there, std::size_t run) {
    const raw_buffer own{what.there.address + there, what.there.tag};
    if (put)
      store_checked(at, own, what.local + here, run);
    else
      load_checked(at, own, what.local + here, run);
    return true;
  });
}

[[maybe_unused]] const bool always_run = ham::detail::always_run(fn<&copy_rows_from_here>);

}  // namespace

block_rows rows_of(const block& what, std::size_t element_bytes) {
  const auto bytes_of = [&](std::size_t pitch) {
    return product(pitch == 0 || what.rows <= 1 ? what.columns : pitch, element_bytes);
  };
  return checked(
      {what.rows, product(what.columns, element_bytes), bytes_of(what.source_pitch), bytes_of(what.target_pitch)});
}

future<void> put_rows(engine& at, const void* from, node_t node, raw_buffer to, const block_rows& what, element of,
                      transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    return in_stoppable_parts(
        at, {operation::put, node, what.rows, rows_of_part(what)}, how,
        [&at, from, node, to, what, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return put_rows(at, static_cast<const std::byte*>(from) + done * what.source_pitch, node,
                          {to.address + done * what.target_pitch, to.tag}, first_rows(what, count), of, part);
        });
  }
  const std::size_t bytes = what.rows * what.row_bytes;
  at.memory.count_put(bytes);
  auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
  const row_layout rows = layout_of(what, what.source_pitch, what.target_pitch);
  return begun_or_late(at, operation::put, node, [&] {
    const std::uint32_t swapped = swap_width(at, node, of, {how.deadline_ns, how.token});
    const one_sided access{one_sided::direction::put, source, node, to, bytes, how, rows};
    return transfer(
        at, access, swapped, packed_bytes, [&] { move_own_rows(at, access); },
        [&](std::size_t done, std::size_t piece) {
          std::vector<std::byte> packed = pack(rows, source, done, piece);
          swap_bytes(packed.data(), packed.size(), swapped);
          return unless_stopped(async(messages_to(at, node, how), storing_rows,
                                      far_rows{to.address, to.tag, what.target_pitch, what.row_bytes, done},
                                      std::span<const std::byte>(packed)),
                                how);
        });
  });
}

future<void> get_rows(engine& at, node_t node, raw_buffer from, void* to, const block_rows& what, element of,
                      transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    return in_stoppable_parts(
        at, {operation::get, node, what.rows, rows_of_part(what)}, how,
        [&at, from, node, to, what, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return get_rows(at, node, {from.address + done * what.source_pitch, from.tag},
                          static_cast<std::byte*>(to) + done * what.target_pitch, first_rows(what, count), of, part);
        });
  }
  const std::size_t bytes = what.rows * what.row_bytes;
  at.memory.count_got(bytes);
  auto* const target = static_cast<std::byte*>(to);
  const row_layout rows = layout_of(what, what.target_pitch, what.source_pitch);
  return begun_or_late(at, operation::get, node, [&] {
    const std::uint32_t swapped = swap_width(at, node, of, {how.deadline_ns, how.token});
    const one_sided access{one_sided::direction::get, target, node, from, bytes, how, rows};
    return transfer(
        at, access, swapped, packed_bytes, [&] { move_own_rows(at, access); },
        [&](std::size_t done, std::size_t piece) {
          return unless_stopped(async(messages_to(at, node, how), loading_rows,
                                      far_rows{from.address, from.tag, what.source_pitch, what.row_bytes, done},
                                      static_cast<std::uint64_t>(piece)),
                                how)
              .then([target, rows, done, piece, swapped](std::vector<std::byte> packed) {
                if (packed.size() != piece) throw protocol_error("a get was answered with another size");
                swap_bytes(packed.data(), piece, swapped);
                unpack(rows, target, done, packed);
              });
        });
  });
}

future<void> copy_rows(engine& at, node_t from_node, raw_buffer from, node_t to_node, raw_buffer to,
                       const block_rows& what, element of, transfer_terms how) {
  if (has_token(how)) [[unlikely]] {
    return in_stoppable_parts(
        at, {operation::copy, from_node, what.rows, rows_of_part(what)}, how,
        [&at, from_node, from, to_node, to, what, of](std::size_t done, std::size_t count, const transfer_terms& part) {
          return copy_rows(at, from_node, {from.address + done * what.source_pitch, from.tag}, to_node,
                           {to.address + done * what.target_pitch, to.tag}, first_rows(what, count), of, part);
        });
  }
  const std::size_t bytes = what.rows * what.row_bytes;
  const row_layout rows = layout_of(what, what.source_pitch, what.target_pitch);
  if (from_node == at.self() && from.tag != 0) {
    return begun_or_failed(at, to_node, [&] {
      check_local(at, from, rows.local_extent(bytes));
      if (at.memory.device() != nullptr) {
        copy_from_device(at, from, to_node, to, what, of, how);
        return ready_or_failed(at, operation::copy, to_node, [] {});
      }
      return put_rows(at, pointer_to(from), to_node, to, what, of, how);
    });
  }
  if (to_node == at.self() && to.tag != 0) {
    return begun_or_failed(at, from_node, [&] {
      check_local(at, to, rows.remote_extent(bytes));
      if (at.memory.device() != nullptr) {
        copy_to_device(at, from_node, from, to, what, of, how);
        return ready_or_failed(at, operation::copy, from_node, [] {});
      }
      return get_rows(at, from_node, from, pointer_to(to), what, of, how);
    });
  }
  const engine_scope scope(&at);
  return unless_stopped(
      async(messages_to(at, from_node, how), fn<&copy_rows_from_here>, from.address, from.tag, to_node, to.address,
            to.tag, std::array<std::uint64_t, 4>{what.rows, what.row_bytes, what.source_pitch, what.target_pitch},
            of.number_bytes, of.known, time_left(how)),
      how);
}

}  // namespace ham::offload::detail
