// What nodes of a group answer, as bytes; and what becomes of nodes that have failed.
#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "core/remote_exception.hpp"
#include "ham/offload/detail/group_message.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1 {

namespace detail {
namespace {

/// Who has seen an error - node, process, host name - and its bytes.
using group_error_fields = std::tuple<std::int32_t, std::int64_t, std::string, std::string>;

[[nodiscard]] std::vector<std::byte> record_of(const group_error_fields& fields, std::uint32_t count) {
  std::vector<std::byte> bytes(group_record_bytes + msg::encoded_size(fields));
  msg::writer to(bytes.data(), bytes.size());
  write_group_record(to, group_record::error, count);
  msg::encode(to, fields);
  return bytes;
}

}  // namespace

group_head group_head::read(msg::reader& from) {
  group_head head;
  head.total = from.number<std::uint32_t>();
  head.first = from.number<std::uint32_t>();
  const auto count = from.number<std::uint32_t>();
  if (count == 0 || head.first > head.total || count > head.total - head.first)
    msg::detail::throw_malformed("a part of a group that it does not have");
  from.require(std::size_t{4} * count);
  head.nodes.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto node = from.number<node_t>();
    if (node < 0 || static_cast<std::size_t>(node) >= peer_table::max_numbers)
      msg::detail::throw_malformed("a group of nodes that no job can have");
    head.nodes.push_back(node);
  }
  return head;
}

group_record_head group_record_head::read(msg::reader& from, std::size_t most) {
  const auto kind = from.number<std::uint8_t>();
  const auto count = from.number<std::uint32_t>();
  if (kind > static_cast<std::uint8_t>(group_record::left_out))
    msg::detail::throw_malformed("an answer of a group of an unknown kind");
  if (count == 0 || count > most) msg::detail::throw_malformed("an answer for more nodes than were asked");
  return {static_cast<group_record>(kind), count};
}

std::vector<std::byte> group_error_record(node_t node, std::uint32_t count) {
  constexpr std::size_t max_bytes = std::size_t{64} << 10;  // those of many nodes travel in one message
  const std::vector<std::byte> error = encode_current_exception(max_bytes);
  offload::node_descriptor::info about;
  if (const engine* const at = current_or_null()) about = at->own.about.description();
  return record_of({node, about.pid, about.name, {reinterpret_cast<const char*>(error.data()), error.size()}}, count);
}

std::exception_ptr read_group_error(msg::reader& from, const std::string& function) {
  auto [node, pid, name, error] = msg::decode<group_error_fields>(from);
  offload::node_descriptor::info about;
  about.node = node;
  about.pid = pid;
  about.name = std::move(name);
  return decode_exception(std::as_bytes(std::span(error)), function, about);
}
std::exception_ptr read_group_error(msg::reader& from, const msg::handler_entry& function) {
  return read_group_error(from, msg::handler_table::local().pretty_name(function.key()));
}

std::vector<std::byte> left_out_record(std::uint32_t count) {
  std::vector<std::byte> bytes(group_record_bytes);
  msg::writer to(bytes.data(), bytes.size());
  write_group_record(to, group_record::left_out, count);
  return bytes;
}

std::vector<std::byte> group_done_record() {
  std::vector<std::byte> bytes(group_record_bytes);
  msg::writer to(bytes.data(), bytes.size());
  write_group_record(to, group_record::value, 1);
  return bytes;
}

std::vector<std::byte> group_merge::merge(std::vector<group_answer>& parts) const {
  std::vector<std::byte> all = std::move(parts.front().records);
  for (auto part = parts.begin() + 1; part != parts.end(); ++part)
    all.insert(all.end(), part->records.begin(), part->records.end());
  return all;
}

// ---- reductions

bool is_reduced(const group_answer& part) noexcept {
  if (part.records.size() < group_record_bytes) return false;
  msg::reader from(part.records);
  const auto kind = from.number<std::uint8_t>();
  return kind == static_cast<std::uint8_t>(group_record::value) && from.number<std::uint32_t>() == part.count;
}

bool all_reduced(const std::vector<group_answer>& parts) noexcept {
  return std::all_of(parts.begin(), parts.end(), is_reduced);
}

std::uint32_t nodes_of(const std::vector<group_answer>& parts) noexcept {
  std::uint32_t sum = 0;
  for (const group_answer& part : parts) sum += part.count;
  return sum;
}

namespace {

/// Calls visit(position, head, error) for each record of parts of which some have failed. A value is the last record of
/// its part; `error` is empty but for errors.
template <class Visit>
void visit_records(const std::vector<group_answer>& parts, Visit visit) {
  for (const group_answer& part : parts) {
    msg::reader from(part.records);
    std::uint32_t left = part.count;
    while (left != 0) {
      const std::size_t begin = part.records.size() - from.remaining();
      const group_record_head head = group_record_head::read(from, left);
      if (head.kind == group_record::error) static_cast<void>(msg::decode<group_error_fields>(from));
      const bool is_value = head.kind == group_record::value;
      if (is_value && head.count != left) msg::detail::throw_malformed("answers behind the value of a reduction");
      const std::size_t end = part.records.size() - from.remaining();
      visit(part.first + part.count - left, head, std::span(part.records).subspan(begin, end - begin));
      left -= head.count;
      if (is_value) break;
      if (left == 0) from.expect_end();
    }
  }
}

}  // namespace

std::vector<std::byte> errors_of_parts(const std::vector<group_answer>& parts) {
  std::vector<std::byte> all;
  visit_records(parts, [&](std::uint32_t, const group_record_head& head, std::span<const std::byte> record) {
    if (head.kind == group_record::error) {
      all.insert(all.end(), record.begin(), record.end());
    } else {
      const std::vector<std::byte> none = left_out_record(head.count);
      all.insert(all.end(), none.begin(), none.end());
    }
  });
  return all;
}

void throw_failures(const std::vector<group_answer>& parts, const std::vector<node_t>& nodes,
                    const msg::handler_entry& function) {
  std::vector<offload::group_failure> failures;
  visit_records(parts, [&](std::uint32_t at, const group_record_head& head, std::span<const std::byte> record) {
    if (head.kind != group_record::error) return;
    msg::reader from(record.subspan(group_record_bytes));
    const std::exception_ptr why = read_group_error(from, function);
    for (std::uint32_t i = 0; i < head.count; ++i) failures.push_back({nodes.at(at + i), why});
  });
  if (failures.empty()) msg::detail::throw_malformed("a reduction has failed without an error");
  throw offload::group_error(std::move(failures), nodes.size());
}

}  // namespace detail

// ---- results

namespace offload::detail {

group_result<void> joined_results(std::vector<node_t> nodes, std::vector<future<group_result<void>>>& parts) {
  group_result<void> joined(std::move(nodes));
  std::exception_ptr none_sent;  // of a part that was stopped before it went to any node
  bool any_sent = false;
  for (future<group_result<void>>& one : parts) {
    if (std::exception_ptr why = one.error()) {
      for (std::size_t at = 0; at < joined.size(); ++at)
        if (joined.ok(at)) group_result_access::fail(joined, at, why);
      if (none_sent == nullptr) none_sent = std::move(why);
      continue;
    }
    any_sent = true;
    const group_result<void> part = one.get();
    for (std::size_t at = 0; at < part.size(); ++at)
      if (joined.ok(at) && !part.ok(at)) group_result_access::fail(joined, at, part.error(at));
  }
  if (none_sent != nullptr && !any_sent) std::rethrow_exception(none_sent);
  return joined;
}

}  // namespace offload::detail
}  // namespace ham
