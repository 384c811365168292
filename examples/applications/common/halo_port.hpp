// Halos between neighbours in a line of objects on targets, each of which has a block of the same grid.
#pragma once

#include <ham/offload.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace app {

enum class side : std::uint8_t { below, above };
[[nodiscard]] constexpr side opposite(side of) { return of == side::below ? side::above : side::below; }

/// Base of such an object. In each step it sends a halo to each neighbour, computes what needs none, and then awaits
/// the neighbours' halos of that step: `co_await halos(step)`. A neighbour is at most one step ahead, so that there is
/// room for two halos. Steps are counted from 1 on and never skipped.
template <class Element>
class halo_port {
 public:
  using ref = ham::offload::remote_ref<halo_port>;

  /// Once, before the first step. A handle of nothing: there is no neighbour.
  void connect(ref below, ref above) {
    lane_of(side::below).neighbour = below;
    lane_of(side::above).neighbour = above;
  }

  /// Message of the neighbour on that side.
  void take(side from, std::uint64_t step, std::span<const Element> elements) {
    lane& to = lane_of(from);
    to.halo[step % 2].assign(elements.begin(), elements.end());
    to.arrived[step % 2] = step;
    resume_if_complete();
  }

  /// The host gives up: who waits gets an exception, now and later.
  void stop() {
    stopped_ = true;
    resume_if_complete();
  }

 protected:
  halo_port() = default;
  ~halo_port() = default;

  class arrival {
   public:
    arrival(halo_port& at, std::uint64_t step) : at_(at), step_(step) {}
    [[nodiscard]] bool await_ready() const { return at_.stopped_ || at_.complete(step_); }
    void await_suspend(std::coroutine_handle<> waiting) {
      at_.awaited_ = step_;
      at_.waiting_ = waiting;
    }
    void await_resume() const {
      if (at_.stopped_) throw std::runtime_error("given up: another target has failed");
    }

   private:
    halo_port& at_;
    std::uint64_t step_;
  };

  [[nodiscard]] bool has_neighbour(side where) { return static_cast<bool>(lane_of(where).neighbour); }
  /// Sends nothing if there is no neighbour.
  void send(side to, std::uint64_t step, std::span<const Element> elements) {
    const ref there = lane_of(to).neighbour;
    if (there) ham::offload::ping(there.node(), ham::fn<&halo_port::take>, there, opposite(to), step, elements);
  }
  [[nodiscard]] arrival halos(std::uint64_t step) { return {*this, step}; }
  /// After halos(step) and before halos(step + 2).
  [[nodiscard]] std::span<const Element> halo(side from, std::uint64_t step) { return lane_of(from).halo[step % 2]; }

 private:
  struct lane {
    ref neighbour;
    std::array<std::vector<Element>, 2> halo;
    std::array<std::uint64_t, 2> arrived{};
  };
  [[nodiscard]] lane& lane_of(side where) { return lanes_[static_cast<std::size_t>(where)]; }
  [[nodiscard]] bool complete(std::uint64_t step) const {
    for (const lane& one : lanes_) {
      if (one.neighbour && one.arrived[step % 2] != step) return false;
    }
    return true;
  }
  void resume_if_complete() {
    if (waiting_ && (stopped_ || complete(awaited_))) std::exchange(waiting_, nullptr).resume();
  }

  std::array<lane, 2> lanes_;
  std::coroutine_handle<> waiting_;
  std::uint64_t awaited_ = 0;
  bool stopped_ = false;
};

/// Makes neighbours of ref_of(0) .. ref_of(count - 1), remote handles of a class with base halo_port<Element>.
template <class Element, class RefOf>
void connect_line(std::size_t count, RefOf ref_of) {
  using port = halo_port<Element>;
  using ref = typename port::ref;
  for (std::size_t i = 0; i < count; ++i) {
    ref(ref_of(i)).template call<&port::connect>(i > 0 ? ref(ref_of(i - 1)) : ref{},
                                                 i + 1 < count ? ref(ref_of(i + 1)) : ref{});
  }
}

}  // namespace app
