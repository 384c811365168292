// Data, new keys and the end: nothing else comes behind a handshake (docs/decisions/0007-tls-records.md).
#include "transport/tcp/tls_own_records.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::size_t worth_it = 2048;  // opened straight into the caller's memory
constexpr std::byte key_update{24};     // a message of a handshake
constexpr std::byte update_requested{1};

}  // namespace

// ---- what is written

/// Where a record with so much content goes; nullptr: the connection broke.
std::byte* tls_own_records::place(std::size_t content) {
  const std::size_t needed = content + record_overhead;
  if (!wire_.own.socket.attached()) {
    std::vector<std::byte>& out = wire_.bytes.out;
    const std::size_t before = out.size();
    out.resize(before + needed);
    return out.data() + before;
  }
  if (!wire_.own.make_room(needed)) return nullptr;
  wire_.own.size += needed;
  return wire_.own.out.data() + wire_.own.size - needed;
}

bool tls_own_records::put(std::span<const std::byte> content, content_type type) {
  std::byte* const at = place(content.size());
  return at != nullptr && sealing_.seal(content, type, at);
}

bool tls_own_records::write(std::span<const std::byte> plain) {
  if (said_) return false;
  while (!plain.empty()) {
    const std::size_t piece = wire_.next_piece(plain.size());
    const bool asked = update_due_.load(std::memory_order_relaxed) && update_due_.exchange(false);
    if ((asked || sealing_.worn()) && !renew()) return false;
    if (piece == 0 || !put(plain.first(piece), content_type::data)) return false;
    plain = plain.subspan(piece);
  }
  return true;
}

/// New keys for what follows (RFC 8446, 4.6.3); the peer need not change its own.
bool tls_own_records::renew() {
  constexpr std::byte update[] = {key_update, std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}};
  return put(update, content_type::handshake) && sealing_.update();
}

/// The last record, as far as it can be sent without waiting.
void tls_own_records::end() {
  if (said_) return;
  const tls_alert what = last_word_;
  const std::byte warning{1};
  const std::byte fatal{2};
  const std::byte alert[] = {what == tls_alert::close_notify ? warning : fatal, static_cast<std::byte>(what)};
  if (!wire_.own.socket.attached()) {
    said_ = true;
    static_cast<void>(put(alert, content_type::alert));
    return;
  }
  if (wire_.own.size != 0) return;  // a record may be half gone
  said_ = true;
  std::array<std::byte, sizeof alert + record_overhead> record;  // NOLINT: seal fills it
  if (sealing_.seal(alert, content_type::alert, record.data())) wire_.own.socket.send_now(record);
}

// ---- what is read

/// Content is at the begin of what waits; the record's tail follows.
long tls_own_records::hand_out(std::span<std::byte> into) noexcept {
  const std::size_t count = std::min(into.size(), opened_);
  if (count != 0) std::memcpy(into.data(), wire_.bytes.waiting().data(), count);
  opened_ -= count;
  wire_.bytes.begin += count + (opened_ == 0 ? record_tail_bytes : 0);
  return static_cast<long>(count);
}

long tls_own_records::refuse_head(record_head::status what) {
  if (what == record_head::status::too_long) return fail("a record too long", tls_alert::record_overflow);
  return fail("wrong version number", tls_alert::unexpected_message);
}

long tls_own_records::open_one(std::span<std::byte> record, std::span<std::byte> into) {
  const std::size_t content = record.size() - record_overhead;
  const bool straight = content >= worth_it && content <= into.size();
  content_type type{};
  if (opening_.overdue()) return fail("too many records with one key", tls_alert::unexpected_message);
  if (!opening_.open(record, straight ? into.data() : nullptr, type)) {
    return fail("bad record mac", tls_alert::bad_record_mac);
  }
  const bool with_data = type == content_type::data && content != 0;
  if (type == content_type::data) {
    wire_.bytes.begin += straight ? record.size() : record_head_bytes;
    if (!straight) opened_ = content;
    if (content == 0) wire_.bytes.begin += record_tail_bytes;
  } else {
    wire_.bytes.begin += record.size();
    const std::byte* const at = straight ? into.data() : record.data() + record_head_bytes;
    if (const long result = control({at, content}, type); result != 0) return result;
  }
  if (const long result = count_record(with_data); result != 0 || !with_data) return result;
  return straight ? static_cast<long>(content) : hand_out(into);
}

/// What is not data: new keys or the end.
long tls_own_records::control(std::span<const std::byte> content, content_type type) {
  if (type == content_type::handshake) return follow_update(content);
  if (type != content_type::alert) return fail("a record that does not belong here", tls_alert::unexpected_message);
  if (content.size() != 2) return fail("an alert of a wrong size", tls_alert::decode_error);
  const auto what = static_cast<tls_alert>(content[1]);
  peer_ended_ = what == tls_alert::close_notify;
  if (peer_ended_) return fail("the connection ended", tls_alert::close_notify);
  return fail(std::string("the peer ended it: ") + name_of(what) + " (" + std::to_string(static_cast<int>(what)) + ")",
              tls_alert::close_notify);
}

long tls_own_records::follow_update(std::span<const std::byte> message) {
  const bool is_update = message.size() >= 4 && message[0] == key_update;
  if (!is_update) return fail("a message of a handshake behind it", tls_alert::unexpected_message);
  const bool whole =
      message.size() == 5 && message[1] == std::byte{0} && message[2] == std::byte{0} && message[3] == std::byte{1};
  if (!whole) return fail("an announcement of new keys of a wrong size", tls_alert::decode_error);
  if (message[4] > update_requested) return fail("a key update of an unknown kind", tls_alert::illegal_parameter);
  if (!opening_.update()) return fail("OpenSSL makes no new keys", tls_alert::close_notify);
  if (message[4] == update_requested) update_due_.store(true, std::memory_order_relaxed);
  return 0;
}

}  // namespace ham::transport::tcp
