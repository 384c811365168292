// Records of application data in TLS 1.3 (RFC 8446, sections 5 and 7), for the one cipher that sessions agree on:
// between the caller's memory and the wire's without a copy, and without the price of a general library per record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/tcp/tls_cipher.hpp"
#include "transport/tcp/tls_hkdf.hpp"

namespace ham::inline v1::transport::tcp {

inline constexpr std::size_t record_head_bytes = 5;
inline constexpr std::size_t largest_content = 16384;
/// Behind the content: its type, and the tag.
inline constexpr std::size_t record_tail_bytes = 1 + tag_bytes;
inline constexpr std::size_t record_overhead = record_head_bytes + record_tail_bytes;

enum class content_type : std::uint8_t { alert = 21, handshake = 22, data = 23 };

/// Records under one key, in their order (section 5.2). Wiped when it goes.
class record_protection {
 public:
  record_protection() = default;
  ~record_protection();
  record_protection(const record_protection&) = delete;
  record_protection& operator=(const record_protection&) = delete;

  /// From record 0 on, with a cipher that has its key.
  void begin(std::unique_ptr<tls_cipher> cipher, const cipher_nonce& iv);
  /// From record 0 on, with another key. False: the cipher's library cannot.
  [[nodiscard]] bool go_on(const cipher_key& key, const cipher_nonce& iv);
  /// Records so far.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // As the functions of record_keys of these names.
  [[nodiscard]] bool seal(std::span<const std::byte> content, content_type type, std::byte* to);
  [[nodiscard]] bool open(std::span<std::byte> record, std::byte* to, content_type& type);

 private:
  [[nodiscard]] cipher_nonce next_nonce() noexcept;

  std::unique_ptr<tls_cipher> cipher_;
  cipher_nonce iv_{};
  std::uint64_t count_ = 0;
};

/// Keys of one direction of a session, and how many records they have protected. Wiped when it goes.
class record_keys {
 public:
  using secret = hash_secret;
  /// `limit`: records that one key may protect (section 5.5).
  explicit record_keys(std::uint64_t limit) noexcept : limit_(limit) {}
  ~record_keys();
  record_keys(const record_keys&) = delete;
  record_keys& operator=(const record_keys&) = delete;

  /// Begins with the traffic secret of the handshake. False: OpenSSL cannot.
  [[nodiscard]] bool begin(const secret& first);
  /// Goes on with the secret that follows, from record 0 (section 7.2).
  [[nodiscard]] bool update();
  /// The next record is one too many for these keys (section 5.5).
  [[nodiscard]] bool worn() const noexcept { return records_.count() >= limit_; }
  /// A peer that keeps to the limit has announced new keys by now, with the record behind its last one.
  [[nodiscard]] bool overdue() const noexcept { return records_.count() > limit_; }

  /// A record of `content` at `to`, record_overhead bytes longer. False: OpenSSL cannot.
  [[nodiscard]] bool seal(std::span<const std::byte> content, content_type type, std::byte* to) {
    return records_.seal(content, type, to);
  }
  /// Opens a whole record at `record`. Its content goes to `to`, or stays where it is behind the head (nullptr). False:
  /// it is not the record that was to come; then nothing of it is at `to`.
  [[nodiscard]] bool open(std::span<std::byte> record, std::byte* to, content_type& type) {
    return records_.open(record, to, type);
  }

 private:
  [[nodiscard]] bool use_secret();

  record_protection records_;
  secret secret_{};
  std::uint64_t limit_;
};

/// Where a record begins.
struct record_head {
  enum class status : std::uint8_t { incomplete, whole, too_long, wrong } is = status::incomplete;
  std::size_t bytes = 0;  ///< of all of the record, once its head is there
};
[[nodiscard]] record_head read_record_head(std::span<const std::byte> bytes) noexcept;

}  // namespace ham::transport::tcp
