// One version, one cipher, external pre-shared keys with an ephemeral exchange: no certificates, tickets or early data.
#include <openssl/err.h>

#include "base/settings.hpp"
#include "transport/tcp/tls_cipher.hpp"
#include "transport/tcp/tls_context_parts.hpp"

namespace ham::inline v1::transport::tcp {

std::string openssl_failure() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "the connection ended";
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "an error without a name";
}

std::string why_no_tls() { return {}; }

std::string tls_libraries(tls_records records) {
  const std::string handshake = std::string("OpenSSL ") + OpenSSL_version(OPENSSL_VERSION_STRING);
  const auto cipher = records == tls_records::ham ? make_cipher() : nullptr;
  if (cipher == nullptr || cipher->made_by().empty()) return handshake;
  return handshake + ", encrypted by " + cipher->made_by();
}

std::string why_log_refused(unsigned long openssl_version, const char* file) {
  constexpr unsigned long first_that_may_log = 0x30500000;  // 3.5, if it was built with enable-sslkeylog
  if (file == nullptr || *file == 0 || openssl_version < first_that_may_log) return {};
  return "OpenSSL might write their keys to " + std::string(file) + ", as SSLKEYLOGFILE asks";
}

tls_context::tls_context(tls_role role, const secret_key& key, const char* identity, tls_records records)
    : parts_(std::make_unique<parts>()) {
  parts_->key = key;
  parts_->identity = identity;
  parts_->role = role;
  parts_->records = records;
  if (const std::string why =
          why_log_refused(OpenSSL_version_num(), base::foreign_variable_unless_privileged("SSLKEYLOGFILE"));
      !why.empty()) {
    throw config_error("secure connections cannot be made (" + why + "); unset SSLKEYLOGFILE");
  }
  SSL_CTX* const context = SSL_CTX_new(role == tls_role::client ? TLS_client_method() : TLS_server_method());
  parts_->context = context;
  const bool usable = context != nullptr && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
                      SSL_CTX_set_ciphersuites(context, only_cipher) == 1 &&
                      SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
                      SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1 &&
                      SSL_CTX_set_block_padding(context, 0) == 1;  // HAM's records refuse padded ones
  if (!usable)
    throw config_error("OpenSSL refuses TLS 1.3 with " + std::string(only_cipher) + " (" + openssl_failure() +
                       "); check the installation and its policy");
  // What a configuration file has set does not count: it could allow handshakes without an ephemeral key, for example.
  SSL_CTX_clear_options(context, SSL_CTX_get_options(context));
  SSL_CTX_set_options(
      context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
  // Nobody is trusted by certificate: a server that shows one instead of knowing the key fails.
  SSL_CTX_set_verify(context, role == tls_role::client ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_app_data(context, parts_.get());
  SSL_CTX_set_keylog_callback(context, &tls_session::learn);
  if (role == tls_role::client)
    SSL_CTX_set_psk_use_session_callback(context, &parts::offer);
  else
    SSL_CTX_set_psk_find_session_callback(context, &parts::find);
}

tls_context::~tls_context() = default;

}  // namespace ham::transport::tcp
