// The examples conjugate gradients and Himeno with kernels launched one by one, as without HAM: prints one JSON object.
// plain_cuda [SIDE [SIZE]]. With GPU_BENCHMARK_CUSPARSE, the products of one of two solvers are cuSPARSE's.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#if defined(GPU_BENCHMARK_CUSPARSE)
#include <cusparse.h>
#endif

#include "conjugate_gradient/csr_matrix.hpp"
#include "cuda_check.hpp"
#include "himeno/grid.hpp"

namespace {

using gpu_benchmark::check;

constexpr unsigned threads = 256;
constexpr double enough = 1e-20;

[[nodiscard]] unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

/// Memory of the GPU.
template <class Value>
class gpu_array {
 public:
  explicit gpu_array(std::size_t count) : count_(count) { check(cudaMalloc(&memory_, count * sizeof(Value))); }
  explicit gpu_array(const std::vector<Value>& from) : gpu_array(from.size()) { copy_from(from.data()); }
  ~gpu_array() { cudaFree(memory_); }
  gpu_array(const gpu_array&) = delete;
  gpu_array& operator=(const gpu_array&) = delete;

  [[nodiscard]] Value* get() const { return static_cast<Value*>(memory_); }
  void copy_from(const Value* from) {
    check(cudaMemcpy(memory_, from, count_ * sizeof(Value), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> result(count_);
    check(cudaMemcpy(result.data(), memory_, count_ * sizeof(Value), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  void* memory_ = nullptr;
  const std::size_t count_;
};

// ---- conjugate gradients

__global__ void multiply_rows(std::size_t n, const std::uint64_t* row_start, const std::int32_t* column,
                              const double* value, const double* p, double* q) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (std::uint64_t at = row_start[i]; at < row_start[i + 1]; ++at) sum += value[at] * p[column[at]];
  q[i] = sum;
}

/// Adds to `to`, which is zero before.
__global__ void add_products(std::size_t n, const double* one, const double* other, double* to) {
  __shared__ double parts[threads];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  parts[threadIdx.x] = i < n ? one[i] * other[i] : 0;
  for (unsigned half = threads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(to, parts[0]);
}

__global__ void add_scaled(std::size_t n, double factor, const double* from, double* to) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] += factor * from[i];
}
__global__ void scale_and_add(std::size_t n, double factor, const double* from, double* to) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + factor * to[i];
}

struct solver_outcome {
  double us_per_iteration;
  std::vector<double> x;
};

/// `multiply(p, q)` starts q = A p on the default stream.
solver_outcome solve(std::size_t n, const std::function<void(double*, double*)>& multiply) {
  const std::vector<double> ones(n, 1.0);
  const std::vector<double> zeros(n, 0.0);
  const gpu_array<double> x(zeros), r(ones), p(ones), q(n), sum(1);
  const unsigned blocks = blocks_for(n);
  const auto dot = [&](const gpu_array<double>& one, const gpu_array<double>& other) {
    check(cudaMemsetAsync(sum.get(), 0, sizeof(double)));
    add_products<<<blocks, threads>>>(n, one.get(), other.get(), sum.get());
    double result = 0;
    check(cudaMemcpy(&result, sum.get(), sizeof result, cudaMemcpyDeviceToHost));
    return result;
  };
  double residual = dot(r, r);
  std::size_t iterations = 0;
  const auto start = std::chrono::steady_clock::now();
  for (; residual >= enough && iterations < 10 * n; ++iterations) {
    multiply(p.get(), q.get());
    const double alpha = residual / dot(p, q);
    add_scaled<<<blocks, threads>>>(n, alpha, p.get(), x.get());
    add_scaled<<<blocks, threads>>>(n, -alpha, q.get(), r.get());
    const double next = dot(r, r);
    scale_and_add<<<blocks, threads>>>(n, next / residual, r.get(), p.get());
    residual = next;
  }
  check(cudaDeviceSynchronize());
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return {took.count() / static_cast<double>(iterations), x.values()};
}

#if defined(GPU_BENCHMARK_CUSPARSE)
void check(cusparseStatus_t result) {
  if (result != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(result));
}

/// The products of cuSPARSE; row starts are of 64 bits here, so that columns must be, too.
solver_outcome solve_with_cusparse(const cg::csr_matrix& a) {
  const auto n = static_cast<std::int64_t>(a.rows());
  const gpu_array<std::uint64_t> row_start(a.row_start);
  const gpu_array<std::int64_t> column(std::vector<std::int64_t>(a.column.begin(), a.column.end()));
  const gpu_array<double> value(a.value);
  const gpu_array<double> first(static_cast<std::size_t>(n)), second(static_cast<std::size_t>(n));
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t in = nullptr;
  cusparseDnVecDescr_t out = nullptr;
  check(cusparseCreate(&handle));
  check(cusparseCreateCsr(&matrix, n, n, static_cast<std::int64_t>(a.nonzeros()), row_start.get(), column.get(),
                          value.get(), CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  check(cusparseCreateDnVec(&in, n, first.get(), CUDA_R_64F));
  check(cusparseCreateDnVec(&out, n, second.get(), CUDA_R_64F));
  const double one = 1;
  const double zero = 0;
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_64F,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  const gpu_array<char> buffer(bytes + 1);
  solver_outcome result = solve(static_cast<std::size_t>(n), [&](double* p, double* q) {
    check(cusparseDnVecSetValues(in, p));
    check(cusparseDnVecSetValues(out, q));
    check(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_64F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer.get()));
  });
  check(cusparseDestroy(handle));
  return result;
}
#endif

solver_outcome solve_with_kernels(const cg::csr_matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows());
  const gpu_array<std::uint64_t> row_start(a.row_start);
  const gpu_array<std::int32_t> column(a.column);
  const gpu_array<double> value(a.value);
  return solve(n, [&](double* p, double* q) {
    multiply_rows<<<blocks_for(n), threads>>>(n, row_start.get(), column.get(), value.get(), p, q);
  });
}

/// |b - A x| / |b| for b of ones, on this processor.
double residual_of(const cg::csr_matrix& a, const std::vector<double>& x) {
  std::vector<double> product(x.size());
  cg::multiply(a, x, product);
  double sum = 0;
  for (const double one : product) sum += (1 - one) * (1 - one);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

// ---- Himeno

constexpr float omega = 0.8F;

struct stencil {
  const float* a[himeno::coefficient_count];
  std::size_t i, j, k, row, plane;
};

__global__ void relax(stencil of, const float* p, float* next) {
  const std::size_t columns = of.k - 2;
  const std::size_t rows = of.j - 2;
  const std::size_t point = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (point >= (of.i - 2) * rows * columns) return;
  const std::size_t line = point / columns;
  const std::size_t at = (1 + line / rows) * of.plane + (1 + line % rows) * of.row + 1 + point % columns;
  const float *up = p + of.plane, *down = p - of.plane, *right = p + of.row, *left = p - of.row;
  const float *up_right = up + of.row, *up_left = up - of.row, *down_right = down + of.row, *down_left = down - of.row;
  const float s0 = of.a[0][at] * up[at] + of.a[1][at] * right[at] + of.a[2][at] * p[at + 1] +
                   of.a[4][at] * (up_right[at] - up_left[at] - down_right[at] + down_left[at]) +
                   of.a[5][at] * (right[at + 1] - left[at + 1] - right[at - 1] + left[at - 1]) +
                   of.a[6][at] * (up[at + 1] - down[at + 1] - up[at - 1] + down[at - 1]) + of.a[7][at] * down[at] +
                   of.a[8][at] * left[at] + of.a[9][at] * p[at - 1] + of.a[11][at];
  next[at] = p[at] + omega * ((s0 * of.a[3][at] - p[at]) * of.a[10][at]);
}

double himeno_mflops(const himeno::extents& grid) {
  constexpr int iterations = 20;  // as the example
  himeno::slab begin(grid, 1, grid.i - 1);
  begin.initialise();
  const std::size_t points = begin.p().size();
  std::vector<float> all;
  for (std::size_t which = 0; which < himeno::coefficient_count; ++which)
    all.insert(all.end(), begin.coefficient(which).begin(), begin.coefficient(which).end());
  const gpu_array<float> coefficients(all);
  const std::vector<float> p(begin.p().begin(), begin.p().end());
  const gpu_array<float> one(p), other(p);
  stencil of{{}, grid.i, grid.j, grid.k, grid.row(), grid.plane()};
  for (std::size_t which = 0; which < himeno::coefficient_count; ++which)
    of.a[which] = coefficients.get() + which * points;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i)
    relax<<<blocks_for(grid.inner_points()), threads>>>(of, i % 2 == 0 ? one.get() : other.get(),
                                                        i % 2 == 0 ? other.get() : one.get());
  check(cudaDeviceSynchronize());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::vector<double> planes(grid.i - 2);
  for (int i = 0; i < iterations; ++i) {
    begin.sweep(begin.first(), begin.last(), planes.data());
    begin.swap();
  }
  const std::vector<float> found = one.values();
  for (std::size_t i = 0; i < points; ++i)
    if (std::abs(found[i] - begin.p()[i]) > 1e-5F)
      throw std::runtime_error("the plain Himeno kernel computes another p");
  return static_cast<double>(grid.inner_points()) * iterations * himeno::flops_per_point / took.count() * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 256;
  const himeno::extents grid = himeno::extents_of(argc > 2 ? argv[2] : "S");
  if (side < 1 || side > 10'000 || grid.i == 0) {
    std::fprintf(stderr, "plain_cuda: the side of the grid is a number from 1 to 10000; sizes are XS, S, M and L\n");
    return 2;
  }
  try {
    const cg::csr_matrix a = cg::poisson_matrix(side);
    static_cast<void>(solve_with_kernels(cg::poisson_matrix(16)));  // loads the code
    const solver_outcome plain = solve_with_kernels(a);
    std::printf("{\"conjugate_gradient_cuda_us\": %.6g, \"conjugate_gradient_cuda_residual\": %.3g",
                plain.us_per_iteration, residual_of(a, plain.x));
#if defined(GPU_BENCHMARK_CUSPARSE)
    static_cast<void>(solve_with_cusparse(cg::poisson_matrix(16)));
    const solver_outcome sparse = solve_with_cusparse(a);
    std::printf(", \"conjugate_gradient_cusparse_us\": %.6g, \"conjugate_gradient_cusparse_residual\": %.3g",
                sparse.us_per_iteration, residual_of(a, sparse.x));
#endif
    static_cast<void>(himeno_mflops(himeno::extents_of("XS")));
    std::printf(", \"himeno_cuda_mflops\": %.6g}\n", himeno_mflops(grid));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "plain_cuda: %s\n", problem.what());
    return 1;
  }
  return 0;
}
