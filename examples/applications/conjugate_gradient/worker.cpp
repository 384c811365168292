// Conjugate gradients on the rows of one target. local_system.cpp has the same loop without messages.
#include "worker.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace cg {
namespace {

namespace offload = ham::offload;

csr_view view_of(const resident_matrix& matrix) {
  return {matrix.row_start.get(), matrix.column.get(), matrix.value.get()};
}

}  // namespace

/// co_await: goes on when the event has happened, which uses it up.
class worker::until {
 public:
  until(worker& at, event what) : at_(at), what_(what) {}

  [[nodiscard]] bool await_ready() const { return at_.stopped_ || at_.happened(what_); }
  void await_suspend(std::coroutine_handle<> waiting) {
    at_.waits_since_ = std::chrono::steady_clock::now();
    at_.waits_for_ = what_;
    at_.waiting_ = waiting;
    suspended_ = true;
  }
  residual_dots await_resume() {
    if (suspended_) at_.waited_ += std::chrono::steady_clock::now() - at_.waits_since_;
    if (at_.stopped_) throw std::runtime_error("the solver was given up");
    if (what_ == event::halos) at_.halos_arrived_ -= at_.others_.senders;
    return {at_.sums_.sum()[0], at_.sums_.sum()[1]};
  }

 private:
  worker& at_;
  event what_;
  bool suspended_ = false;
};

worker::worker(const resident_memory& memory) : vectors_(3, memory.rows), halo_(memory.halo), sums_(0, 1, {}) {
  block_.rows = memory.rows;
  block_.lower = view_of(memory.lower);
  block_.diagonal = memory.diagonal.get();
  block_.outer = view_of(memory.outer);
  block_.inverse_diagonal = memory.inverse_diagonal.get();
  block_.b = memory.b.get();
  block_.x = memory.x.get();
  block_.r = vectors_[0].data();
  block_.p = vectors_[1].data();
  block_.q = vectors_[2].data();
  block_.halo = halo_.data();
  std::fill_n(block_.x, block_.rows, 0.0);
}

void worker::introduce(introduction others) {
  others_ = std::move(others);
  sums_ = all_reduce(others_.index, others_.workers.size(),
                     [this](std::size_t to, std::uint32_t slot, const all_reduce::values& part) {
                       const worker_ref there = others_.workers[to];
                       offload::ping(there.node(), ham::fn<&worker::take_part>, there, slot, part);
                     });
}

offload::task<double> worker::restarting(start_at x) {
  if (x == start_at::zero) std::fill_n(block_.x, block_.rows, 0.0);
  load_solution(block_);
  turn_ = 1.0;
  send_halos();
  multiply(block_, turn_);
  co_await all_halos();
  multiply_halo(block_, others_.boundary);
  const residual_dots own = cg::restart(block_);
  now_ = co_await total_of(own);
  turn_ = 0.0;
  co_return now_.rr;
}

offload::task<iteration_report> worker::iterating(std::int64_t most, double goal) {
  iteration_report report;
  waited_ = {};
  for (std::int64_t i = 0; i < most; ++i) {
    send_halos();
    double curvature = multiply(block_, turn_);  // while the halos are on their way
    co_await all_halos();
    curvature += multiply_halo(block_, others_.boundary);
    const residual_dots product = co_await total_of({curvature, 0.0});
    curvature = product.rz;
    if (!(curvature > 0.0) || !std::isfinite(curvature)) {
      report.broken = true;
      report.curvature = curvature;
      break;
    }
    const residual_dots own = advance(block_, now_.rz / curvature);
    const residual_dots next = co_await total_of(own);
    turn_ = next.rz / now_.rz;
    now_ = next;
    if (others_.index == 0) report.residuals.push_back(now_.rr);
    if (now_.rr <= goal) break;
  }
  report.waiting = std::chrono::duration<double>(waited_).count();
  co_return report;
}

// ---- messages

void worker::send_halos() {
  for (const halo_link& link : others_.halo_targets) {
    to_send_.resize(link.rows.size());
    copy_border(block_, turn_, link.rows, to_send_.data());
    const worker_ref there = others_.workers[link.to];
    offload::ping(there.node(), ham::fn<&worker::take_halo>, there, link.offset, std::span<const double>(to_send_));
  }
}

void worker::take_halo(std::uint64_t offset, std::span<const double> elements) {
  if (offset > halo_.size() || elements.size() > halo_.size() - offset) throw std::out_of_range("a halo is too long");
  std::copy(elements.begin(), elements.end(), halo_.begin() + static_cast<std::ptrdiff_t>(offset));
  ++halos_arrived_;
  resume_if_happened();
}

void worker::take_part(std::uint32_t slot, const all_reduce::values& part) {
  sums_.take(slot, part);
  resume_if_happened();
}

void worker::stop() {
  stopped_ = true;
  resume_if_happened();
}

worker::until worker::all_halos() { return {*this, event::halos}; }

worker::until worker::total_of(const residual_dots& part) {
  sums_.begin({part.rz, part.rr});
  return {*this, event::sum};
}

bool worker::happened(event what) const {
  return what == event::halos ? halos_arrived_ >= others_.senders : sums_.done();
}

void worker::resume_if_happened() {
  if (waiting_ && (stopped_ || happened(waits_for_))) std::exchange(waiting_, nullptr).resume();
}

// ---- called from elsewhere

namespace on_target {

int core() { return sched_getcpu(); }
std::uint64_t bytes_sent() { return offload::stats().bytes_sent; }
void nothing() {}

}  // namespace on_target
}  // namespace cg
