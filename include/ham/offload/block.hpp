// Blocks of matrices in memory of other nodes: put, get and copy of rows that do not follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ham/offload/memory.hpp"

namespace ham::inline v1::offload {

/// A rectangular part of one matrix that goes to a rectangular part of another: `rows` rows of `columns` elements. A
/// pitch is the distance in elements from the beginning of one row to that of the next, not less than `columns`; 0: the
/// rows follow each other without a gap. Of a single row the pitches mean nothing.
struct block {
  std::size_t rows = 0;          ///< 0: nothing is transferred
  std::size_t columns = 0;       ///< elements of a row
  std::size_t source_pitch = 0;  ///< elements from row to row where it comes from; 0: `columns`
  std::size_t target_pitch = 0;  ///< elements from row to row where it goes to; 0: `columns`
};

namespace detail {

/// The same in bytes.
struct block_rows {
  std::size_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t source_pitch = 0;
  std::size_t target_pitch = 0;
};
/// Throws ham::buffer_error if rows overlap, or if there are more bytes than addresses.
[[nodiscard]] block_rows rows_of(const block& what, std::size_t element_bytes);

[[nodiscard]] future<void> put_rows(engine& at, const void* from, node_t node, raw_buffer to, const block_rows& what,
                                    element of, transfer_terms how = {});
[[nodiscard]] future<void> get_rows(engine& at, node_t node, raw_buffer from, void* to, const block_rows& what,
                                    element of, transfer_terms how = {});
[[nodiscard]] future<void> copy_rows(engine& at, node_t from_node, raw_buffer from, node_t to_node, raw_buffer to,
                                     const block_rows& what, element of, transfer_terms how = {});

}  // namespace detail

/// Writes a block from local memory, its first element at `src`, to the node's memory, its first element at `dst`, in
/// one operation; what lies between the rows is not touched. Where the node's memory is mapped (shared memory) the rows
/// are written where they belong. Over other transports rows of at least 64 KiB go one by one as put does it; where
/// they are smaller, or put itself would send messages, they are packed into messages of 64 KiB, which the node
/// unpacks, so that a row costs no round trip. These the calling thread packs and sends, and waits while the queue to
/// the node is full. What is outside of the allocation is refused by the node, row by row or message by message: then
/// the rest of the block is undefined, as after every error. Else as for put: threads, blocking, errors. Throws
/// ham::buffer_error at once if a pitch is smaller than a row, or if there are more bytes than addresses.
template <detail::transferable Element>
future<void> put(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst, const block& what) {
  return detail::put_rows(detail::current(), src, dst.node(), detail::raw(dst), detail::rows_of(what, sizeof(Element)),
                          detail::element_of<Element>());
}

/// Reads a block from the node's memory into local memory. Else as put of a block.
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> get(
    buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst, const block& what) {
  return detail::get_rows(detail::current(), src.node(), detail::raw(src), dst, detail::rows_of(what, sizeof(Element)),
                          detail::element_of<std::remove_const_t<Element>>());
}

/// Copies a block between the memories of any two nodes, as copy does. The two must not overlap.
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> copy(
    buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, const block& what) {
  return detail::copy_rows(detail::current(), src.node(), detail::raw(src), dst.node(), detail::raw(dst),
                           detail::rows_of(what, sizeof(Element)), detail::element_of<std::remove_const_t<Element>>());
}

/// The same, complete on return, and moved by the calling thread alone; errors are thrown.
template <detail::transferable Element>
void put_sync(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst, const block& what) {
  detail::put_rows(detail::current(), src, dst.node(), detail::raw(dst), detail::rows_of(what, sizeof(Element)),
                   detail::element_of<Element>(), detail::moved_by::caller)
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void get_sync(buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst, const block& what) {
  detail::get_rows(detail::current(), src.node(), detail::raw(src), dst, detail::rows_of(what, sizeof(Element)),
                   detail::element_of<std::remove_const_t<Element>>(), detail::moved_by::caller)
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void copy_sync(buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, const block& what) {
  offload::copy(src, dst, what).get();
}

}  // namespace ham::offload
