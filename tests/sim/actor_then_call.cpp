// Steps that call a function when bytes are there.
#include <algorithm>
#include <utility>

#include "sim/actor.hpp"

namespace ham::inline v1::sim {
void actor::then_call(random_source& random) {
  if (buffers_.empty()) return;
  if (random.once_in(6)) {
    put_much(random);
    return;
  }
  remote_memory& one = buffers_[random.below(buffers_.size())];
  remote_memory& other = buffers_[random.below(buffers_.size())];
  if (&one != &other && random.once_in(3))
    copy_then_call(one, other);
  else
    put_parts(one, random);
}

/// To parts of the same memory, one behind the other, all at once: each function sees its own part.
void actor::put_parts(remote_memory& to, random_source& random) {
  const node_t node = to.at.node();
  std::vector<std::vector<std::int32_t>> sources;  // stay until their futures have settled
  std::vector<pending> calls;
  const std::size_t parts = 1 + random.below(4);
  const std::size_t count = to.model.size() / parts;
  bool there = true;
  for (std::size_t part = 0; part < parts && there; ++part) {
    const std::size_t begin = part * count;
    const std::vector<std::int32_t>& values = sources.emplace_back(any_values(count, random));
    const call_number call = the_oracle->issue_on(node);
    there = attempt(call, false, [&] {
      calls.push_back({offload::put(values.data(), to.at + begin, count,
                                    offload::then_call(fn<&sum_at>, call, to.at + begin, std::uint64_t{count})),
                       call, sum_of(values.data(), count), false, false, false});
      std::ranges::copy(values, to.model.begin() + static_cast<std::ptrdiff_t>(begin));
    });
  }
  for (pending& one : calls) settle(one);
  if (!there) std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == node; });
}

/// More than travels in the message of a call.
void actor::put_much(random_source& random) {
  const node_t node = any_node(random);
  const std::vector<std::int32_t> values = any_values(16'385 + random.below(4'000), random);
  offload::buffer_ptr<std::int32_t> at;
  if (!use(node, [&] { at = offload::allocate<std::int32_t>(node, values.size()); })) return;
  const call_number call = the_oracle->issue_on(at.node());
  attempt(call, false, [&] {
    auto sum = offload::put(values.data(), at, values.size(),
                            offload::then_call(fn<&sum_at>, call, at, std::uint64_t{values.size()}));
    the_oracle->settle(call, sum.get(), sum_of(values.data(), values.size()));
  });
  use(at.node(), [&] { offload::free(at); });
}

void actor::copy_then_call(remote_memory& from, remote_memory& to) {
  const node_t nodes[] = {from.at.node(), to.at.node()};
  const std::size_t count = from.model.size();
  const call_number call = the_oracle->issue_on(to.at.node());
  const bool done = attempt(call, true, [&] {
    auto sum = offload::copy(from.at, to.at, count, offload::then_call(fn<&sum_at>, call, to.at, std::uint64_t{count}));
    the_oracle->settle(call, sum.get(), sum_of(from.model.data(), count));
    to.model = from.model;
  });
  if (done) return;  // else either node may be lost, to the host or to the other
  std::erase_if(buffers_, [&](const remote_memory& each) { return std::ranges::count(nodes, each.at.node()) != 0; });
}

}  // namespace ham::sim
