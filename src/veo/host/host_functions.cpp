// Loading, finding and calling.
#include "host_functions.hpp"

#include <dlfcn.h>
#include <errno.h>

#include <utility>

#include "../call/kernel_call.hpp"
#include "ham/offload/detail/reverse_calls.hpp"
#include "log.hpp"
#include "proc.hpp"

namespace ham::inline v1::veo {
namespace {

constinit std::atomic<host_functions*> only_one{nullptr};
thread_local const veos_handle* current_line = nullptr;

host_answer failure(int error, const std::string& why) {
  say("vhcall: " + why);
  return {error, 0, {}};
}

host_answer unknown(const char* what, std::uint64_t number) {
  return failure(EINVAL, "a kernel names " + std::string(what) + " " + std::to_string(number) +
                             ", which its helper has not got or has uninstalled");
}

}  // namespace

struct host_functions::library {
  library(void* loaded, std::string file) : handle(loaded), path(std::move(file)) {}
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  ~library() { ::dlclose(handle); }
  void* const handle;
  const std::string path;
};

/// While it lives, the calling thread executes a call of a line.
class host_functions::run {
 public:
  run(host_functions& at, node_t helper) : at_(at) {
    ++at_.running_;
    std::lock_guard guard(at_.mutex_);
    const helper_state* const state = at_.state_of(helper);
    if (state == nullptr) return;
    const auto found = state->lines.find(detail::own_context());
    if (found == state->lines.end()) return;
    self_ = found->second;
    current_line = self_.get();
  }
  run(const run&) = delete;
  run& operator=(const run&) = delete;
  ~run() {
    current_line = nullptr;
    --at_.running_;
  }

 private:
  host_functions& at_;
  std::shared_ptr<veos_handle> self_;  // also when the helper goes meanwhile
};

host_functions& host_functions::of_this_process() noexcept {
  if (host_functions* const one = only_one.load(std::memory_order_acquire)) return *one;
  auto* const fresh = new host_functions;  // never destroyed: calls may run until the very end
  host_functions* none = nullptr;
  if (only_one.compare_exchange_strong(none, fresh)) return *fresh;
  delete fresh;
  return *none;
}

void host_functions::forget_in_child() noexcept {
  only_one.store(nullptr);
  current_line = nullptr;
}

void host_functions::begin(node_t helper, veo_proc_handle& of) {
  std::lock_guard guard(mutex_);
  helpers_[helper].of = &of;
  this_host() = this;
}

host_functions::helper_state* host_functions::state_of(node_t helper) {
  const auto found = helpers_.find(helper);
  return found == helpers_.end() ? nullptr : &found->second;
}

void host_functions::end(node_t helper) {
  helper_state gone;
  {
    std::lock_guard guard(mutex_);
    const auto found = helpers_.find(helper);
    if (found == helpers_.end()) return;
    gone = std::move(found->second);
    helpers_.erase(found);
  }
  for (const auto& [context, self] : gone.lines) detail::end_own_context(self->here);
}

line_answer host_functions::open(const line& whose) {
  const offload::destination here = detail::open_own_context(0);
  std::lock_guard guard(mutex_);
  helper_state* const state = state_of(whose.helper);
  if (state == nullptr) {
    detail::end_own_context(here);
    throw call_error("no helper of this process is node " + std::to_string(whose.helper));
  }
  const offload::destination back(whose.helper, whose.back);
  const auto fresh = std::make_shared<veos_handle>(veos_handle{state->of, whose, here, back});
  state->lines[here.context] = fresh;
  return {here.context, reinterpret_cast<std::uintptr_t>(fresh.get())};
}

void host_functions::close(node_t helper, context_number at_host) {
  std::lock_guard guard(mutex_);
  helper_state* const state = state_of(helper);
  if (state == nullptr) return;
  const auto self = state->lines.find(at_host);
  if (self == state->lines.end()) return;
  detail::end_own_context(self->second->here);
  state->lines.erase(self);
}

host_answer host_functions::install(node_t helper, std::string_view path) {
  const run running(*this, helper);  // constructors may use libveo
  const std::string file(path);
  void* const loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* const why = ::dlerror();
    return failure(ENOENT, "cannot load the host's library " + file + ": " + (why == nullptr ? "" : why));
  }
  auto fresh = std::make_shared<library>(loaded, file);
  std::lock_guard guard(mutex_);
  helper_state* const state = state_of(helper);
  if (state == nullptr) return {ECONNRESET, 0, {}};
  state->libraries.emplace(++last_number_, std::move(fresh));
  return {0, last_number_, {}};
}

