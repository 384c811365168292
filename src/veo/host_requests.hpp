// The active messages from a helper to its host (VHcall). Both sides contain all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "ham/offload.hpp"

namespace ham::inline v1::veo {

/// What every request answers: 0 or an errno, its 64-bit result, and bytes for the kernel's buffers.
using host_answer = std::tuple<std::int32_t, std::uint64_t, std::vector<std::byte>>;

/// A context of a helper's node by number; 0 is its main queue.
using context_number = std::uint32_t;
/// Of a thread that a kernel has started: it may be any context's that waits for it.
inline constexpr context_number any_context = UINT32_MAX;

/// A line is what one thread of a helper calls through: a thread of the host executes its calls.
struct line {
  node_t helper = -1;
  context_number caller = any_context;  ///< whose requests wait for the calls of this line
  context_number back = 0;              ///< where the helper executes what host functions ask of it
};

/// Where the line's calls go on the host, and the address of the veos_handle there.
using line_answer = std::tuple<context_number, std::uint64_t>;

/// What a host does for kernels. All but open run on the thread of a line.
class host_side {
 public:
  host_side() = default;
  host_side(const host_side&) = delete;
  host_side& operator=(const host_side&) = delete;
  virtual ~host_side() = default;

  /// Any thread, also within a call of libveo.
  virtual line_answer open(const line& whose) = 0;
  virtual void close(node_t helper, context_number at_host) = 0;
  virtual host_answer install(node_t helper, std::string_view path) = 0;
  virtual host_answer uninstall(node_t helper, std::uint64_t library) = 0;
  virtual host_answer find(node_t helper, std::uint64_t library, std::string_view name) = 0;
  virtual host_answer invoke(node_t helper, std::uint64_t function, std::span<const std::byte> in,
                             std::uint64_t out_bytes) = 0;
  virtual host_answer call(node_t helper, std::uint64_t function, std::span<const std::byte> arguments) = 0;
};

/// Set in programs with libveo, before their first helper starts. Requests to any other process are an error.
[[nodiscard]] host_side*& this_host() noexcept;

namespace host_request {

line_answer open(node_t helper, context_number caller, context_number back);
void close(node_t helper, context_number at_host);
host_answer install(node_t helper, std::string_view path);
host_answer uninstall(node_t helper, std::uint64_t library);
host_answer find(node_t helper, std::uint64_t library, std::string_view name);
host_answer invoke(node_t helper, std::uint64_t function, std::span<const std::byte> in, std::uint64_t out_bytes);
host_answer call(node_t helper, std::uint64_t function, std::span<const std::byte> arguments);

}  // namespace host_request

inline constexpr auto open_line_request = named<"veo/vh_open">(fn<&host_request::open>);
inline constexpr auto close_line_request = named<"veo/vh_close">(fn<&host_request::close>);
inline constexpr auto install_request = named<"veo/vh_install">(fn<&host_request::install>);
inline constexpr auto uninstall_request = named<"veo/vh_uninstall">(fn<&host_request::uninstall>);
inline constexpr auto find_request = named<"veo/vh_find">(fn<&host_request::find>);
inline constexpr auto invoke_request = named<"veo/vh_invoke">(fn<&host_request::invoke>);
inline constexpr auto host_call_request = named<"veo/vh_call">(fn<&host_request::call>);

}  // namespace ham::veo
