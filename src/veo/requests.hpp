// The active messages from a host with libveo to its helpers. Both sides contain all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "ham/offload.hpp"

namespace ham::inline v1::veo {

enum class outcome : std::uint32_t {
  done,
  refused,  ///< an address that is none, a library that is unknown
  crashed   ///< the value is the number of the signal; the helper ends
};

/// What every request answers: how it went, its 64-bit result, and bytes for the host's buffers.
using answer = std::tuple<outcome, std::uint64_t, std::vector<std::byte>>;

/// Requests that the host has seen to by itself since it last sent one: veo_prev_req_result counts them.
using unseen_count = std::uint32_t;

/// What a helper can do. The main context's requests run on its initial thread, each other context's on its own.
class helper_side {
 public:
  helper_side() = default;
  helper_side(const helper_side&) = delete;
  helper_side& operator=(const helper_side&) = delete;
  virtual ~helper_side() = default;

  virtual answer call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> arguments) = 0;
  virtual answer allocate(unseen_count unseen, std::uint64_t bytes) = 0;
  virtual answer release(unseen_count unseen, std::uint64_t address) = 0;
  virtual answer store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual answer load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes) = 0;
  virtual answer copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) = 0;
  /// A word in the bytes says whether libraries that are loaded now call functions of the host.
  virtual answer load_library(unseen_count unseen, std::string_view path) = 0;
  virtual answer unload_library(unseen_count unseen, std::uint64_t library) = 0;
  virtual answer symbol(unseen_count unseen, std::uint64_t library, std::string_view name) = 0;
  /// Frees the area at `old` and gives one of zeros; 0: none. No request of a client: history does not know it.
  virtual answer area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes) = 0;
  /// Three words in the bytes: where the host can try whether it reaches this memory, what it finds there, and whether
  /// kernels that were linked in call functions of the host.
  virtual answer probe() = 0;
  /// On the thread of a context: its number; that it is about to end.
  virtual answer begin_context(std::uint32_t number) = 0;
  virtual answer end_context() = 0;
};

/// Set in helpers, before their runtime starts. Requests to any other process are an error.
[[nodiscard]] helper_side*& this_helper() noexcept;

namespace request {

answer call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> arguments);
answer allocate(unseen_count unseen, std::uint64_t bytes);
answer release(unseen_count unseen, std::uint64_t address);
answer store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes);
answer load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes);
answer copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
answer load_library(unseen_count unseen, std::string_view path);
answer unload_library(unseen_count unseen, std::uint64_t library);
answer symbol(unseen_count unseen, std::uint64_t library, std::string_view name);
answer area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes);
answer probe();
answer begin_context(std::uint32_t number);
answer end_context();
answer nothing();

}  // namespace request

inline constexpr auto call_request = named<"veo/call">(fn<&request::call>);
inline constexpr auto allocate_request = named<"veo/allocate">(fn<&request::allocate>);
inline constexpr auto release_request = named<"veo/release">(fn<&request::release>);
inline constexpr auto store_request = named<"veo/store">(fn<&request::store>);
inline constexpr auto load_request = named<"veo/load">(fn<&request::load>);
inline constexpr auto copy_request = named<"veo/copy">(fn<&request::copy>);
inline constexpr auto load_library_request = named<"veo/load_library">(fn<&request::load_library>);
inline constexpr auto unload_library_request = named<"veo/unload_library">(fn<&request::unload_library>);
inline constexpr auto symbol_request = named<"veo/symbol">(fn<&request::symbol>);
inline constexpr auto area_request = named<"veo/area">(fn<&request::area>);
inline constexpr auto probe_request = named<"veo/probe">(fn<&request::probe>);
inline constexpr auto begin_context_request = named<"veo/begin_context">(fn<&request::begin_context>);
inline constexpr auto end_context_request = named<"veo/end_context">(fn<&request::end_context>);
inline constexpr auto nothing_request = named<"veo/nothing">(fn<&request::nothing>);

}  // namespace ham::veo
