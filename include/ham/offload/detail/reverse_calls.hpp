// What libveo needs of the runtime for calls from its helpers to their host. Internal; may change with every release.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/offload/destination.hpp"

namespace ham::inline v1::detail {

/// While one lives, what the calling thread waits for is received, but it begins no call of the main queue: these wait
/// for the function that it is in.
class only_receiving {
 public:
  only_receiving() noexcept;
  ~only_receiving();
  only_receiving(const only_receiving&) = delete;
  only_receiving& operator=(const only_receiving&) = delete;

 private:
  bool before_;
};

/// As runtime_options::progress_thread, from now on. Again: nothing. Throws std::system_error.
void start_progress_thread();

/// A context of the calling thread's own node, with the usual stack if `stack_bytes` is 0. Sends nothing, so it neither
/// waits nor lets other calls run. Throws ham::error, std::system_error.
[[nodiscard]] offload::destination open_own_context(std::size_t stack_bytes);
/// Its thread ends after what is queued there, which is not waited for. Unknown: nothing.
void end_own_context(const offload::destination& which) noexcept;
/// The context whose thread the calling one is; 0: none.
[[nodiscard]] std::uint32_t own_context() noexcept;

}  // namespace ham::detail
