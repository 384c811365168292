// What a group has failed with, and how that error travels to who has called the function that met it.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/detail/group_message.hpp"
#include "ham/offload/exceptions.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload {
namespace {

std::string text_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

/// Behind the failures that have the same error as that one.
std::size_t end_of_run(const std::vector<group_failure>& all, std::size_t at) noexcept {
  std::size_t end = at + 1;
  while (end < all.size() && all[end].error == all[at].error) ++end;
  return end;
}

void check(const std::vector<group_failure>& failures, std::size_t nodes) {
  if (failures.empty() || failures.size() > nodes)
    throw std::invalid_argument("a group_error of " + std::to_string(failures.size()) + " failures in a group of " +
                                std::to_string(nodes) + " nodes; give it one for each node that has failed");
  const auto is_none = [](const group_failure& one) { return one.error == nullptr; };
  if (const auto found = std::find_if(failures.begin(), failures.end(), is_none); found != failures.end())
    throw std::invalid_argument("a group_error without the error of node " + std::to_string(found->node));
}

/// "3 of 16 nodes have failed: 4, 5, 6 (node 4 was lost ...)". Nodes with one error are told together.
std::string text_of(const std::vector<group_failure>& failures, std::size_t nodes) {
  check(failures, nodes);
  constexpr std::size_t max_errors = 4;
  std::string text =
      std::to_string(failures.size()) + " of " + std::to_string(nodes) + " nodes of a group have failed: ";
  std::size_t told = 0;
  for (std::size_t at = 0; at < failures.size();) {
    const std::size_t end = end_of_run(failures, at);
    std::string list;
    for (std::size_t i = at; i < end; ++i) {
      if (!list.empty()) list += ", ";
      list += std::to_string(failures[i].node);
    }
    if (told != 0) text += "; ";
    text += list;
    if (told++ < max_errors) text += " (" + text_of(failures[at].error) + ")";
    at = end;
  }
  return text;
}

// ---- as bytes: nodes of the group, failures, their nodes, and records of their errors

std::string as_bytes(const group_error& what) {
  const ham::detail::engine* const here = ham::detail::current_or_null();
  const node_t self = here == nullptr ? -1 : here->self();
  const std::vector<group_failure>& all = what.failures();
  std::vector<std::byte> records;
  for (std::size_t at = 0, end = 0; at < all.size(); at = end) {
    end = end_of_run(all, at);
    try {
      std::rethrow_exception(all[at].error);
    } catch (...) {
      const std::vector<std::byte> one = ham::detail::group_error_record(self, static_cast<std::uint32_t>(end - at));
      records.insert(records.end(), one.begin(), one.end());
    }
  }
  std::string bytes(8 + sizeof(node_t) * all.size() + records.size(), '\0');
  msg::writer to(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  to.number(static_cast<std::uint32_t>(what.nodes()));
  to.number(static_cast<std::uint32_t>(all.size()));
  for (const group_failure& one : all) to.number(one.node);
  to.bytes(records.data(), records.size());
  return bytes;
}

/// Errors may have group errors as errors of nodes, down to some depth: who sends them decides on it.
class nesting {
 public:
  nesting() {
    if (depth == max_depth) msg::detail::throw_malformed("errors of groups within each other, too deep");
    ++depth;
  }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;
  ~nesting() { --depth; }

 private:
  static constexpr unsigned max_depth = 8;
  static thread_local unsigned depth;
};
thread_local unsigned nesting::depth = 0;

/// Throws ham::protocol_error for bytes that are none.
group_error from_bytes(msg::reader& from) {
  const nesting deeper;
  const auto nodes = from.number<std::uint32_t>();
  const auto count = from.number<std::uint32_t>();
  if (count == 0 || count > nodes) msg::detail::throw_malformed("an error of a group of more nodes than it has");
  from.require(sizeof(node_t) * count);
  std::vector<group_failure> all(count);
  for (group_failure& one : all) one.node = from.number<node_t>();
  for (std::size_t at = 0; at < count;) {
    const auto head = ham::detail::group_record_head::read(from, count - at);
    if (head.kind != ham::detail::group_record::error) msg::detail::throw_malformed("a failure without an error");
    const std::exception_ptr why = ham::detail::read_group_error(from, std::string("a call to a group"));
    for (std::uint32_t i = 0; i < head.count; ++i) all[at++].error = why;
  }
  from.expect_end();
  return {std::move(all), nodes};
}

const bool crosses_as_itself = [] {
  ham::detail::add_exception_codec({&typeid(group_error), typeid(group_error).name(),
                                    [](const std::exception_ptr& what) -> std::string {
                                      try {
                                        std::rethrow_exception(what);
                                      } catch (const group_error& failed) {
                                        return as_bytes(failed);
                                      }
                                    },
                                    [](msg::reader& from) { throw from_bytes(from); }});
  return true;
}();

}  // namespace

group_error::group_error(std::vector<group_failure> failures, std::size_t nodes)
    : error(text_of(failures, nodes)), failures_(std::move(failures)), nodes_(nodes) {
  static_cast<void>(crosses_as_itself);
}

namespace detail {

void throw_group_error(std::vector<group_failure> failures, std::size_t nodes) {
  throw group_error(std::move(failures), nodes);
}
void throw_no_position(std::size_t position, std::size_t nodes) {
  throw std::out_of_range("a group of " + std::to_string(nodes) + " nodes has no position " + std::to_string(position));
}
void rethrow_group_failure(const std::exception_ptr& what) { std::rethrow_exception(what); }

}  // namespace detail
}  // namespace ham::offload
