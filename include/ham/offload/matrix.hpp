// Two-dimensional views of memory here and on other nodes, and put, get and copy between them.
//
//     std::vector<double> field(rows * columns);
//     offload::matrix_span<double> here(field.data(), rows, columns);
//     offload::buffer<double> there(1, rows * columns);
//     offload::buffer_matrix<double> remote(there, rows, columns);
//     offload::put(here.part(0, 0, rows, 1), remote.part(0, 0, rows, 1)).get();     // a column
//
// Rows lie one behind the other, at a pitch of at least their length; an std::mdspan of rank 2 with such a layout may
// stand for a matrix_span. A transfer is one operation, as of a `block` (block.hpp), which says how it moves and what
// it costs.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "ham/offload/block.hpp"
#include "ham/offload/buffer_span.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/transfer.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// Rows, columns, and the distance between the beginnings of two rows, in elements.
struct matrix_shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t pitch = 0;

  /// Elements from the first to one behind the last.
  [[nodiscard]] constexpr std::size_t extent() const noexcept {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * pitch + columns;
  }
  friend constexpr bool operator==(const matrix_shape&, const matrix_shape&) noexcept = default;
};

/// Throw ham::buffer_error: for a pitch less than a row, or more elements than addresses; for what is outside of the
/// matrix, or a matrix that is larger than its memory; for matrices of different sizes, and elements of a row that do
/// not lie side by side.
[[nodiscard]] matrix_shape checked_shape(std::size_t rows, std::size_t columns, std::size_t pitch);
void check_part(const matrix_shape& matrix, std::size_t row, std::size_t column, std::size_t rows, std::size_t columns);
void check_fits(const matrix_shape& shape, std::size_t size);
[[nodiscard]] block block_between(const char* verb, const matrix_shape& source, const matrix_shape& target);
[[noreturn]] void throw_strided_row(std::size_t stride);

/// What local and remote matrices share; Pointer is Element* or buffer_ptr<Element>.
template <class Derived, class Pointer>
class matrix_base {
 public:
  using size_type = std::size_t;

  constexpr matrix_base() noexcept = default;

  [[nodiscard]] constexpr std::size_t rows() const noexcept { return shape_.rows; }
  [[nodiscard]] constexpr std::size_t columns() const noexcept { return shape_.columns; }
  /// Elements from the beginning of one row to that of the next.
  [[nodiscard]] constexpr std::size_t pitch() const noexcept { return shape_.pitch; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return shape_.rows * shape_.columns; }
  [[nodiscard]] constexpr Pointer data_handle() const noexcept { return first_; }

  // As of std::mdspan.
  [[nodiscard]] static constexpr std::size_t rank() noexcept { return 2; }
  [[nodiscard]] constexpr std::size_t extent(std::size_t dimension) const noexcept {
    return dimension == 0 ? shape_.rows : shape_.columns;
  }
  [[nodiscard]] constexpr std::size_t stride(std::size_t dimension) const noexcept {
    return dimension == 0 ? shape_.pitch : 1;
  }

  /// The part of `rows` x `columns` elements whose first one is at (row, column). Throws ham::buffer_error if that is
  /// outside.
  [[nodiscard]] Derived part(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
    check_part(shape_, row, column, rows, columns);
    Derived result;
    result.first_ = first_ + (row * shape_.pitch + column);
    result.shape_ = {rows, columns, shape_.pitch};
    return result;
  }
  [[nodiscard]] Derived row(std::size_t index) const { return part(index, 0, 1, shape_.columns); }
  [[nodiscard]] Derived column(std::size_t index) const { return part(0, index, shape_.rows, 1); }

  [[nodiscard]] constexpr const matrix_shape& shape() const noexcept { return shape_; }

 protected:
  constexpr matrix_base(Pointer first, const matrix_shape& shape) noexcept : first_(first), shape_(shape) {}

 private:
  Pointer first_{};
  matrix_shape shape_;
};

}  // namespace detail

/// A matrix in memory of this process, row by row. Owns nothing.
template <class Element>
class matrix_span : public detail::matrix_base<matrix_span<Element>, Element*> {
  using base = detail::matrix_base<matrix_span<Element>, Element*>;

 public:
  using element_type = Element;  ///< may be const

  constexpr matrix_span() noexcept = default;
  /// `pitch`: elements from row to row; 0: the rows follow each other without a gap. Throws ham::buffer_error if it is
  /// less than a row.
  matrix_span(Element* first, std::size_t rows, std::size_t columns, std::size_t pitch = 0)
      : base(first, detail::checked_shape(rows, columns, pitch)) {}
  /// matrix_span<Element> to matrix_span<const Element>.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator matrix_span<const Element>() const requires(!std::is_const_v<Element>) {
    return {this->data_handle(), this->rows(), this->columns(), this->pitch()};
  }

  /// One element, without a check.
  [[nodiscard]] constexpr Element& operator()(std::size_t row, std::size_t column) const noexcept {
    return this->data_handle()[row * this->pitch() + column];
  }
};

