// A target that dies makes its own call fail, and those of its neighbours, which cannot send to it.
#include "shallow_water/simulation.hpp"

#include <algorithm>
#include <utility>

#include "common/targets.hpp"
#include "shallow_water/worker.hpp"

namespace shallow_water {
namespace {

namespace offload = ham::offload;
using clock = std::chrono::steady_clock;

/// After this a target that does not answer is left alone when the others give up.
constexpr std::chrono::seconds give_up_after{5};

}  // namespace

struct simulation::part {
  row_range rows;
  offload::buffer<double> memory;
  offload::remote<worker> there;
};

simulation::simulation(checkpoint start, std::vector<ham::node_t> targets, planned_death death)
    : now_(std::move(start)), targets_(std::move(targets)), death_(death) {}

simulation::~simulation() { give_up(); }

void simulation::advance_to(std::uint64_t step) {
  for (;;) {
    try {
      if (parts_.empty()) distribute();
      run(step - now_.step);
      collect();
      now_.step = step;
      return;
    } catch (const ham::node_failure& why) {
      const auto start = clock::now();
      give_up();
      const std::size_t before = targets_.size();
      drop_lost(why);
      giving_up_seconds_ += app::seconds_since(start);
      if (targets_.empty() || targets_.size() == before) throw;
    }
  }
}

void simulation::distribute() {
  const auto start = clock::now();
  const domain& of = now_.of;
  const std::size_t count = std::min<std::size_t>(targets_.size(), of.rows);
  std::vector<std::unique_ptr<part>> parts;
  std::vector<offload::future<void>> puts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [first, last] = part_of(of, i, count);
    const std::size_t size = memory_of(of, first, last);
    offload::buffer<double> memory(targets_[i], size);
    const double* const from = now_.state.data() + (first == 0 ? 0 : first - 1) * of.row();
    puts.push_back(offload::put(from, memory.ptr(), size));
    auto there = offload::make<worker>(targets_[i], of.columns, of.rows, std::uint64_t{first}, std::uint64_t{last},
                                       memory.ptr());
    parts.push_back(std::make_unique<part>(part{{first, last}, std::move(memory), std::move(there)}));
  }
  for (auto& put : puts) put.get();
  app::call_all(count, [&](std::size_t i) { return parts[i]->there.async<&worker::load>(); });
  app::connect_line<double>(count, [&](std::size_t i) { return parts[i]->there.ref(); });
  parts_ = std::move(parts);
  moving_seconds_ += app::seconds_since(start);
}

void simulation::run(std::uint64_t steps) {
  const auto start = clock::now();
  const auto killed_after = [&](std::size_t i) {
    const bool dies = i + 1 == death_.place && death_.step >= now_.step && death_.step < now_.step + steps;
    return dies ? death_.step - now_.step : steps;
  };
  try {
    app::call_all(parts_.size(), [&](std::size_t i) {
      return parts_[i]->there.async<&worker::advance>(steps, std::uint64_t{killed_after(i)});
    });
  } catch (const ham::node_failure&) {
    lost_seconds_ += app::seconds_since(start);
    throw;
  }
  computing_seconds_ += app::seconds_since(start);
}

/// The state is replaced when all of it has arrived.
void simulation::collect() {
  const auto start = clock::now();
  const domain& of = now_.of;
  app::call_all(parts_.size(), [&](std::size_t i) { return parts_[i]->there.async<&worker::store>(); });
  std::vector<double> state(of.size());
  std::vector<offload::future<void>> gets;
  for (const auto& one : parts_) {
    const auto [first, last] = one->rows;
    const auto from = offload::buffer_ptr<double>(one->memory) + static_cast<std::ptrdiff_t>(own_rows_at(of, first));
    gets.push_back(offload::get(from, state.data() + first * of.row(), (last - first) * of.row()));
  }
  for (auto& get : gets) get.get();
  now_.state = std::move(state);
  moving_seconds_ += app::seconds_since(start);
}

/// Whoever waits for another worker is stopped before the first one goes.
void simulation::give_up() noexcept {
  for (const auto& one : parts_) {
    try {
      const auto there = one->there.ref();
      offload::sync(offload::within(there.node(), give_up_after), ham::fn<&worker::stop>, there);
    } catch (const std::exception&) {
      // The target is gone, and the worker with it.
    }
  }
  parts_.clear();
}

void simulation::drop_lost(const ham::node_failure& why) {
  const auto lost = [&](ham::node_t node) { return node == why.node() || !offload::alive(node); };
  std::erase_if(targets_, lost);
  death_.place = 0;
  failures_.push_back("went on from step " + std::to_string(now_.step) + " on " + std::to_string(targets_.size()) +
                      (targets_.size() == 1 ? " target: " : " targets: ") + why.what());
}

}  // namespace shallow_water
