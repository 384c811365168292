// Stands in for tls_cipher_ipsec_mb.cpp where that library is not installed.
#include "transport/tcp/tls_cipher.hpp"

namespace ham::inline v1::transport::tcp {

std::unique_ptr<tls_cipher> make_ipsec_mb_cipher() { return nullptr; }

}  // namespace ham::transport::tcp