/// A matrix in memory of any node, row by row. Owns nothing; copied by value into offloaded functions and back.
template <class Element>
class buffer_matrix : public detail::matrix_base<buffer_matrix<Element>, buffer_ptr<Element>> {
  using base = detail::matrix_base<buffer_matrix<Element>, buffer_ptr<Element>>;

 public:
  using element_type = Element;  ///< may be const

  constexpr buffer_matrix() noexcept = default;
  /// In memory from `first` on; `pitch` as of matrix_span. Throws ham::buffer_error as that.
  buffer_matrix(buffer_ptr<Element> first, std::size_t rows, std::size_t columns, std::size_t pitch = 0)
      : base(first, detail::checked_shape(rows, columns, pitch)) {}
  /// In a buffer_span, or a buffer, which must be large enough: else throws ham::buffer_error.
  buffer_matrix(buffer_span<Element> memory, std::size_t rows, std::size_t columns, std::size_t pitch = 0)
      : buffer_matrix(memory.ptr(), rows, columns, pitch) {
    detail::check_fits(this->shape(), memory.size());
  }
  buffer_matrix(const buffer<std::remove_const_t<Element>>& memory, std::size_t rows, std::size_t columns,
                std::size_t pitch = 0)
      : buffer_matrix(buffer_span<Element>(memory.span()), rows, columns, pitch) {}
  buffer_matrix(buffer<std::remove_const_t<Element>>&& memory, std::size_t rows, std::size_t columns,
                std::size_t pitch = 0) = delete;  ///< its memory is freed at the end of the statement
  /// buffer_matrix<Element> to buffer_matrix<const Element>.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator buffer_matrix<const Element>() const requires(!std::is_const_v<Element>) {
    return {buffer_ptr<const Element>(this->data_handle()), this->rows(), this->columns(), this->pitch()};
  }

  /// Whose memory it is; -1 for one made without any.
  [[nodiscard]] constexpr node_t node() const noexcept { return this->data_handle().node(); }
  /// The same on the node whose memory it is. Throws ham::buffer_error on others.
  [[nodiscard]] matrix_span<Element> local() const {
    if (this->size() != 0 && !detail::is_here(node())) detail::throw_not_here(node());
    return {this->data_handle().get(), this->rows(), this->columns(), this->pitch()};
  }
};

namespace detail {

template <class Matrix>
inline constexpr bool is_buffer_matrix = false;
template <class Element>
inline constexpr bool is_buffer_matrix<buffer_matrix<Element>> = true;

/// matrix_span, and std::mdspan of rank 2.
template <class Matrix>
concept local_matrix = !is_buffer_matrix<Matrix> && requires(const Matrix& matrix) {
  requires Matrix::rank()
  == 2;
  static_cast<std::size_t>(matrix.extent(0));
  static_cast<std::size_t>(matrix.stride(1));
  requires std::is_pointer_v<decltype(matrix.data_handle())>;
};
template <class Matrix>
using matrix_element = std::remove_pointer_t<decltype(std::declval<const Matrix&>().data_handle())>;

template <class Matrix>
[[nodiscard]] matrix_shape shape_of(const Matrix& matrix) {
  const auto columns = static_cast<std::size_t>(matrix.extent(1));
  if (columns > 1 && static_cast<std::size_t>(matrix.stride(1)) != 1)
    throw_strided_row(static_cast<std::size_t>(matrix.stride(1)));
  const auto rows = static_cast<std::size_t>(matrix.extent(0));
  return {rows, columns, rows > 1 ? static_cast<std::size_t>(matrix.stride(0)) : columns};
}

}  // namespace detail

