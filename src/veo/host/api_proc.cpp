// Procs, libraries, symbols, versions.
#include <cstring>

#include "../tagged_pointers.hpp"
#include "guard.hpp"
#include "host_functions.hpp"
#include "registry.hpp"
#include "send.hpp"
#include "start.hpp"
#include "ve_offload.h"
#include "veo_ham.h"

using namespace ham::veo;

namespace {

/// Empty command: the usual helper.
veo_proc_handle* create(int node, const std::string& command) {
  const std::optional<int> resolved = resolve_node(node);
  if (!resolved) return fail<veo_proc_handle*>(ENODEV, nullptr);
  return guarded<veo_proc_handle*>(nullptr, [&]() -> veo_proc_handle* {
    try {
      return registry::of_this_process().create(*resolved, command);
    } catch (const ham::error& problem) {
      say(std::string("no helper was started: ") + problem.what());
      return fail<veo_proc_handle*>(ENOENT, nullptr);
    }
  });
}

bool too_long(const char* name) noexcept { return ::strnlen(name, VEO_SYMNAME_LEN_MAX + 1) > VEO_SYMNAME_LEN_MAX; }

}  // namespace

extern "C" {

struct veo_proc_handle* veo_proc_create(int node) {
  return create(node, std::string());
}

struct veo_proc_handle* veo_proc_create_static(int node, const char* helper) {
  if (helper == nullptr || *helper == '\0') return fail<veo_proc_handle*>(EINVAL, nullptr);
  return create(node, helper);
}

int veo_proc_destroy(struct veo_proc_handle* handle) {
  registry& all = registry::of_this_process();
  const life state = handle == nullptr ? life::unknown : all.state_of(handle);
  if (state == life::unknown) return fail(EINVAL, -1);
  if (state == life::live && called_from(*handle)) {
    say("veo_proc_destroy: the calling function was called by a kernel of this proc, which waits for it");
    return fail(EDEADLK, -1);
  }
  return guarded(-1, [&] {
    if (state == life::live) all.destroy(*handle);
    return 0;
  });
}

int veo_proc_identifier(struct veo_proc_handle* handle) {
  const proc* const of = live(handle);
  return of == nullptr ? -1 : of->identifier();
}

uint64_t veo_load_library(struct veo_proc_handle* handle, const char* path) {
  proc* const of = live(handle);
  if (of == nullptr || path == nullptr) return fail(EINVAL, uint64_t{0});
  if (too_long(path)) return fail(ENAMETOOLONG, uint64_t{0});
  return guarded(uint64_t{0}, [&] {
    std::uint64_t calls_host = 0;
    auto news = std::make_unique<std::vector<delivery>>(1, delivery{&calls_host, sizeof calls_host});
    const local_result loaded = of->main().exchange(sending(load_library_request, std::string(path)), std::move(news));
    if (calls_host != 0) registry::of_this_process().serve_helpers();
    return loaded.state == VEO_COMMAND_OK ? loaded.value : uint64_t{0};
  });
}

int veo_unload_library(struct veo_proc_handle* handle, const uint64_t lib) {
  proc* const of = live(handle);
  if (of == nullptr) return -1;
  return guarded(-1, [&] {
    of->forget_symbols(lib);
    const local_result result = of->main().exchange(sending(unload_library_request, lib));
    return result.state == VEO_COMMAND_OK ? static_cast<int>(result.value) : -1;
  });
}

uint64_t veo_get_sym(struct veo_proc_handle* handle, uint64_t lib, const char* name) {
  proc* const of = live(handle);
  if (of == nullptr || name == nullptr) return fail(EINVAL, uint64_t{0});
  if (too_long(name)) return fail(ENAMETOOLONG, uint64_t{0});
  return guarded(uint64_t{0}, [&] {
    if (const std::uint64_t known = of->known_symbol(lib, name); known != 0) return known;
    const local_result found = of->main().exchange(sending(symbol_request, lib, std::string(name)));
    if (found.state != VEO_COMMAND_OK || found.value == 0) return std::uint64_t{0};
    of->learn_symbol(lib, name, found.value);
    return found.value;
  });
}

const char* veo_version_string(void) { return "3.0.2"; }

int veo_api_version(void) { return VEO_API_VERSION; }

int veo_get_ve_arch(int node) { return resolve_node(node) ? 1 : 0; }

int veo_ham_is_near(struct veo_proc_handle* handle) {
  const proc* const of = live(handle);
  return of == nullptr ? -1 : static_cast<int>(of->near());
}

// ---- contexts

struct veo_thr_ctxt_attr {
  size_t stack_bytes = size_t{128} << 20;
};

static veo_thr_ctxt* open_context(veo_proc_handle* handle, std::size_t stack_bytes) {
  proc* const of = live(handle);
  if (of == nullptr) return nullptr;
  if (of->opened() != 0 && called_from(of->main())) {
    say("veo_context_open: the calling function was called by a kernel of the main context, which waits for it; open "
        "the "
        "context before");
    return fail<veo_thr_ctxt*>(EDEADLK, nullptr);
  }
  return guarded<veo_thr_ctxt*>(nullptr, [&]() -> veo_thr_ctxt* {
    veo_thr_ctxt* const fresh = of->open_context(stack_bytes);
    if (fresh == nullptr) return fail<veo_thr_ctxt*>(ESRCH, nullptr);
    registry::of_this_process().add(fresh);
    return fresh;
  });
}

struct veo_thr_ctxt* veo_context_open(struct veo_proc_handle* proc) {
  return open_context(proc, veo_thr_ctxt_attr().stack_bytes);
}

struct veo_thr_ctxt* veo_context_open_with_attr(struct veo_proc_handle* proc, struct veo_thr_ctxt_attr* attr) {
  if (attr == nullptr) return fail<veo_thr_ctxt*>(EINVAL, nullptr);
  return open_context(proc, attr->stack_bytes);
}

int veo_context_close(struct veo_thr_ctxt* ctx) {
  registry& all = registry::of_this_process();
  const life state = ctx == nullptr ? life::unknown : all.state_of(ctx);
  if (state == life::unknown) return fail(EINVAL, -1);
  if (state == life::ended) return 0;
  return guarded(-1, [&] {
    if (ctx == &ctx->of().main()) return 0;
    if (called_from(*ctx)) {
      say("veo_context_close: the calling function was called by a kernel of this context, which waits for it");
      return fail(EDEADLK, -1);
    }
    ctx->of().close_context(*ctx);
    all.end(ctx);
    return 0;
  });
}

int veo_get_context_state(struct veo_thr_ctxt* ctx) {
  if (ctx == nullptr || registry::of_this_process().state_of(ctx) == life::unknown) {
    return fail<int>(EINVAL, VEO_STATE_UNKNOWN);
  }
  return live(ctx) == nullptr || ctx->of().has_gone() ? VEO_STATE_EXIT : VEO_STATE_RUNNING;
}

void veo_context_sync(struct veo_thr_ctxt* ctx) {
  if (live(ctx) == nullptr) return;
  guarded(0, [&] {
    ctx->sync();
    return 0;
  });
}

int veo_num_contexts(struct veo_proc_handle* handle) {
  const proc* const of = live(handle);
  return of == nullptr ? -1 : of->opened();
}

struct veo_thr_ctxt* veo_get_context(struct veo_proc_handle* handle, int idx) {
  const proc* const of = live(handle);
  return of == nullptr ? nullptr : of->opened_at(idx);
}

void veo_req_block_begin(struct veo_thr_ctxt* ctx) {
  if (live(ctx) != nullptr) ctx->block_begin();
}

void veo_req_block_end(struct veo_thr_ctxt* ctx) {
  if (live(ctx) != nullptr) ctx->block_end();
}

struct veo_thr_ctxt_attr* veo_alloc_thr_ctxt_attr(void) {
  return new (std::nothrow) veo_thr_ctxt_attr;
}

int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr* attr) {
  if (attr == nullptr) return fail(EINVAL, -1);
  delete attr;
  return 0;
}

int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr* attr, size_t bytes) {
  if (attr == nullptr || bytes < (size_t{4} << 20)) return fail(EINVAL, -1);
  attr->stack_bytes = bytes;
  return 0;
}

int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr* attr, size_t* bytes) {
  if (attr == nullptr || bytes == nullptr) return fail(EINVAL, -1);
  *bytes = attr->stack_bytes;
  return 0;
}
}
