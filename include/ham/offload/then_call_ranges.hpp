// put and copy of ranges, blocks and matrices, then a call.
//
//   offload::buffer<double> halo(1, n);
//   auto sum = offload::put(data, halo, then_call(fn<&sum_of>, halo.span()));
//
// As the verbs of span.hpp, block.hpp and matrix.hpp, and as those with pointers and a call (then_call.hpp): the future
// is that of the call, which is sent when all bytes are there, and not at all if they cannot be written.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "ham/offload/matrix.hpp"
#include "ham/offload/span.hpp"
#include "ham/offload/then_call.hpp"

namespace ham::inline v1::offload {

// ---- blocks of rows

/// The call is sent by the thread that makes progress on this node.
template <detail::transferable Element, class Bound>
future<typename Bound::result_type> put(destination to, const std::type_identity_t<Element>* src,
                                        buffer_ptr<Element> dst, const block& what, call_then<Bound> then) {
  detail::engine& at = detail::engine_of_transfer(to, dst.node(), dst.node());
  return detail::call_after_transfer<Bound>::begin(
      at, operation::put,
      detail::put_rows(at, src, dst.node(), detail::raw(dst), detail::rows_of(what, sizeof(Element)),
                       detail::element_of<Element>(), detail::terms_of(to)),
      to, std::move(then).call());
}
template <detail::transferable Element, class Bound>
future<typename Bound::result_type> put(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
                                        const block& what, call_then<Bound> then) {
  return offload::put(destination(dst.node()), src, dst, what, std::move(then));
}
template <class Element, class Bound>
requires detail::transferable<std::remove_const_t<Element>> future<typename Bound::result_type> copy(
    destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, const block& what,
    call_then<Bound> then) {
  detail::engine& at = detail::engine_of_transfer(to, dst.node(), dst.node());
  return detail::call_after_transfer<Bound>::begin(
      at, operation::copy,
      detail::copy_rows(at, src.node(), detail::raw(src), dst.node(), detail::raw(dst),
                        detail::rows_of(what, sizeof(Element)), detail::element_of<std::remove_const_t<Element>>(),
                        detail::terms_of(to)),
      to, std::move(then).call());
}
template <class Element, class Bound>
requires detail::transferable<std::remove_const_t<Element>> future<typename Bound::result_type> copy(
    buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, const block& what, call_then<Bound> then) {
  return offload::copy(destination(dst.node()), src, dst, what, std::move(then));
}

// ---- ranges and buffers

/// All elements of `source`; the call runs on the node of `target`. A temporary container does not compile.
template <class Range, class Memory, class Bound>
requires detail::fills<Range, Memory> future<typename Bound::result_type> put(destination to, Range&& source,
                                                                              const Memory& target,
                                                                              call_then<Bound> then) {
  static_assert(detail::outlives_statement<Range>,
                "ham: this range is a temporary, which may be gone before its elements have been sent. Give it a name");
  const std::size_t count = std::size(source);
  return offload::put(detail::reaching(to, target), std::data(source), detail::place_in(target, count, "put"), count,
                      std::move(then));
}
template <class Range, class Memory, class Bound>
requires detail::fills<Range, Memory> future<typename Bound::result_type> put(Range&& source, const Memory& target,
                                                                              call_then<Bound> then) {
  static_assert(detail::outlives_statement<Range>,
                "ham: this range is a temporary, which may be gone before its elements have been sent. Give it a name");
  const std::size_t count = std::size(source);
  return offload::put(detail::where_is(target), std::data(source), detail::place_in(target, count, "put"), count,
                      std::move(then));
}
template <detail::remote_range Source, class Target, class Bound>
requires detail::copies<Source, Target> future<typename Bound::result_type> copy(destination to, const Source& source,
                                                                                 const Target& target,
                                                                                 call_then<Bound> then) {
  return offload::copy(detail::reaching(detail::reaching(to, source), target),
                       detail::place_in(source, source.size(), "copy"), detail::place_in(target, source.size(), "copy"),
                       source.size(), std::move(then));
}
template <detail::remote_range Source, class Target, class Bound>
requires detail::copies<Source, Target> future<typename Bound::result_type> copy(const Source& source,
                                                                                 const Target& target,
                                                                                 call_then<Bound> then) {
  return offload::copy(detail::where_is(target), source, target, std::move(then));
}

/// A pointer and a count.
template <detail::remote_range Memory, class Bound>
future<typename Bound::result_type> put(destination to, const detail::remote_element<Memory>* source,
                                        const Memory& target, std::size_t count, call_then<Bound> then) {
  return offload::put(detail::reaching(to, target), source, detail::place_in(target, count, "put"), count,
                      std::move(then));
}
template <detail::remote_range Memory, class Bound>
future<typename Bound::result_type> put(const detail::remote_element<Memory>* source, const Memory& target,
                                        std::size_t count, call_then<Bound> then) {
  return offload::put(detail::where_is(target), source, target, count, std::move(then));
}
template <detail::remote Source, detail::remote Target, class Bound>
requires detail::copies<Source, Target> &&(detail::remote_range<Source> || detail::remote_range<Target>)
    future<typename Bound::result_type> copy(destination to, const Source& source, const Target& target,
                                             std::size_t count, call_then<Bound> then) {
  return offload::copy(detail::reaching(detail::reaching(to, source), target), detail::place_in(source, count, "copy"),
                       detail::place_in(target, count, "copy"), count, std::move(then));
}
template <detail::remote Source, detail::remote Target, class Bound>
requires detail::copies<Source, Target> &&
    (detail::remote_range<Source> ||
     detail::remote_range<Target>)future<typename Bound::result_type> copy(const Source& source, const Target& target,
                                                                           std::size_t count, call_then<Bound> then) {
  return offload::copy(detail::where_is(target), source, target, count, std::move(then));
}

// ---- matrices

template <detail::local_matrix Matrix, class Element, class Bound>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element>
    future<typename Bound::result_type> put(destination to, const Matrix& source, const buffer_matrix<Element>& target,
                                            call_then<Bound> then) {
  return offload::put(to, source.data_handle(), target.data_handle(),
                      detail::block_between("put", detail::shape_of(source), target.shape()), std::move(then));
}
template <detail::local_matrix Matrix, class Element, class Bound>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element>
    future<typename Bound::result_type> put(const Matrix& source, const buffer_matrix<Element>& target,
                                            call_then<Bound> then) {
  return offload::put(destination(target.node()), source, target, std::move(then));
}
template <class Element, class Bound>
future<typename Bound::result_type> copy(destination to, const buffer_matrix<Element>& source,
                                         const buffer_matrix<std::remove_const_t<Element>>& target,
                                         call_then<Bound> then) {
  return offload::copy(to, source.data_handle(), target.data_handle(),
                       detail::block_between("copy", source.shape(), target.shape()), std::move(then));
}
template <class Element, class Bound>
future<typename Bound::result_type> copy(const buffer_matrix<Element>& source,
                                         const buffer_matrix<std::remove_const_t<Element>>& target,
                                         call_then<Bound> then) {
  return offload::copy(destination(target.node()), source, target, std::move(then));
}

}  // namespace ham::offload
