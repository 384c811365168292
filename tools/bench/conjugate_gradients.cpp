#include "conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ham::inline v1::bench {

namespace {

constexpr double cg_converged_at = 1e-16;
constexpr std::int64_t cg_max_iterations = 10'000;

cg_state cg_begin(double residual) { return {residual, 0, 0}; }
double cg_sum(double left, double right) { return left + right; }
double cg_step(cg_state now, double product) { return now.residual / product; }
cg_state cg_next(cg_state now, double residual) { return {residual, residual / now.residual, now.iterations + 1}; }
bool cg_ends_here(cg_state now) { return now.residual < cg_converged_at || now.iterations == cg_max_iterations; }

double cg_total(std::vector<offload::future<double>> parts) {
  double total = 0;
  for (offload::future<double>& one : parts) total += one.get();
  return total;
}

}  // namespace

// ---- on the targets

double cg_block::restart() {
  std::ranges::fill(x_, 0);
  std::ranges::fill(r_, 1);
  std::ranges::fill(p_, 0);
  return static_cast<double>(x_.size());
}

cg_ends cg_block::direction(cg_state now) {
  for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r_[i] + now.beta * p_[i];
  return {p_.front(), p_.back()};
}

double cg_block::multiply(cg_ends before, cg_ends after) {
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

double cg_block::advance(double alpha) {
  double residual = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    x_[i] += alpha * p_[i];
    r_[i] -= alpha * q_[i];
    residual += r_[i] * r_[i];
  }
  return residual;
}

// ---- on the host

conjugate_gradients::conjugate_gradients(int targets, std::size_t rows_of_each)
    : blocks_([&] {
        std::vector<offload::remote<cg_block>> made;
        for (node_t node = 1; node <= targets; ++node) made.push_back(offload::make<cg_block>(node, rows_of_each));
        return made;
      }()),
      solve_(record()) {}

std::int64_t conjugate_gradients::solve_by_host() const {
  const auto on_all = [this](auto begin) {
    std::vector<offload::future<double>> parts;
    for (std::size_t i = 0; i < blocks_.size(); ++i) parts.push_back(begin(i));
    return cg_total(std::move(parts));
  };
  cg_state now = cg_begin(on_all([&](std::size_t i) { return blocks_[i].async<&cg_block::restart>(); }));
  do {
    std::vector<offload::future<cg_ends>> coming;
    for (const auto& one : blocks_) coming.push_back(one.async<&cg_block::direction>(now));
    std::vector<cg_ends> edges(blocks_.size() + 2);  // with zeros around
    for (std::size_t i = 0; i < coming.size(); ++i) edges[i + 1] = coming[i].get();
    const double alpha = cg_step(
        now, on_all([&](std::size_t i) { return blocks_[i].async<&cg_block::multiply>(edges[i], edges[i + 2]); }));
    now = cg_next(now, on_all([&](std::size_t i) { return blocks_[i].async<&cg_block::advance>(alpha); }));
  } while (!cg_ends_here(now));
  return now.iterations;
}

offload::compiled_graph<cg_state> conjugate_gradients::record() const {
  offload::graph g;
  std::vector<number_value> parts;
  for (const auto& one : blocks_) parts.push_back(g.call(one.node(), fn<&cg_block::restart>, one.ref()));
  return g.compile(g.repeat(
      g.call(1, fn<&cg_begin>, total(g, parts)), [&](state_value now) { return iterate(g, now); }, fn<&cg_ends_here>));
}

conjugate_gradients::state_value conjugate_gradients::iterate(offload::graph& g, state_value now) const {
  std::vector<offload::graph_value<cg_ends>> edges;
  for (const auto& one : blocks_) edges.push_back(g.call(one.node(), fn<&cg_block::direction>, one.ref(), now));
  std::vector<number_value> products;
  for (std::size_t i = 0; i < blocks_.size(); ++i) products.push_back(multiply(g, edges, i));
  auto alpha = g.call(1, fn<&cg_step>, now, total(g, products));
  std::vector<number_value> residuals;
  for (const auto& one : blocks_) residuals.push_back(g.call(one.node(), fn<&cg_block::advance>, one.ref(), alpha));
  return g.call(1, fn<&cg_next>, now, total(g, residuals));
}

conjugate_gradients::number_value conjugate_gradients::multiply(offload::graph& g,
                                                                const std::vector<offload::graph_value<cg_ends>>& edges,
                                                                std::size_t block) const {
  const auto& mine = blocks_[block];
  const auto record = [&](const auto& before, const auto& after) {
    return g.call(mine.node(), fn<&cg_block::multiply>, mine.ref(), before, after).after(edges[block]);
  };
  const bool first = block == 0, last = block + 1 == blocks_.size();
  if (first && last) return record(cg_ends{}, cg_ends{});
  if (first) return record(cg_ends{}, edges[block + 1]);
  if (last) return record(edges[block - 1], cg_ends{});
  return record(edges[block - 1], edges[block + 1]);
}

conjugate_gradients::number_value conjugate_gradients::total(offload::graph& g,
                                                             const std::vector<number_value>& parts) {
  number_value all = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) all = g.call(1, fn<&cg_sum>, all, parts[i]);
  return all;
}

double conjugate_gradients::max_error() const {
  std::vector<double> x;
  for (const auto& one : blocks_) {
    const std::vector<double> part = one.call<&cg_block::solution>();
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

}  // namespace ham::bench
