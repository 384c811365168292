#include "runtime/pinned_transfer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/always_runs.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/message_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::mapped_pages;
using ham::detail::pinned_pool;
using copy_direction = transport::device_copy::direction;

/// Of one message: the device begins with the first while others are on their way, and has no gap between two. The last
/// ones are short: who waits for them has not gone to sleep since the one before.
constexpr std::size_t max_copied_bytes = std::size_t{32} << 20;
constexpr std::size_t min_copied_bytes = std::size_t{512} << 10;
constexpr std::size_t max_undivided_bytes = std::size_t{4} << 20;
std::size_t copied_bytes(std::size_t all, std::size_t left) noexcept {
  constexpr std::size_t page = pinned_pool::page_bytes;
  if (all <= max_undivided_bytes) return all;
  return std::clamp(left / 2 / page * page, min_copied_bytes, max_copied_bytes);
}

[[noreturn]] void refuse_pages(const engine& at) {
  throw buffer_error("node " + std::to_string(at.self()) +
                     " cannot copy from and to memory of its caller (it has no device, or has not mapped it)");
}

/// The pages that a call names, mapped here, with all of its bytes.
mapped_pages pages_of(const incoming_call& call, const far_pages& named, std::uint64_t bytes) {
  if (named.offset > named.block_bytes || bytes > named.block_bytes - named.offset ||
      named.block % pinned_pool::page_bytes != 0 || named.block_bytes % pinned_pool::page_bytes != 0)
    refuse(transport::access_result::out_of_range, call.from->node, {named.block, named.tag}, named.block_bytes);
  mapped_pages result{call.from->memory, nullptr, named.block_bytes};
  if (result.of == nullptr) refuse_pages(*call.at);
  transport::access_result how{};
  result.bytes = result.of->map(named.block, named.tag, named.block_bytes, how);
  if (how == transport::access_result::unsupported || how == transport::access_result::lost) refuse_pages(*call.at);
  if (result.bytes == nullptr) refuse(how, call.from->node, {named.block, named.tag}, named.block_bytes);
  return result;
}

bool copy_later(incoming_call& call, copy_direction which) {
  const auto [named, part, bytes] = ham::detail::arguments_of<far_pages, far_rows, std::uint64_t>(call);
  call.decoded = true;
  if (part.tag == 0) refuse("it is no memory of offload::allocate", call.at->self(), {part.address, 0}, bytes);
  check_part_here(*call.at, part, bytes);
  mapped_pages pages = pages_of(call, named, bytes);
  ham::detail::copy_mapped_later(call, {part.address, part.row_bytes, part.pitch, part.from}, which, std::move(pages),
                                 named.offset, bytes);
  return true;
}

[[maybe_unused]] const bool copies_always_run = ham::detail::always_run(copying_in, copying_out);

}  // namespace

bool may_be_mapped(engine& at, const one_sided& what, std::uint32_t swapped) noexcept {
  const bool packed = what.rows.row_bytes == 0 || what.rows.local_pitch == what.rows.row_bytes;
  return packed && swapped == 0 && what.bytes != 0 && what.there.tag != 0 && what.how.deadline_ns == 0 &&
         at.memory.one_sided();
}

future<void> send_mapped(engine& at, const one_sided& what, const far_pages& here, std::size_t done,
                         std::size_t bytes) {
  const std::uint64_t row = what.rows.row_bytes == 0 ? what.bytes : what.rows.row_bytes;
  const std::uint64_t pitch = what.rows.row_bytes == 0 ? what.bytes : what.rows.remote_pitch;
  const far_rows there{what.there.address, what.there.tag, pitch, row, done};
  const destination to = messages_to(at, what.node, what.how);
  const auto count = static_cast<std::uint64_t>(bytes);
  return what.which == one_sided::direction::put ? async(to, copying_in, here, there, count)
                                                 : async(to, copying_out, here, there, count);
}

std::optional<future<void>> pinned_transfer(engine& at, const one_sided& what, std::uint32_t swapped) {
  if (!may_be_mapped(at, what, swapped)) return std::nullopt;
  const pinned_pool::place found = at.memory.pinned().find(what.local, what.bytes);
  if (found.array == nullptr) return std::nullopt;
  const auto send_piece = [&](std::size_t done, std::size_t piece) {
    const far_pages here{found.block, found.tag, found.block_bytes, found.offset + done};
    return send_mapped(at, what, here, done, piece).then([array = found.array] {});
  };
  return in_pieces(at, what, send_piece, [&what](std::size_t left) { return copied_bytes(what.bytes, left); });
}

void copy_in_here(const far_pages&, const far_rows&, std::uint64_t) { refuse_pages(current()); }
void copy_out_here(const far_pages&, const far_rows&, std::uint64_t) { refuse_pages(current()); }

bool copy_in_later(incoming_call& call) { return copy_later(call, copy_direction::to_device); }
bool copy_out_later(incoming_call& call) { return copy_later(call, copy_direction::to_host); }

}  // namespace ham::offload::detail
