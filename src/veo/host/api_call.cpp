// Calls of kernels and of host functions, and their results.
#include "arguments.hpp"
#include "guard.hpp"
#include "large_call.hpp"
#include "registry.hpp"
#include "send.hpp"
#include "ve_offload.h"

using namespace ham::veo;

namespace {

/// The number of a queued call, or no_request.
std::uint64_t submit_call(veo_thr_ctxt& in, std::uint64_t kernel, const veo_args* args) {
  if (kernel == 0 || !is_complete(args)) return fail(EINVAL, no_request);
  if (large_call::suits(in.of(), args)) {
    return in.submit_local([&in, call = std::make_shared<large_call>(in, kernel, *args)] { return call->run(in); });
  }
  thread_local std::vector<std::byte> message;
  pack(args, message, in.of().identifier());
  std::unique_ptr<std::vector<delivery>> out;
  if (args != nullptr) {
    if (auto deliveries = deliveries_of(args); !deliveries.empty()) {
      out = std::make_unique<std::vector<delivery>>(std::move(deliveries));
    }
  }
  const std::uint64_t id = in.submit(
      [&](const ham::offload::destination& to, unseen_count unseen, blocking) {
        return ham::offload::try_async(to, call_request, unseen, kernel, std::span<const std::byte>(message));
      },
      [&] { return sending(call_request, kernel, message); }, std::move(out));
  if (message.capacity() > (std::size_t{1} << 20)) message = {};
  return id;
}

/// Within a request of the main context, where a queued call would wait for that function.
int call_from_within(veo_thr_ctxt& in, std::uint64_t kernel, const veo_args* args, std::uint64_t* result) {
  local_result got;
  if (large_call::suits(in.of(), args)) {
    got = large_call(in, kernel, *args).run(in);
  } else {
    std::vector<std::byte> message;
    pack(args, message, in.of().identifier());
    got = in.exchange(sending(call_request, kernel, std::move(message)),
                      std::make_unique<std::vector<delivery>>(deliveries_of(args)));
  }
  if (result != nullptr) *result = got.value;
  return got.state == VEO_COMMAND_OK ? 0 : -1;
}

}  // namespace

extern "C" {

int veo_call_sync(struct veo_proc_handle* handle, uint64_t addr, struct veo_args* args, uint64_t* result) {
  proc* const of = live(handle);
  if (of == nullptr) return -1;
  return guarded(-1, [&] {
    veo_thr_ctxt& main = of->main();
    if (addr == 0 || !is_complete(args)) return fail(EINVAL, -1);
    if (main.within_request()) return call_from_within(main, addr, args, result);
    const std::uint64_t id = submit_call(main, addr, args);
    if (id == no_request) return -1;
    return main.wait(id, result) == VEO_COMMAND_OK ? 0 : -1;
  });
}

uint64_t veo_call_async(struct veo_thr_ctxt* ctx, uint64_t addr, struct veo_args* args) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  return guarded(no_request, [&] { return submit_call(*ctx, addr, args); });
}

uint64_t veo_call_async_by_name(struct veo_thr_ctxt* ctx, uint64_t lib, const char* name, struct veo_args* args) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  const uint64_t addr = veo_get_sym(&ctx->of(), lib, name);
  return addr == 0 ? VEO_REQUEST_ID_INVALID : veo_call_async(ctx, addr, args);
}

uint64_t veo_call_async_vh(struct veo_thr_ctxt* ctx, uint64_t (*func)(void*), void* arg) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  if (func == nullptr) return fail(EINVAL, no_request);
  return guarded(no_request, [&] {
    return ctx->submit_local([=]() noexcept -> local_result { return {VEO_COMMAND_OK, func(arg)}; });
  });
}

int veo_call_peek_result(struct veo_thr_ctxt* ctx, uint64_t req, uint64_t* ret) {
  if (live(ctx) == nullptr) return VEO_COMMAND_ERROR;
  return guarded(-1, [&] { return ctx->peek(req, ret); });
}

int veo_call_wait_result(struct veo_thr_ctxt* ctx, uint64_t req, uint64_t* ret) {
  if (live(ctx) == nullptr) return VEO_COMMAND_ERROR;
  return guarded(-1, [&] { return ctx->wait(req, ret); });
}
}
