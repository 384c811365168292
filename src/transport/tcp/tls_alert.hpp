// What one side of a TLS connection tells the other at its end (RFC 8446, section 6).
#pragma once

#include <cstdint>

namespace ham::inline v1::transport::tcp {

enum class tls_alert : std::uint8_t {
  close_notify = 0,
  unexpected_message = 10,
  bad_record_mac = 20,
  record_overflow = 22,
  handshake_failure = 40,
  illegal_parameter = 47,
  decode_error = 50,
};

/// For people.
[[nodiscard]] constexpr const char* name_of(tls_alert what) noexcept {
  switch (what) {
    case tls_alert::close_notify: return "close_notify";
    case tls_alert::unexpected_message: return "unexpected_message";
    case tls_alert::bad_record_mac: return "bad_record_mac";
    case tls_alert::record_overflow: return "record_overflow";
    case tls_alert::handshake_failure: return "handshake_failure";
    case tls_alert::illegal_parameter: return "illegal_parameter";
    case tls_alert::decode_error: return "decode_error";
  }
  return "another alert";
}

}  // namespace ham::transport::tcp
