// An area in the helper, the call with addresses in it, and the way back.
#include "large_call.hpp"

#include "proc.hpp"
#include "send.hpp"
#include "ve_offload.h"

namespace ham::inline v1::veo {
namespace {
constexpr std::size_t large = std::size_t{128} << 10;
}  // namespace

bool large_call::suits(proc& of, const veo_args* args) noexcept {
  if (args == nullptr || !of.near()) return false;
  std::size_t bytes = 0;
  for (const argument& one : args->all) {
    if (is_stack(one.kind) && one.bits > large) return true;
    if (is_stack(one.kind)) bytes += one.bits;
  }
  return bytes > large;
}

large_call::large_call(veo_thr_ctxt& in, std::uint64_t kernel, const veo_args& args) : kernel_(kernel), args_(args) {
  for (std::size_t i = 0; i < args.all.size(); ++i) {
    const argument& one = args.all[i];
    if (!is_stack(one.kind)) continue;
    buffers_.push_back({one.kind, i, area_bytes_, one.bits, one.buffer, {}});
    area_bytes_ += padded(one.bits) + 8;  // an empty buffer has an address of its own, too
  }
  if (const auto made = in.exchange_at_once(area_wanted()); made && made->state == VEO_COMMAND_OK) {
    area_ = made->value;
    laid_down_ = area_ != 0 && copy(in, direction::to_helper);
  }
  if (laid_down_) return;
  for (buffer& one : buffers_) {
    if (!goes_in(one.kind)) continue;
    const auto* const from = static_cast<const std::byte*>(one.client);
    one.content.assign(from, from + one.bytes);
  }
}

sender large_call::area_wanted() const { return sending(area_request, std::uint64_t{0}, std::uint64_t{area_bytes_}); }

local_result large_call::make_area(veo_thr_ctxt& in) {
  local_result made = in.exchange(area_wanted());
  if (made.state == VEO_COMMAND_OK && made.value == 0) made.state = VEO_COMMAND_ERROR;
  if (made.state == VEO_COMMAND_OK) area_ = made.value;
  return made;
}

bool large_call::copy(veo_thr_ctxt& in, direction where) {
  for (buffer& one : buffers_) {
    const bool inwards = where == direction::to_helper;
    if (one.bytes == 0 || !(inwards ? goes_in(one.kind) : comes_back(one.kind))) continue;
    void* const here = inwards && !one.content.empty() ? one.content.data() : one.client;
    if (!copy_near(in.of().pid(), where, area_ + one.offset, here, one.bytes)) return false;
    one.content = {};
  }
  return true;
}

local_result large_call::call(veo_thr_ctxt& in) {
  for (const buffer& one : buffers_) {
    args_.all[one.index] = {true, argument_kind::integer, area_ + one.offset, nullptr};
  }
  std::vector<std::byte> message;
  pack(&args_, message, in.of().identifier());
  return in.exchange(sending(call_request, kernel_, std::move(message)));
}

void large_call::drop_area(veo_thr_ctxt& in) {
  if (!in.of().dead()) static_cast<void>(in.exchange(sending(area_request, area_, std::uint64_t{0})));
}

local_result large_call::run(veo_thr_ctxt& in) {
  if (area_ == 0) {
    const local_result made = make_area(in);
    if (made.state != VEO_COMMAND_OK) return made;
  }
  local_result result{VEO_COMMAND_ERROR, 0};
  if (laid_down_ || copy(in, direction::to_helper)) {
    result = call(in);
    if (result.state == VEO_COMMAND_OK && !copy(in, direction::from_helper)) result = {VEO_COMMAND_ERROR, 0};
  }
  drop_area(in);
  return result;
}

}  // namespace ham::veo