host_answer host_functions::uninstall(node_t helper, std::uint64_t library) {
  const run running(*this, helper);
  std::vector<function> dropped;  // a library's destructors run without the lock
  std::shared_ptr<host_functions::library> last;
  {
    std::lock_guard guard(mutex_);
    helper_state* const state = state_of(helper);
    const auto found = state == nullptr ? decltype(state->libraries)::iterator() : state->libraries.find(library);
    if (state == nullptr || found == state->libraries.end()) return unknown("library", library);
    last = std::move(found->second);
    state->libraries.erase(found);
    std::erase_if(state->functions, [&](auto& entry) {
      if (entry.second.handle != library) return false;
      dropped.push_back(std::move(entry.second));
      return true;
    });
  }
  return {0, 0, {}};
}

std::shared_ptr<host_functions::library> host_functions::wanted_library(node_t helper, std::uint64_t number) {
  std::lock_guard guard(mutex_);
  const helper_state* const state = state_of(helper);
  if (state == nullptr) return nullptr;
  const auto found = state->libraries.find(number);
  return found == state->libraries.end() ? nullptr : found->second;
}

host_answer host_functions::find(node_t helper, std::uint64_t library, std::string_view name) {
  std::shared_ptr<host_functions::library> in = wanted_library(helper, library);
  if (in == nullptr) return unknown("library", library);
  const std::string symbol(name);
  void* const address = ::dlsym(in->handle, symbol.c_str());
  if (address == nullptr) return failure(ENOENT, "the host's library " + in->path + " has no function " + symbol);
  std::lock_guard guard(mutex_);
  helper_state* const state = state_of(helper);
  if (state == nullptr || !state->libraries.contains(library)) return {EINVAL, 0, {}};  // meanwhile
  for (const auto& [number, one] : state->functions) {
    if (one.handle == library && one.address == address) return {0, number, {}};
  }
  state->functions.emplace(++last_number_, function{std::move(in), library, address});
  return {0, last_number_, {}};
}

host_functions::function host_functions::wanted(node_t helper, std::uint64_t number) {
  std::lock_guard guard(mutex_);
  const helper_state* const state = state_of(helper);
  if (state == nullptr) return {};
  const auto found = state->functions.find(number);
  return found == state->functions.end() ? function{} : found->second;
}

host_answer host_functions::invoke(node_t helper, std::uint64_t number, std::span<const std::byte> in,
                                   std::uint64_t out_bytes) {
  const function one = wanted(helper, number);
  if (one.address == nullptr) return unknown("function", number);
  if (out_bytes > detail::max_message()) {
    return failure(EIO, "a kernel wants " + std::to_string(out_bytes) +
                            " bytes from a function of the host, more than one message has (HAM_MAX_MESSAGE)");
  }
  const run running(*this, helper);
  using host_function = long (*)(veos_handle*, const void*, std::size_t, void*, std::size_t);
  std::vector<std::byte> out(out_bytes);
  const long result = reinterpret_cast<host_function>(one.address)(const_cast<veos_handle*>(current_line),
                                                                   in.empty() ? nullptr : in.data(), in.size(),
                                                                   out.empty() ? nullptr : out.data(), out.size());
  return {0, static_cast<std::uint64_t>(result), std::move(out)};
}

host_answer host_functions::call(node_t helper, std::uint64_t number, std::span<const std::byte> message) {
  const function one = wanted(helper, number);
  if (one.address == nullptr) return unknown("function", number);
  kernel_arguments arguments(message, detail::max_message());
  const run running(*this, helper);
  const std::uint64_t result = call_kernel(reinterpret_cast<std::uintptr_t>(one.address), arguments);
  return {0, result, arguments.returned()};
}

const veos_handle* calling_line() noexcept { return current_line; }

bool called_from(const veo_thr_ctxt& context) noexcept {
  if (current_line == nullptr || current_line->of != &context.of()) return false;
  const context_number caller = current_line->from.caller;
  return caller == any_context || caller == context.destination().context;
}

bool called_from(const veo_proc_handle& of) noexcept { return current_line != nullptr && current_line->of == &of; }

}  // namespace ham::veo
