// Memory on all nodes of a group: allocate_all, broadcast. Internal.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ham/offload/group.hpp"
#include "ham/offload/supervise.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// Bytes of one message of a broadcast.
inline constexpr std::size_t broadcast_part_bytes = std::size_t{256} << 10;

/// Runs on each node.
template <class Element>
buffer_ptr<Element> allocate_member(std::uint64_t count) {
  return offload::allocate<Element>(this_node(), count);
}
template <class Element>
void store_broadcast(const std::vector<buffer_ptr<Element>>& to, std::uint64_t begin, std::span<const Element> part) {
  const auto at = this_call::group_position();
  if (at && *at < to.size()) offload::put_sync(part.data(), to[*at] + begin, part.size());
}
/// The nodes of buffers. Throws ham::config_error as group().
template <class Element>
[[nodiscard]] group group_of(const std::vector<buffer_ptr<Element>>& buffers) {
  std::vector<node_t> nodes;
  nodes.reserve(buffers.size());
  for (const buffer_ptr<Element>& one : buffers) nodes.push_back(one.node());
  return group(std::move(nodes));
}

/// One result for the parts of a broadcast: the first error of each node.
[[nodiscard]] group_result<void> joined_results(std::vector<node_t> nodes,
                                                std::vector<future<group_result<void>>>& parts);

/// The buffers in the order of the group. Throws ham::config_error if they are not one on each of its nodes.
template <class Element>
[[nodiscard]] std::vector<buffer_ptr<Element>> in_order_of(const group& nodes,
                                                           const std::vector<buffer_ptr<Element>>& buffers) {
  std::vector<buffer_ptr<Element>> ordered;
  for (const node_t node : nodes.nodes()) {
    const auto is_there = [node](const buffer_ptr<Element>& one) { return one.node() == node; };
    const auto found = std::find_if(buffers.begin(), buffers.end(), is_there);
    if (found == buffers.end()) break;
    ordered.push_back(*found);
  }
  if (ordered.size() != nodes.size() || buffers.size() != nodes.size())
    throw config_error(
        "a broadcast to a group has other nodes than its buffers; give one buffer on each node of the group");
  return ordered;
}

/// `to` has a buffer for each position of the group.
template <class Element>
[[nodiscard]] future<group_result<void>> broadcast_span(const group_destination& nodes, std::span<const Element> data,
                                                        const std::vector<buffer_ptr<Element>>& to) {
  constexpr std::size_t step = sizeof(Element) < broadcast_part_bytes ? broadcast_part_bytes / sizeof(Element) : 1;
  std::vector<future<group_result<void>>> parts;
  for (std::size_t begin = 0; begin == 0 || begin < data.size(); begin += step) {
    const std::span<const Element> part = data.subspan(begin, step < data.size() - begin ? step : data.size() - begin);
    parts.push_back(async_all(nodes, fn<&store_broadcast<Element>>, to, static_cast<std::uint64_t>(begin), part));
    this_call::heartbeat();  // this may be within one call to this node, which may take long
  }
  if (parts.size() == 1) return std::move(parts.front());
  return when_all(std::move(parts))
      .then([nodes = nodes.where().nodes()](std::vector<future<group_result<void>>> settled) {
        return joined_results(nodes, settled);
      });
}
/// Runs on the node of the first buffer.
template <class Element>
void broadcast_from_here(buffer_ptr<Element> from, std::uint64_t count, const std::vector<buffer_ptr<Element>>& to) {
  constexpr std::chrono::milliseconds interval(20);
  constexpr std::size_t step = (std::size_t{64} << 20) / sizeof(Element) + 1;
  std::vector<Element> data(count);
  for (std::size_t begin = 0; begin < data.size(); begin += step) {
    const std::size_t left = data.size() - begin;
    offload::get_sync(from + begin, data.data() + begin, left < step ? left : step);
    this_call::heartbeat();
  }
  const group others = group_of(to);
  auto sent = broadcast_span(others, std::span<const Element>(data), to);
  while (!sent.wait_for(interval)) this_call::heartbeat();
  sent.get().values();
}

}  // namespace detail

template <detail::transferable Element>
std::vector<buffer_ptr<Element>> allocate_all(const group_destination& to, std::size_t count) {
  auto made = async_all(to, fn<&detail::allocate_member<Element>>, static_cast<std::uint64_t>(count)).get();
  for (std::size_t at = 0; !made.all_ok() && at < made.size(); ++at) {
    if (!made.ok(at)) continue;
    HAM_TRY { offload::free(made.value(at)); }
    HAM_CATCH_ALL {}  // gone with its process; the errors that count are those of the allocation
  }
  return std::move(made).values();
}

template <std::ranges::contiguous_range Range>
requires detail::transferable<std::ranges::range_value_t<Range>> future<group_result<void>> broadcast(
    const Range& data, const std::vector<buffer_ptr<std::ranges::range_value_t<Range>>>& to) {
  const group all = detail::group_of(to);
  return detail::broadcast_span(all, std::span<const std::ranges::range_value_t<Range>>(data), to);
}

template <std::ranges::contiguous_range Range>
requires detail::transferable<std::ranges::range_value_t<Range>> future<group_result<void>> broadcast(
    const group_destination& to, const Range& data,
    const std::vector<buffer_ptr<std::ranges::range_value_t<Range>>>& buffers) {
  return detail::broadcast_span(to, std::span<const std::ranges::range_value_t<Range>>(data),
                                detail::in_order_of(to.where(), buffers));
}

template <detail::transferable Element>
void broadcast(const std::vector<buffer_ptr<Element>>& buffers, std::size_t count) {
  const group all = detail::group_of(buffers);
  broadcast(all, buffers, count);
}

template <detail::transferable Element>
void broadcast(const group_destination& to, const std::vector<buffer_ptr<Element>>& buffers, std::size_t count) {
  static_cast<void>(detail::in_order_of(to.where(), buffers));
  if (buffers.size() < 2) return;
  const std::vector<buffer_ptr<Element>> others(buffers.begin() + 1, buffers.end());
  const detail::group_terms terms = to.terms();
  destination first(buffers.front().node(), 0, terms.runtime);
  first.deadline_ns = terms.deadline_ns;
  const auto copy = [&](const auto& where) {
    sync(where, fn<&detail::broadcast_from_here<Element>>, buffers.front(), static_cast<std::uint64_t>(count), others);
  };
  if (terms.token != nullptr)
    copy(stoppable_destination(first, *terms.token, terms.how));
  else
    copy(first);
}

}  // namespace ham::offload
