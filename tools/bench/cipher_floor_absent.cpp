// Stands in for cipher_floor.cpp where OpenSSL is not installed.
#include "cipher_floor.hpp"

#include <stdexcept>

namespace ham::inline v1::bench {

namespace {

[[noreturn]] void refuse() { throw std::logic_error("built without OpenSSL"); }

}  // namespace

bool cipher_available() noexcept { return false; }

double aes_256_gcm_ns(std::span<const std::byte>) { refuse(); }

void sealed_stream::send(std::span<const std::byte>) const { refuse(); }
void sealed_stream::receive(std::span<std::byte>) const { refuse(); }

struct tls_stream::parts {};
tls_stream::tls_stream(int, side) { refuse(); }
tls_stream::~tls_stream() = default;
void tls_stream::send(std::span<const std::byte>) const { refuse(); }
void tls_stream::receive(std::span<std::byte>) const { refuse(); }

}  // namespace ham::bench
