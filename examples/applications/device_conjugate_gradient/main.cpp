// Conjugate gradients in one device function, by all threads of each GPU: no launch and no message per iteration.
// env: HAM_NODES=cuda-emulated:1/blocks=2/warps=1/lanes=1,shm:1
// timeout: 120
// expect: ^node 1 \(cuda-emulated, 2 threads\): [0-9]+ iterations, as on the CPU within rounding$
// expect: ^node 2 \(cpu, 1 threads\): [0-9]+ iterations, as on the CPU within rounding$
#include <ham/device.hpp>
#include <ham/offload.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "csr_matrix.hpp"

using namespace ham;

// ---- on the device

/// A sparse matrix in compressed rows.
struct matrix_place {
  offload::buffer_ptr<std::uint64_t> row_start;
  offload::buffer_ptr<std::int32_t> column;
  offload::buffer_ptr<double> value;
};
struct outcome {
  double residual;  ///< squared
  std::uint64_t iterations;
};

/// Sums over all threads, the same bits on each: first of groups of threads, then of groups. Two sets of parts take
/// turns, so that nobody waits for those who still read the last ones.
class thread_sum {
 public:
  HAM_DEVICE explicit thread_sum(offload::buffer_ptr<double> parts) : parts_(parts.get()) {}
  HAM_DEVICE static std::uint32_t groups() { return (device::size() + group_size - 1) / group_size; }
  HAM_DEVICE static std::uint32_t room() { return 2 * (device::size() + groups()); }
  HAM_DEVICE double of(double own) {
    double* const set = parts_ + turn_ * (room() / 2);
    double* const of_groups = set + device::size();
    turn_ ^= 1U;
    set[device::rank()] = own;
    device::sync();
    if (device::rank() < groups()) {
      const std::uint32_t first = device::rank() * group_size;
      const std::uint32_t end = first + group_size < device::size() ? first + group_size : device::size();
      of_groups[device::rank()] = sum_of(set + first, end - first);
    }
    device::sync();
    return sum_of(of_groups, groups());
  }

 private:
  static constexpr std::uint32_t group_size = 64;
  HAM_DEVICE static double sum_of(const double* values, std::uint32_t count) {
    double sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  double* parts_;
  std::uint32_t turn_ = 0;
};

/// Solves A x = b for n rows, from x = 0. `vectors` has b, x, r, p and q, one behind the other; `parts` has room for
/// each thread, and for a word that all see alike. Ends with a squared residual below `enough`, or when it is asked to
/// stop.
HAM_DEVICE outcome solve(matrix_place a, offload::buffer_ptr<double> vectors, std::uint64_t n,
                         offload::buffer_ptr<double> parts, double enough) {
  const double* const b = vectors.get();
  double *const x = vectors.get() + n, *const r = x + n, *const p = r + n, *const q = p + n;
  const std::uint32_t first = device::rank();
  const std::uint32_t step = device::size();
  double& stop = parts[thread_sum::room()];
  thread_sum total(parts);
  double own = 0;
  for (std::uint64_t i = first; i < n; i += step) {
    x[i] = 0;
    r[i] = p[i] = b[i];
    own += r[i] * r[i];
  }
  outcome now{total.of(own), 0};
  while (now.residual >= enough && now.iterations < 10 * n) {
    double product = 0;
    for (std::uint64_t i = first; i < n; i += step) {
      double sum = 0;
      for (std::uint64_t at = a.row_start[i]; at < a.row_start[i + 1]; ++at) sum += a.value[at] * p[a.column[at]];
      q[i] = sum;
      product += p[i] * sum;
    }
    const double alpha = now.residual / total.of(product);
    own = 0;
    for (std::uint64_t i = first; i < n; i += step) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      own += r[i] * r[i];
    }
    // One thread asks, so that all of them end after the same iteration.
    if (first == 0) stop = device::stop_requested() ? 1 : 0;
    const double residual = total.of(own);
    const double beta = residual / now.residual;
    for (std::uint64_t i = first; i < n; i += step) p[i] = r[i] + beta * p[i];
    now = {residual, now.iterations + 1};
    if (stop != 0) break;
    device::sync();
  }
  return now;
}
HAM_DEVICE_FUNCTION(solve, grid)

