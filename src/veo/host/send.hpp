// Makes senders (context.hpp) of requests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "context.hpp"

namespace ham::inline v1::veo {

template <class T>
[[nodiscard]] const T& as_sent(const T& value) noexcept {
  return value;
}
[[nodiscard]] inline std::string_view as_sent(const std::string& text) noexcept { return text; }
[[nodiscard]] inline std::span<const std::byte> as_sent(const std::vector<std::byte>& bytes) noexcept { return bytes; }

/// A sender that keeps its arguments.
template <class Request, class... Args>
[[nodiscard]] auto sending(Request what, Args... args) {
  return [what, ... args = std::move(args)](const offload::destination& to, unseen_count unseen,
                                            blocking how) -> std::optional<offload::future<answer>> {
    if (how == blocking::none) return offload::try_async(to, what, unseen, as_sent(args)...);
    return offload::async(to, what, unseen, as_sent(args)...);
  };
}

}  // namespace ham::veo
