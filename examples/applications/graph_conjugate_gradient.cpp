// Conjugate gradients as a recorded graph: the loop runs on the targets until it has converged, and the host sends one
// message for each solve. Beside it the same stages, driven by the host call by call.
// expect: ^graph: [0-9]+ iterations, error below 1e-6, 1 message of the host$
// expect: ^host:  [0-9]+ iterations, error below 1e-6, [0-9]+ messages of the host$
// expect: ^the same iterations$
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace ham;

// ---- on the targets

/// What goes from iteration to iteration.
struct progress {
  double residual;  ///< squared
  double beta;
  std::int64_t iterations;
};
/// The values of a block that its neighbours need.
struct ends {
  double first, last;
};

/// What a target holds: its rows of the matrix (-1 2 -1), and of the vectors.
class block {
 public:
  explicit block(std::size_t rows) : x_(rows), r_(rows), p_(rows), q_(rows) {}

  /// The right hand side is 1 everywhere. This block's part of the squared residual.
  double restart() {
    x_.assign(x_.size(), 0);
    r_.assign(r_.size(), 1);
    p_.assign(p_.size(), 0);
    return static_cast<double>(x_.size());
  }
  /// p = r + beta p.
  ends direction(progress now) {
    for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r_[i] + now.beta * p_[i];
    return {p_.front(), p_.back()};
  }
  /// q = A p; this block's part of p q. `before` and `after` are of the neighbours.
  double multiply(ends before, ends after) {
    const std::size_t rows = p_.size();
    double product = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double left = i == 0 ? before.last : p_[i - 1];
      const double right = i + 1 == rows ? after.first : p_[i + 1];
      q_[i] = 2 * p_[i] - left - right;
      product += p_[i] * q_[i];
    }
    return product;
  }
  /// x += alpha p, r -= alpha q; this block's part of the squared residual.
  double advance(double alpha) {
    double residual = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * q_[i];
      residual += r_[i] * r_[i];
    }
    return residual;
  }
  std::vector<double> solution() const { return x_; }

 private:
  std::vector<double> x_, r_, p_, q_;
};

progress begin(double residual) { return {residual, 0, 0}; }
double sum(double left, double right) { return left + right; }
double step_length(progress now, double product) { return now.residual / product; }
progress next(progress now, double residual) { return {residual, residual / now.residual, now.iterations + 1}; }
bool converged(progress now) { return now.residual < 1e-16 || now.iterations == 10'000; }

// ---- on the host

namespace {

class solver {
 public:
  solver(int targets, std::size_t rows) {
    for (node_t node = 1; node <= targets; ++node) blocks_.push_back(offload::make<block>(node, rows));
    offload::graph g;
    auto residual = g.input<double>();
    auto last = g.repeat(
        g.call(1, fn<&begin>, residual), [&](offload::graph_value<progress> now) { return iterate(g, now); },
        fn<&converged>);
    solve_ = std::make_unique<offload::compiled_graph<progress, double>>(g.compile(last, residual));
  }

  /// The squared residual of the start.
  [[nodiscard]] double restart() const {
    double residual = 0;
    for (const auto& one : blocks_) residual += one.call<&block::restart>();
    return residual;
  }
  [[nodiscard]] progress run_graph(double residual) { return (*solve_)(residual).get(); }
  [[nodiscard]] progress run_from_host(double residual) const {
    progress now = begin(residual);
    do {
      std::vector<ends> edges;
      for (const auto& one : blocks_) edges.push_back(one.call<&block::direction>(now));
      double product = 0;
      for (std::size_t i = 0; i < blocks_.size(); ++i)
        product += blocks_[i].call<&block::multiply>(i == 0 ? ends{} : edges[i - 1],
                                                     i + 1 == blocks_.size() ? ends{} : edges[i + 1]);
      double rest = 0;
      for (const auto& one : blocks_) rest += one.call<&block::advance>(step_length(now, product));
      now = next(now, rest);
    } while (!converged(now));
    return now;
  }
  /// The exact solution is a parabola.
  [[nodiscard]] double max_error() const {
    std::vector<double> x;
    for (const auto& one : blocks_) {
      const std::vector<double> part = one.call<&block::solution>();
      x.insert(x.end(), part.begin(), part.end());
    }
    double error = 0;
    const auto n = static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = static_cast<double>(i + 1);
      error = std::max(error, std::abs(x[i] - row * (n + 1 - row) / 2));
    }
    return error;
  }

 private:
  /// One iteration, as it is recorded. What has no neighbour gets zeros.
  offload::graph_value<progress> iterate(offload::graph& g, offload::graph_value<progress> now) const {
    std::vector<offload::graph_value<ends>> edges;
    for (const auto& one : blocks_) edges.push_back(g.call(one.node(), fn<&block::direction>, one.ref(), now));
    std::vector<offload::graph_value<double>> products;
    const std::size_t last = blocks_.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      const auto node = blocks_[i].node();
      const auto mine = blocks_[i].ref();
      if (last == 0)
        products.push_back(g.call(node, fn<&block::multiply>, mine, ends{}, ends{}).after(edges[0]));
      else if (i == 0)
        products.push_back(g.call(node, fn<&block::multiply>, mine, ends{}, edges[1]).after(edges[0]));
      else if (i == last)
        products.push_back(g.call(node, fn<&block::multiply>, mine, edges[i - 1], ends{}).after(edges[i]));
      else
        products.push_back(g.call(node, fn<&block::multiply>, mine, edges[i - 1], edges[i + 1]).after(edges[i]));
    }
    auto alpha = g.call(1, fn<&step_length>, now, total(g, products));
    std::vector<offload::graph_value<double>> residuals;
    for (const auto& one : blocks_) residuals.push_back(g.call(one.node(), fn<&block::advance>, one.ref(), alpha));
    return g.call(1, fn<&next>, now, total(g, residuals));
  }
  static offload::graph_value<double> total(offload::graph& g, const std::vector<offload::graph_value<double>>& parts) {
    offload::graph_value<double> all = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) all = g.call(1, fn<&sum>, all, parts[i]);
    return all;
  }

  std::vector<offload::remote<block>> blocks_;
  std::unique_ptr<offload::compiled_graph<progress, double>> solve_;
};

template <class Run>
progress report(const char* name, solver& system, Run run) {
  const double residual = system.restart();
  const auto before = offload::stats().calls_sent;
  const auto begin_time = std::chrono::steady_clock::now();
  const progress end = run(residual);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin_time;
  const auto messages = offload::stats().calls_sent - before;
  std::printf("%s %lld iterations, error %s 1e-6, %llu message%s of the host\n", name,
              static_cast<long long>(end.iterations), system.max_error() < 1e-6 ? "below" : "ABOVE",
              static_cast<unsigned long long>(messages), messages == 1 ? "" : "s");
  std::fprintf(stderr, "%s %.3f ms\n", name, time.count());
  return end;
}

}  // namespace

int main() {
  solver system(static_cast<int>(offload::targets().size()), 200);
  const progress by_graph = report("graph:", system, [&](double residual) { return system.run_graph(residual); });
  const progress by_host = report("host: ", system, [&](double residual) { return system.run_from_host(residual); });
  if (by_graph.iterations == by_host.iterations) std::puts("the same iterations");
  return 0;
}
