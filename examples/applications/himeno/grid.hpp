// The Himeno benchmark's pressure solver: Jacobi iteration with a 19-point stencil, on all or some planes of the grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace himeno {

/// Points in each direction; the outermost ones are the boundary.
struct extents {
  std::size_t i = 0, j = 0, k = 0;

  [[nodiscard]] std::size_t row() const { return k + 1; }  ///< odd: no two rows of a stencil share a cache set
  [[nodiscard]] std::size_t plane() const { return (j + 1) * row(); }
  [[nodiscard]] std::size_t inner_points() const { return (i - 2) * (j - 2) * (k - 2); }
};

/// "XS", "S", "M", "L" of the benchmark; zeros for another name.
[[nodiscard]] extents extents_of(std::string_view name);

inline constexpr int flops_per_point = 34;
/// Bytes that the source reads and writes per point: 31 floats read, one written.
inline constexpr int code_bytes_per_point = 32 * 4;
/// Bytes that must cross the memory bus if every plane is read only once: 13 floats read, one written.
inline constexpr int memory_bytes_per_point = 14 * 4;

/// The arrays of the benchmark by their names there; plane 0 of each is plane `first - 1` of a slab.
inline constexpr std::size_t coefficient_count = 12;  ///< a[4], b[3], c[3], bnd, wrk1
struct arrays {
  std::array<const float*, coefficient_count> coefficients{};
  const float* p = nullptr;
  float* next = nullptr;  ///< p of the next iteration, wrk2 of the benchmark
};

/// One iteration on planes [from, to) of the slab, counted from its plane 0. Adds nothing up over planes:
/// `plane_residuals[plane - from]` becomes that plane's sum of squared changes. Points of a plane are added up in the
/// same order wherever and with whichever other planes this runs.
void sweep(const extents& grid, const arrays& on, std::size_t from, std::size_t to, double* plane_residuals);

/// The sum in the order of the planes: the benchmark's gosa.
[[nodiscard]] double residual_of(std::span<const double> plane_residuals);

/// Inner planes [first, last) of the grid, with a halo plane on each side.
class slab {
 public:
  slab(const extents& grid, std::size_t first, std::size_t last);

  /// As the benchmark begins.
  void initialise();
  /// Planes are counted in the whole grid.
  void sweep(std::size_t from, std::size_t to, double* plane_residuals);
  /// What was computed becomes p.
  void swap() { p_.swap(next_); }

  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t last() const { return last_; }
  /// A plane of the next iteration, also a halo.
  [[nodiscard]] std::span<float> next_plane(std::size_t plane);
  /// A number for each inner plane that differs if a bit of p differs.
  [[nodiscard]] std::vector<std::uint64_t> plane_hashes() const;

  [[nodiscard]] arrays view();
  /// All planes, for copies to another memory.
  [[nodiscard]] std::span<const float> coefficient(std::size_t which) const { return coefficients_[which]; }
  [[nodiscard]] std::span<float> p() { return p_; }

 private:
  extents grid_;
  std::size_t first_, last_;
  std::array<std::vector<float>, coefficient_count> coefficients_;
  std::vector<float> p_, next_;
};

/// Inner planes [first, last) of part `index` of `parts`; parts differ by one plane at most.
struct plane_range {
  std::size_t first, last;
};
[[nodiscard]] plane_range part_of(const extents& grid, std::size_t index, std::size_t parts);

}  // namespace himeno
