// Stands in for tls_session.cpp where OpenSSL was not there at build time.
#include "transport/tcp/tls_hkdf.hpp"
#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp {

struct tls_context::parts {};
struct tls_session::parts {
  std::vector<std::byte> nothing;
};

std::string why_no_tls() {
  return "the tcp module was built without OpenSSL; install its development files (Debian: libssl-dev) and build again";
}
std::string tls_libraries(tls_records) { return {}; }
std::string why_log_refused(unsigned long, const char*) { return {}; }
job_id derive_job_id(const secret_key&) { throw config_error("keys cannot be used (" + why_no_tls() + ")"); }

tls_context::tls_context(tls_role, const secret_key&, const char*, tls_records) {
  throw config_error("secure connections cannot be made (" + why_no_tls() + ")");
}
tls_context::~tls_context() = default;

tls_session::tls_session(std::shared_ptr<const tls_context>, std::uint64_t) : parts_(std::make_unique<parts>()) {}
tls_session::~tls_session() = default;
tls_session::status tls_session::shake_hands() { return status::failed; }
bool tls_session::write(std::span<const std::byte>) { return false; }
bool tls_session::renew() { return false; }
void tls_session::end() {}
bool tls_session::ended() const noexcept { return false; }
bool tls_session::send_rest() { return false; }
long tls_session::read(std::span<std::byte>) { return -1; }
void tls_session::wipe_read() noexcept {}
std::span<std::byte> tls_session::input_room(std::size_t) { return {}; }
void tls_session::feed(std::size_t) noexcept {}
bool tls_session::has_input() const noexcept { return false; }
std::vector<std::byte>& tls_session::output() noexcept { return parts_->nothing; }
void tls_session::attach(int) {}
std::string tls_session::failure() const { return why_no_tls(); }

}  // namespace ham::transport::tcp
