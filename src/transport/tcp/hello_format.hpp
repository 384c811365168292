// The first words on every connection, inside TLS where there is any (docs/wire-format.md). Pure functions over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ham/error.hpp"
#include "transport/network.hpp"
#include "transport/tcp/bytes.hpp"

namespace ham::inline v1::transport::tcp {

using job_id = std::array<std::byte, 16>;

enum class purpose : std::uint8_t {
  invite = 1,         ///< be node `to` of my job
  reach = 2,          ///< we are nodes of one job
  bulk = 3,           ///< I ask for memory accesses on this connection
  bulk_reversed = 4,  ///< you ask for memory accesses on this connection
};

inline constexpr std::uint8_t has_memory = 1;  ///< flag: this node lets peers access its memory
inline constexpr std::uint16_t hello_version = 1;
inline constexpr std::uint32_t hello_magic = 0x544d4148;    // "HAMT"
inline constexpr std::uint32_t welcome_magic = 0x574d4148;  // "HAMW"
inline constexpr std::uint32_t max_nodes = 1U << 20;

/// Of the side that connected.
struct hello {
  purpose what = purpose::invite;
  std::uint8_t flags = 0;
  std::uint16_t port = 0;  ///< where it listens itself, at the address it comes from; 0: nowhere
  node_t from = 0;
  node_t to = 0;
  std::uint64_t nonce = 0;  ///< comes back in the welcome
  job_id job{};
  secret_key job_key;  ///< in an invitation inside TLS; else zeros

  static constexpr std::size_t bytes = 80;
};

enum class verdict : std::uint8_t {
  accepted = 0,
  wrong_job = 1,    ///< not a node of that job
  crossed = 2,      ///< we are connecting to you already
  not_now = 3,      ///< that node is unknown here, or was lost
  not_offered = 4,  ///< this process does not do that
  busy = 5,         ///< another host came first; come again
  full = 6,         ///< it serves as many jobs as it may
};

/// The answer.
struct welcome {
  verdict answer = verdict::accepted;
  std::uint8_t flags = 0;
  std::uint16_t port = 0;   ///< where this side listens, at the address that was connected to; 0: nowhere
  std::uint32_t epoch = 0;  ///< of the frames of this connection
  std::uint64_t nonce = 0;

  static constexpr std::size_t bytes = 24;
};

inline void store_hello(std::byte* to, const hello& what) noexcept {
  store(to, hello_magic);
  store(to + 4, hello_version);
  to[6] = static_cast<std::byte>(what.what);
  to[7] = static_cast<std::byte>(what.flags);
  for (std::size_t i = 0; i < 16; ++i) to[8 + i] = what.job[i];
  store(to + 24, static_cast<std::uint32_t>(what.from));
  store(to + 28, static_cast<std::uint32_t>(what.to));
  store(to + 32, what.nonce);
  store(to + 40, what.port);
  for (std::size_t i = 42; i < 48; ++i) to[i] = std::byte{0};
  for (std::size_t i = 0; i < 32; ++i) to[48 + i] = what.job_key[i];
}

/// nullptr, or what is wrong with it.
[[nodiscard]] inline const char* read_hello(std::span<const std::byte, hello::bytes> from, hello& out) noexcept {
  if (load<std::uint32_t>(from.data()) != hello_magic) return "it does not speak HAM's protocol";
  if (load<std::uint16_t>(from.data() + 4) != hello_version) {
    return "it speaks another version of the protocol; build both from the same release";
  }
  const auto what = static_cast<std::uint8_t>(from[6]);
  if (what < 1 || what > 4) return "it asks for something that does not exist";
  out.what = static_cast<purpose>(what);
  out.flags = static_cast<std::uint8_t>(from[7]);
  if (out.flags > has_memory) return "its greeting has unknown flags";
  for (std::size_t i = 0; i < 16; ++i) out.job[i] = from[8 + i];
  const auto sender = load<std::uint32_t>(from.data() + 24);
  const auto receiver = load<std::uint32_t>(from.data() + 28);
  if (sender >= max_nodes || receiver >= max_nodes || sender == receiver) return "its node numbers cannot be";
  out.from = static_cast<node_t>(sender);
  out.to = static_cast<node_t>(receiver);
  out.nonce = load<std::uint64_t>(from.data() + 32);
  out.port = load<std::uint16_t>(from.data() + 40);
  for (std::size_t i = 42; i < 48; ++i) {
    if (from[i] != std::byte{0}) return "its greeting has unknown fields";
  }
  for (std::size_t i = 0; i < 32; ++i) out.job_key[i] = from[48 + i];
  return nullptr;
}

inline void store_welcome(std::byte* to, const welcome& what) noexcept {
  store(to, welcome_magic);
  store(to + 4, hello_version);
  to[6] = static_cast<std::byte>(what.answer);
  to[7] = static_cast<std::byte>(what.flags);
  store(to + 8, what.nonce);
  store(to + 16, what.epoch);
  store(to + 20, what.port);
  to[22] = to[23] = std::byte{0};
}

/// nullptr, or what is wrong with it.
[[nodiscard]] inline const char* read_welcome(std::span<const std::byte, welcome::bytes> from, std::uint64_t nonce,
                                              welcome& out) noexcept {
  if (load<std::uint32_t>(from.data()) != welcome_magic) return "it does not speak HAM's protocol";
  if (load<std::uint16_t>(from.data() + 4) != hello_version) {
    return "it speaks another version of the protocol; build both from the same release";
  }
  const auto answer = static_cast<std::uint8_t>(from[6]);
  if (answer > static_cast<std::uint8_t>(verdict::full)) return "its answer does not exist";
  out.answer = static_cast<verdict>(answer);
  out.flags = static_cast<std::uint8_t>(from[7]);
  out.nonce = load<std::uint64_t>(from.data() + 8);
  if (out.nonce != nonce) return "it answers another greeting";
  out.epoch = load<std::uint32_t>(from.data() + 16);
  out.port = load<std::uint16_t>(from.data() + 20);
  if (out.flags > has_memory || from[22] != std::byte{0} || from[23] != std::byte{0}) {
    return "its answer has unknown fields";
  }
  return nullptr;
}

}  // namespace ham::transport::tcp
