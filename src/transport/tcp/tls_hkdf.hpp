// HKDF with SHA-384 (RFC 5869), and its use by TLS 1.3 (RFC 8446, section 7.1).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "transport/tcp/hello_format.hpp"

namespace ham::inline v1::transport::tcp {

/// A secret of the length of the hash.
using hash_secret = std::array<unsigned char, 48>;

/// HKDF-Extract. False: OpenSSL cannot.
[[nodiscard]] bool hkdf_extract(std::span<const unsigned char> salt, std::span<const unsigned char> from,
                                hash_secret& to);
/// HKDF-Expand for results of one block. False: OpenSSL cannot.
[[nodiscard]] bool hkdf_expand(const hash_secret& from, std::string_view info, std::span<unsigned char> to);
/// What HKDF-Expand-Label has HKDF-Expand mix in: HkdfLabel, at the begin of `to`.
[[nodiscard]] std::string_view hkdf_label(std::size_t result_bytes, std::string_view label,
                                          std::span<const unsigned char> context, std::span<char, 100> to);
/// HKDF-Expand-Label for results of one block. False: OpenSSL cannot.
[[nodiscard]] bool hkdf_expand_label(const hash_secret& from, std::string_view label, std::span<unsigned char> to,
                                     std::span<const unsigned char> context = {});

/// The traffic secret that follows (section 7.2). False: OpenSSL cannot; then nothing has changed.
[[nodiscard]] bool next_traffic_secret(hash_secret& secret);

/// The job that a key stands for: says nothing about the key to who cannot guess it. Throws ham::config_error where
/// there is no OpenSSL.
[[nodiscard]] job_id derive_job_id(const secret_key& key);

}  // namespace ham::transport::tcp
