// An area in the helper, the call with addresses in it, and the way back.
#include "large_call.hpp"

#include "proc.hpp"
#include "send.hpp"
#include "ve_offload.h"

namespace ham::veo {
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

large_call::large_call(std::uint64_t kernel, const veo_args& args) : kernel_(kernel), args_(args) {
  for (std::size_t i = 0; i < args.all.size(); ++i) {
    const argument& one = args.all[i];
    if (!is_stack(one.kind)) continue;
    buffer& made = buffers_.emplace_back(buffer{one.kind, i, area_bytes_, one.bits, one.buffer, {}});
    area_bytes_ += padded(made.bytes) + 8;  // an empty buffer has an address of its own, too
    if (!goes_in(made.kind)) continue;
    const auto* const from = static_cast<const std::byte*>(one.buffer);
    made.content.assign(from, from + made.bytes);
  }
}

bool large_call::copy(veo_thr_ctxt& in, direction where, std::uint64_t area) {
  for (buffer& one : buffers_) {
    const bool wanted = where == direction::to_helper ? goes_in(one.kind) : comes_back(one.kind);
    if (!wanted || one.bytes == 0) continue;
    void* const here = where == direction::to_helper ? one.content.data() : one.client;
    if (!copy_near(in.of().pid(), where, area + one.offset, here, one.bytes)) return false;
    one.content = {};
  }
  return true;
}

local_result large_call::call(veo_thr_ctxt& in, std::uint64_t area) {
  for (const buffer& one : buffers_) {
    args_.all[one.index] = {true, argument_kind::integer, area + one.offset, nullptr};
  }
  std::vector<std::byte> message;
  pack(&args_, message);
  return in.exchange(sending(call_request, kernel_, std::move(message)));
}

local_result large_call::run(veo_thr_ctxt& in) {
  const local_result made = in.exchange(sending(area_request, std::uint64_t{0}, std::uint64_t{area_bytes_}));
  if (made.state != VEO_COMMAND_OK) return made;
  if (made.value == 0) return {VEO_COMMAND_ERROR, 0};
  local_result result{VEO_COMMAND_ERROR, 0};
  if (copy(in, direction::to_helper, made.value)) {
    result = call(in, made.value);
    if (result.state == VEO_COMMAND_OK && !copy(in, direction::from_helper, made.value)) {
      result = {VEO_COMMAND_ERROR, 0};
    }
  }
  if (!in.of().dead()) static_cast<void>(in.exchange(sending(area_request, made.value, std::uint64_t{0})));
  return result;
}

}  // namespace ham::veo
