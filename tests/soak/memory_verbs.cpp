// Calls behind transfers; transfers of ranges and of parts of matrices.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/pinned.hpp"
#include "ham/offload/stop.hpp"
#include "soak/verbs.hpp"

namespace soak {
namespace {

using const_bytes = offload::buffer_ptr<const std::uint8_t>;

/// Short ones travel with the call, long ones by themselves.
std::size_t any_size(worker& self) { return 1 + self.below(self.below(4) == 0 ? 1U << 17U : 1U << 12U); }

}  // namespace

/// To parts of one buffer, all under way at once: each function sees its own part.
void then_call_verb(worker& self) {
  const node_t node = self.any_node();
  const std::size_t size = any_size(self);
  const std::uint64_t parts = 1 + self.below(4);
  const offload::buffer<std::uint8_t> there(node, parts * size);
  struct part {
    stamp made;
    bytes sent;
    offload::future<std::uint64_t> sum;
  };
  std::vector<part> all(parts);
  for (std::uint64_t i = 0; i < parts; ++i) {
    part& one = all[i];
    one.made = self.claim();
    one.sent = pattern(self.random(), size);
    const auto at = there.ptr() + i * size;
    one.sum =
        offload::put(one.sent.data(), at, size, offload::then_call(fn<&checksum_of>, one.made, const_bytes(at), size));
  }
  for (part& one : all) self.take(std::move(one.sum), one.made, node, checksum(one.sent.data(), one.sent.size()));
  // A range, a block of rows, both with the value that the function gives.
  bytes& sent = all.front().sent;
  stamp call = self.claim();
  self.take(offload::put(sent, there.span().subspan(0, size),
                         offload::then_call(fn<&checksum_of>, call, const_bytes(there.ptr()), size)),
            call, node, checksum(sent.data(), size));
  const std::size_t wide = 1 + self.below(size);
  const offload::block rows{size / wide, wide, wide, wide};
  call = self.claim();
  self.take(offload::put(sent.data(), there.ptr(), rows,
                         offload::then_call(fn<&checksum_of>, call, const_bytes(there.ptr()), rows.rows * wide)),
            call, node, checksum(sent.data(), rows.rows * wide));
  self.count_calls(2);
}

void copy_then_call_verb(worker& self) {
  const node_t from = self.any_node();
  const node_t to = self.node_at(self.below(self.nodes()));
  const bytes sent = pattern(self.random(), any_size(self));
  const offload::buffer<std::uint8_t> source(from, sent.size());
  const offload::buffer<std::uint8_t> target(to, sent.size());
  offload::put_sync(sent.data(), source.ptr(), sent.size());
  const stamp call = self.claim();
  auto sum = offload::copy(source.ptr(), target.ptr(), sent.size(),
                           offload::then_call(fn<&checksum_of>, call, const_bytes(target.ptr()), sent.size()));
  self.count_calls(5);
  take_copy(self, std::move(sum), call, from, to, checksum(sent.data(), sent.size()));
}

/// Parts of buffers, of their own length; what lies beside them stays.
void span_verb(worker& self) {
  const node_t node = self.any_node();
  const bytes sent = pattern(self.random(), 16 + self.below(1U << 14U));
  const offload::buffer<std::uint8_t> there(node, sent.size());
  offload::put(sent, there).get();
  const std::size_t begin = self.below(sent.size() - 1);
  const std::size_t length = 1 + self.below(sent.size() - begin - 1);
  bytes wanted = sent;
  const bytes part = pattern(self.random(), length);
  std::copy(part.begin(), part.end(), wanted.begin() + static_cast<std::ptrdiff_t>(begin));
  offload::put(part, there.subspan(begin, length)).get();
  bytes back(sent.size());
  offload::get(there, back).get();
  self.count_calls(5);
  if (back != wanted) self.wrong(node, "a part of a buffer was put to another place");
}

/// From and to memory of this process that devices could read by themselves.
void pinned_verb(worker& self) {
  const node_t node = self.any_node();
  const bytes sent = pattern(self.random(), any_size(self));
  offload::pinned<std::uint8_t> here(sent.size());
  std::copy(sent.begin(), sent.end(), here.begin());
  const offload::buffer<std::uint8_t> there(node, sent.size());
  offload::put(here, there).get();
  const stamp call = self.claim();
  self.take(offload::async(node, fn<&checksum_of>, call, const_bytes(there.ptr()), sent.size()), call, node,
            checksum(sent.data(), sent.size()));
  std::fill(here.begin(), here.end(), std::uint8_t{0});
  offload::get(there, here).get();
  self.count_calls(4);
  if (!std::equal(sent.begin(), sent.end(), here.begin()))
    self.wrong(node, "get brings back to pinned memory what was not put");
}

namespace {

/// Whether the transfer was made; nothing: parts of it, or all, or none.
std::optional<bool> take_transfer(const std::function<void()>& transfer) {
  try {
    transfer();
    return true;
  } catch (const operation_cancelled& why) {
    return why.outcome() == call_outcome::not_run ? std::optional(false) : std::nullopt;
  }
}

}  // namespace

/// Transfers whose token is stopped before, while they are under way, or never: made, or without an effect.
void stopped_transfer_verb(worker& self) {
  const node_t node = self.any_node();
  const bytes before = pattern(self.random(), any_size(self));
  const bytes sent = pattern(self.random(), before.size());
  std::stop_source source;
  const std::uint64_t when = self.below(3);
  if (when == 0) source.request_stop();
  const auto to = offload::stoppable(node, source.get_token());
  const auto judge = [&](const char* what, const std::function<void()>& transfer) {
    const std::optional<bool> made = take_transfer(transfer);
    self.count_calls(1);
    if (when == 0 && made != false)
      self.wrong(node, std::string(what) + " was made though its token was stopped before");
    if (when == 2 && made != true)
      self.wrong(node, std::string(what) + " was stopped though nobody has stopped its token");
    return made;
  };
  const auto wait = [&](offload::future<void> transfer) {
    if (when == 1) source.request_stop();
    transfer.get();
  };
  static_cast<void>(judge("an allocation", [&] { offload::free(offload::allocate<std::uint8_t>(to, sent.size())); }));
  const offload::buffer<std::uint8_t> there(node, sent.size());
  const offload::buffer<std::uint8_t> beside(node, sent.size());
  offload::put(before, there).get();
  offload::put(before, beside).get();
  const auto put = judge("put", [&] { wait(offload::put(to, sent.data(), there.ptr(), sent.size())); });
  const auto copied = judge("copy", [&] { wait(offload::copy(to, there.ptr(), beside.ptr(), sent.size())); });
  bytes back(sent.size());
  const auto got = judge("get", [&] { wait(offload::get(to, there.ptr(), back.data(), back.size())); });
  const bytes& wanted = put == true ? sent : before;
  if (put && got && back != (*got ? wanted : bytes(back.size())))
    self.wrong(node, "a stopped transfer has left other bytes than it should");
  offload::get(there, back).get();
  if (put && back != wanted) self.wrong(node, "put with a token has left other bytes than it should");
  offload::get(beside, back).get();
  if (put && copied && back != (*copied ? wanted : before))
    self.wrong(node, "copy with a token has left other bytes than it should");
  self.count_calls(8);
}

void matrix_verb(worker& self) {
  const node_t node = self.any_node();
  const std::size_t rows = 2 + self.below(60);
  const std::size_t columns = 2 + self.below(60);
  const bytes sent = pattern(self.random(), rows * columns);
  const offload::buffer<std::uint8_t> there(node, sent.size());
  offload::put(sent, there).get();
  const std::size_t top = self.below(rows - 1);
  const std::size_t left = self.below(columns - 1);
  const std::size_t high = 1 + self.below(rows - top - 1);
  const std::size_t wide = 1 + self.below(columns - left - 1);
  bytes back(high * wide);
  offload::get(offload::buffer_matrix<std::uint8_t>(there, rows, columns).part(top, left, high, wide),
               offload::matrix_span<std::uint8_t>(back.data(), high, wide))
      .get();
  self.count_calls(4);
  for (std::size_t row = 0; row < high; ++row) {
    const auto in = sent.begin() + static_cast<std::ptrdiff_t>((top + row) * columns + left);
    if (std::equal(in, in + static_cast<std::ptrdiff_t>(wide), back.begin() + static_cast<std::ptrdiff_t>(row * wide)))
      continue;
    self.wrong(node, "a part of a matrix comes back changed");
    return;
  }
}

}  // namespace soak
