// Which record comes next, and what is refused before it is opened.
#include "transport/tcp/tls_record_layer.hpp"

#include <algorithm>
#include <utility>

namespace ham::inline v1::transport::tcp {
namespace {
constexpr unsigned max_without_data = 32;  // records in a row
}  // namespace

std::size_t tls_wire::next_piece(std::size_t content) {
  if (!own.socket.attached()) return std::min(content, largest_content);
  if (!own.make_room(std::min(content, own.max_content) + record_overhead)) return 0;
  if (own.size == 0) own.begin();
  return std::min(content, own.max_content);
}

long tls_record_layer::read(std::span<std::byte> into) {
  if (into.empty()) return 0;
  if (!failure_.empty()) return -1;
  if (opened_ != 0) return hand_out(into);
  for (;;) {
    const std::span<std::byte> waiting = wire_.bytes.waiting();
    const record_head next = read_record_head(waiting);
    switch (next.is) {
      case record_head::status::wrong:
      case record_head::status::too_long: return refuse_head(next.is);
      case record_head::status::whole:
        if (const long got = open_one(waiting.first(next.bytes), into); got != 0) return got;
        continue;
      case record_head::status::incomplete: break;
    }
    if (!wire_.own.socket.attached()) return 0;
    if (!wire_.own.receive(wire_.bytes, patient_socket::how_to_wait_for(into)))
      return fail("the connection ended", tls_alert::close_notify);
  }
}

bool tls_record_layer::has_input() noexcept {
  return opened_ != 0 || read_record_head(wire_.bytes.waiting()).is != record_head::status::incomplete;
}

long tls_record_layer::fail(std::string why, tls_alert told) {
  failure_ = std::move(why);
  last_word_ = told;
  return -1;
}

long tls_record_layer::count_record(bool with_data) {
  without_data_ = with_data ? 0 : without_data_ + 1;
  return without_data_ <= max_without_data ? 0 : fail("only records without data", tls_alert::unexpected_message);
}

}  // namespace ham::transport::tcp
