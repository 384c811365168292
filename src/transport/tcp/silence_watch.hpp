// Whether the peer's machine is still there: by the kernel's own limit, or by looking whether acknowledgements arrive.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::transport::tcp {

/// Not thread-safe. The kernel's limit on silence would take a peer that reads nothing for a while for a cut link. So
/// it only serves while little is under way; else check() does.
class silence_watch {
 public:
  struct outcome {
    bool cut;               ///< nobody answers any more
    std::int64_t after_ns;  ///< when to look again; base::never_ns: not before sent() asks for it
  };

  silence_watch(int socket, std::chrono::milliseconds timeout);

  /// The kernel's limit holds. While it does, sent() counts what is under way.
  [[nodiscard]] bool limited() const noexcept { return limited_; }
  /// `bytes` have gone; `all_taken`: the peer had taken every frame before. True: check() must be called soon.
  [[nodiscard]] bool sent(int socket, std::size_t bytes, bool all_taken) noexcept;
  /// `idle`: no frame waits here.
  [[nodiscard]] outcome check(int socket, bool idle) noexcept;

 private:
  const std::chrono::milliseconds timeout_;
  bool limited_ = true;
  std::size_t under_way_ = 0;
};

}  // namespace ham::transport::tcp
