// Hands requests to the helper of this process.
#include "requests.hpp"

namespace ham::inline v1::veo {
namespace {

helper_side& helper() {
  if (this_helper() == nullptr) throw call_error("this process is no VEO helper; requests go to aveorun");
  return *this_helper();
}

/// A helper calls none of them itself.
[[maybe_unused]] const bool offered =
    offload::offer(call_request) && offload::offer(allocate_request) && offload::offer(release_request) &&
    offload::offer(store_request) && offload::offer(load_request) && offload::offer(copy_request) &&
    offload::offer(load_library_request) && offload::offer(unload_library_request) && offload::offer(symbol_request) &&
    offload::offer(area_request) && offload::offer(probe_request) && offload::offer(begin_context_request) &&
    offload::offer(end_context_request) && offload::offer(nothing_request);

}  // namespace

helper_side*& this_helper() noexcept {
  static helper_side* one = nullptr;
  return one;
}

namespace request {

answer call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> arguments) {
  return helper().call(unseen, kernel, arguments);
}
answer allocate(unseen_count unseen, std::uint64_t bytes) { return helper().allocate(unseen, bytes); }
answer release(unseen_count unseen, std::uint64_t address) { return helper().release(unseen, address); }
answer store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes) {
  return helper().store(unseen, address, bytes);
}
answer load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes) {
  return helper().load(unseen, address, bytes);
}
answer copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  return helper().copy(unseen, to, from, bytes);
}
answer load_library(unseen_count unseen, std::string_view path) { return helper().load_library(unseen, path); }
answer unload_library(unseen_count unseen, std::uint64_t library) { return helper().unload_library(unseen, library); }
answer symbol(unseen_count unseen, std::uint64_t library, std::string_view name) {
  return helper().symbol(unseen, library, name);
}
answer area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes) { return helper().area(unseen, old, bytes); }
answer probe() { return helper().probe(); }
answer begin_context(std::uint32_t number) { return helper().begin_context(number); }
answer end_context() { return helper().end_context(); }
answer nothing() { return {}; }

}  // namespace request
}  // namespace ham::veo