HAM_DEVICE std::uint32_t threads() { return device::size(); }
HAM_DEVICE_FUNCTION(threads, grid)

// ---- on the host

namespace {

constexpr double enough = 1e-20;
constexpr std::size_t max_parts = 1U << 18U;  // some 100 000 threads

struct solution {
  outcome how{};
  std::vector<double> x;
};

double dot(const std::vector<double>& one, const std::vector<double>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += one[i] * other[i];
  return sum;
}

/// With the arithmetic of the example conjugate_gradient.
solution on_this_cpu(const cg::csr_matrix& a, const std::vector<double>& b) {
  std::vector<double> r = b, p = b, q(b.size());
  solution result{{dot(r, r), 0}, std::vector<double>(b.size())};
  while (result.how.residual >= enough) {
    cg::multiply(a, p, q);
    const double alpha = result.how.residual / dot(p, q);
    for (std::size_t i = 0; i < b.size(); ++i) {
      result.x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double residual = dot(r, r);
    for (std::size_t i = 0; i < b.size(); ++i) p[i] = r[i] + residual / result.how.residual * p[i];
    result.how = {residual, result.how.iterations + 1};
  }
  return result;
}

template <class Value>
offload::buffer<Value> sent_to(node_t node, const std::vector<Value>& values) {
  offload::buffer<Value> there{node, values.size()};
  offload::put(values.data(), there.ptr(), values.size()).get();
  return there;
}

solution on_node(node_t node, const cg::csr_matrix& a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  const auto row_start = sent_to(node, a.row_start);
  const auto column = sent_to(node, a.column);
  const auto value = sent_to(node, a.value);
  const offload::buffer<double> vectors{node, 5 * n};
  const offload::buffer<double> parts{node, max_parts};
  offload::put(b.data(), vectors.ptr(), n).get();
  solution result{{}, std::vector<double>(n)};
  const auto start = std::chrono::steady_clock::now();
  result.how = offload::sync(node, fn<&solve>, matrix_place{row_start.ptr(), column.ptr(), value.ptr()}, vectors.ptr(),
                             std::uint64_t{n}, parts.ptr(), enough);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("node %d: %.1f us an iteration\n", node, seconds / static_cast<double>(result.how.iterations) * 1e6);
  offload::get(vectors.ptr() + static_cast<std::ptrdiff_t>(n), result.x.data(), n).get();
  return result;
}

/// Devices multiply and add in one step, and add up in another order: an iteration more or less.
bool close_to(const solution& one, const solution& other, double difference) {
  // Sums of partial sums round less, which saves iterations where there are hundreds.
  const std::uint64_t more = 2 + other.how.iterations / 8;
  return one.how.residual < enough && one.how.iterations <= other.how.iterations + more &&
         other.how.iterations <= one.how.iterations + more && difference <= 1e-8;
}

/// The largest of an element, of its size where that is more than 1.
double difference_of(const solution& one, const solution& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.x.size(); ++i) {
    const double here = std::abs(one.x[i] - other.x[i]) / (1 + std::abs(other.x[i]));
    if (!(here < INFINITY)) return INFINITY;
    largest = std::max(largest, static_cast<double>(here));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 16;
  if (side < 1 || side > 10'000) {
    std::fprintf(stderr, "device_conjugate_gradient: the side of the grid is a number from 1 to 10000\n");
    return 2;
  }
  const cg::csr_matrix a = cg::poisson_matrix(side);
  const std::vector<double> b(static_cast<std::size_t>(a.rows()), 1.0);
  const solution expected = on_this_cpu(a, b);
  bool all_close = true;
  for (const node_t node : offload::targets()) {
    const solution found = on_node(node, a, b);
    const double difference = difference_of(found, expected);
    const bool close = close_to(found, expected, difference);
    std::printf("node %d: difference from the CPU %.3g\n", node, difference);
    all_close = all_close && close;
    std::printf("node %d (%s, %u threads): %llu iterations, %s\n", node,
                offload::get_node_descriptor(node).device_type().c_str(), offload::sync(node, fn<&threads>),
                static_cast<unsigned long long>(found.how.iterations),
                close ? "as on the CPU within rounding" : "NOT as on the CPU");
  }
  return all_close ? EXIT_SUCCESS : EXIT_FAILURE;
}