/// Writes a matrix to memory of a node, one of the same number of rows and columns: else throws ham::buffer_error, and
/// nothing moves. Else as put of a block, `to` as in transfer.hpp.
template <detail::local_matrix Matrix, class Element>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element> future<void> put(
    transfer_destination to, const Matrix& source, const buffer_matrix<Element>& target) {
  return offload::put(std::move(to), source.data_handle(), target.data_handle(),
                      detail::block_between("put", detail::shape_of(source), target.shape()));
}
template <detail::local_matrix Matrix, class Element>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element> future<void> put(
    const Matrix& source, const buffer_matrix<Element>& target) {
  return offload::put(destination(target.node()), source, target);
}
/// Reads a matrix from memory of a node.
template <class Element, detail::local_matrix Matrix>
requires std::is_same_v<std::remove_const_t<Element>, detail::matrix_element<Matrix>> future<void> get(
    transfer_destination to, const buffer_matrix<Element>& source, const Matrix& target) {
  return offload::get(std::move(to), source.data_handle(), target.data_handle(),
                      detail::block_between("get", source.shape(), detail::shape_of(target)));
}
template <class Element, detail::local_matrix Matrix>
requires std::is_same_v<std::remove_const_t<Element>, detail::matrix_element<Matrix>> future<void> get(
    const buffer_matrix<Element>& source, const Matrix& target) {
  return offload::get(destination(source.node()), source, target);
}
/// Copies a matrix between the memories of any two nodes. The two must not overlap.
template <class Element>
future<void> copy(transfer_destination to, const buffer_matrix<Element>& source,
                  const buffer_matrix<std::remove_const_t<Element>>& target) {
  return offload::copy(std::move(to), source.data_handle(), target.data_handle(),
                       detail::block_between("copy", source.shape(), target.shape()));
}
template <class Element>
future<void> copy(const buffer_matrix<Element>& source, const buffer_matrix<std::remove_const_t<Element>>& target) {
  return offload::copy(destination(source.node()), source, target);
}

/// The same, complete on return; errors are thrown.
template <detail::local_matrix Matrix, class Element>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element>
void put_sync(transfer_destination to, const Matrix& source, const buffer_matrix<Element>& target) {
  offload::put_sync(std::move(to), source.data_handle(), target.data_handle(),
                    detail::block_between("put", detail::shape_of(source), target.shape()));
}
template <detail::local_matrix Matrix, class Element>
requires std::is_same_v<std::remove_const_t<detail::matrix_element<Matrix>>, Element>
void put_sync(const Matrix& source, const buffer_matrix<Element>& target) {
  offload::put_sync(destination(target.node()), source, target);
}
template <class Element, detail::local_matrix Matrix>
requires std::is_same_v<std::remove_const_t<Element>, detail::matrix_element<Matrix>>
void get_sync(transfer_destination to, const buffer_matrix<Element>& source, const Matrix& target) {
  offload::get_sync(std::move(to), source.data_handle(), target.data_handle(),
                    detail::block_between("get", source.shape(), detail::shape_of(target)));
}
template <class Element, detail::local_matrix Matrix>
requires std::is_same_v<std::remove_const_t<Element>, detail::matrix_element<Matrix>>
void get_sync(const buffer_matrix<Element>& source, const Matrix& target) {
  offload::get_sync(destination(source.node()), source, target);
}
template <class Element>
void copy_sync(transfer_destination to, const buffer_matrix<Element>& source,
               const buffer_matrix<std::remove_const_t<Element>>& target) {
  offload::copy(std::move(to), source, target).get();
}
template <class Element>
void copy_sync(const buffer_matrix<Element>& source, const buffer_matrix<std::remove_const_t<Element>>& target) {
  offload::copy(source, target).get();
}

}  // namespace ham::offload

/// A buffer_matrix crosses as a buffer_ptr and three numbers of 64 bits.
template <class Element>
struct ham::codec<ham::offload::buffer_matrix<Element>> {
  using pointer = offload::buffer_ptr<Element>;  ///< the first element
  /// Bytes: those of the pointer, 24 of three numbers.
  static constexpr std::size_t fixed_size = codec<pointer>::fixed_size + 24;
  /// Copies pointer, rows, columns and pitch.
  static void write(msg::writer& to, const offload::buffer_matrix<Element>& value) {
    codec<pointer>::write(to, value.data_handle());
    for (const std::size_t number : {value.rows(), value.columns(), value.pitch()})
      to.number(static_cast<std::uint64_t>(number));
  }
  /// Throws ham::protocol_error for numbers that are no matrix. The pointer is checked where it is used.
  static offload::buffer_matrix<Element> read(msg::reader& from) {
    const pointer first = codec<pointer>::read(from);
    std::size_t numbers[3];
    for (std::size_t& number : numbers) {
      const auto sent = from.number<std::uint64_t>();
      if (sent > SIZE_MAX / sizeof(Element)) throw protocol_error("a buffer_matrix has more elements than addresses");
      number = static_cast<std::size_t>(sent);
    }
    try {
      return {first, numbers[0], numbers[1], numbers[2]};
    } catch (const buffer_error& wrong) {
      throw protocol_error(wrong.what());
    }
  }
  /// That of the pointer, and three numbers.
  static std::string layout() { return codec<pointer>::layout() + ",u8,u8,u8"; }
};
