// Lines to the host, one per thread, and who is going to need them.
#include "host_line.hpp"

#include <link.h>
#include <string.h>

#include <string_view>

#include "../requests.hpp"
#include "static_symbols.hpp"

namespace ham::inline v1::veo {
namespace {

constexpr node_t host = 0;
constexpr std::size_t stack_of_kernels = std::size_t{64} << 20;

/// Ends with its thread. Threads of contexts are not left to that, because the runtime may wait for them just then:
/// their contexts say before that they end (hang_up), and what is left ends with the process.
class thread_line {
 public:
  thread_line() = default;
  thread_line(const thread_line&) = delete;
  thread_line& operator=(const thread_line&) = delete;
  ~thread_line() {
    if (context_ == any_context && detail::own_context() == 0) drop();
  }

  const open_line& get() {
    if (there_) return *there_;
    if (!back_) back_ = detail::open_own_context(stack_of_kernels);
    const detail::only_receiving waiting;
    const auto [context, handle] =
        offload::sync(host, open_line_request, offload::this_node(), context_, back_->context);
    return there_.emplace(open_line{offload::destination(host, context), handle});
  }
  void drop() noexcept {
    if (back_) end(*back_);
    try {
      if (there_) offload::ping(host, close_line_request, offload::this_node(), there_->to.context);
    } catch (const std::exception&) {
      // No host: nothing is left to be closed.
    }
    there_.reset();
    back_.reset();
  }
  void belong_to(context_number context) noexcept { context_ = context; }

 private:
  /// Its thread has a line of its own if kernels that functions of the host have had called there called the host.
  static void end(const offload::destination& back) noexcept {
    try {
      const detail::only_receiving waiting;
      offload::sync(back, end_context_request);
    } catch (const std::exception&) {
      // The runtime ends, and its threads with it.
    }
    detail::end_own_context(back);
  }

  context_number context_ = any_context;
  std::optional<open_line> there_;
  std::optional<offload::destination> back_;  ///< where host functions have requests of theirs executed
};

thread_local thread_line own;

/// Whether the names that an object imports or exports include VHcall's.
bool names_vhcall(const dl_phdr_info& object) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);  // NOLINT: the loader's
  }
  ElfW(Addr) names = 0;
  std::size_t bytes = 0;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
  }
  if (names == 0) return false;
  if (names < object.dlpi_addr) names += object.dlpi_addr;  // the loader has left it relative
  constexpr std::string_view wanted("vhcall_install");
  return ::memmem(reinterpret_cast<const void*>(names), bytes, wanted.data(), wanted.size()) != nullptr;  // NOLINT
}

}  // namespace

const open_line& own_line() { return own.get(); }
void belong_to(context_number context) noexcept { own.belong_to(context); }
void hang_up() noexcept { own.drop(); }

bool calls_host() noexcept {
  if (&ham_veo_static_calls_host != nullptr && ham_veo_static_calls_host != 0) return true;
  struct search {
    bool program = true;  // comes first, and has the functions themselves
    bool found = false;
  } state;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& at = *static_cast<search*>(data);
        if (!std::exchange(at.program, false)) at.found = names_vhcall(*info);
        return static_cast<int>(at.found);
      },
      &state);
  return state.found;
}

}  // namespace ham::veo
