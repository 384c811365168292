// Steps that use the memory and the objects of other nodes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "sim/actor.hpp"

namespace ham::inline v1::sim {
namespace {

constexpr std::size_t elements = 96;
constexpr std::size_t columns = 12;  // of the same memory as a matrix
constexpr std::size_t rows = elements / columns;

}  // namespace

std::vector<std::int32_t> any_values(std::size_t count, random_source& random) {
  std::vector<std::int32_t> values(count);
  for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.next());
  return values;
}

void actor::transfer(random_source& random) {
  if (buffers_.empty() || (buffers_.size() < 6 && random.once_in(3))) {
    const node_t node = any_node(random);
    const std::size_t there = buffers_.size();
    const bool made = use(node, [&] {
      buffers_.push_back({offload::allocate<std::int32_t>(node, elements), std::vector<std::int32_t>(elements, -1)});
      offload::put_sync(buffers_.back().model.data(), buffers_.back().at, elements);
    });
    if (!made) buffers_.resize(there);
    return;
  }
  remote_memory& one = buffers_[random.below(buffers_.size())];
  const node_t node = one.at.node();
  const bool there = use(node, [&] {
    if (!move(one, random) || !random.once_in(8)) return;
    const buffer_ptr<std::int32_t> gone = one.at;
    std::erase_if(buffers_, [&](const remote_memory& each) { return each.at == gone; });
    offload::free(gone);
  });
  if (!there) std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == node; });
}

/// Elements that follow each other. False: the memory is not known any more.
bool actor::move(remote_memory& one, random_source& random) {
  const std::size_t begin = random.below(elements);
  const std::size_t count = 1 + random.below(elements - begin);
  const auto model = one.model.begin() + static_cast<std::ptrdiff_t>(begin);
  switch (random.below(5)) {
    case 0:
    case 1: {
      const auto values = any_values(count, random);
      std::ranges::copy(values, model);
      if (random.once_in(2))
        offload::put(values.data(), one.at + begin, count).get();
      else
        offload::write(one.at.node(), one.at + begin, values.data(), count).get();
      break;
    }
    case 2: return copy_between(one, buffers_[random.below(buffers_.size())], begin, count);
    default: {
      std::vector<std::int32_t> values(count);
      if (random.once_in(2))
        offload::get(one.at + begin, values.data(), count).get();
      else
        offload::read(one.at.node(), one.at + begin, values.data(), count).get();
      if (!std::equal(values.begin(), values.end(), model))
        running->fail("memory of node " + std::to_string(one.at.node()) + " holds other bytes than were put there");
      break;
    }
  }
  return true;
}

bool actor::copy_between(remote_memory& one, remote_memory& other, std::size_t begin, std::size_t count) {
  if (&other == &one) return true;
  const node_t from = one.at.node();
  const node_t to = other.at.node();
  try {
    offload::copy(one.at + begin, other.at + begin, count).get();
  } catch (const node_failure&) {
    if (!faults_.any) throw;  // else either of them may be lost, to the host or to the other
    std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == from || each.at.node() == to; });
    return false;
  }
  std::copy_n(one.model.begin() + static_cast<std::ptrdiff_t>(begin), count,
              other.model.begin() + static_cast<std::ptrdiff_t>(begin));
  return true;
}

/// Rows of a matrix that do not follow each other.
void actor::block(random_source& random) {
  if (buffers_.empty()) return;
  remote_memory& one = buffers_[random.below(buffers_.size())];
  const node_t node = one.at.node();
  const std::size_t height = 1 + random.below(rows);
  const std::size_t width = 1 + random.below(columns);
  const std::size_t begin = random.below(rows - height + 1) * columns + random.below(columns - width + 1);
  const std::size_t pitch = width + random.below(4);  // of the matrix here
  const auto for_each = [&](auto what) {
    for (std::size_t row = 0; row < height; ++row) {
      for (std::size_t column = 0; column < width; ++column) what(row * pitch + column, begin + row * columns + column);
    }
  };
  const bool there = use(node, [&] {
    switch (random.below(3)) {
      case 0: {
        const auto values = any_values(height * pitch, random);
        for_each([&](std::size_t here, std::size_t at) { one.model[at] = values[here]; });
        offload::put(values.data(), one.at + begin, offload::block{height, width, pitch, columns}).get();
        break;
      }
      case 1: {
        std::vector<std::int32_t> values(height * pitch);
        offload::get(one.at + begin, values.data(), offload::block{height, width, columns, pitch}).get();
        for_each([&](std::size_t here, std::size_t at) {
          if (values[here] != one.model[at])
            running->fail("a block of node " + std::to_string(node) + " holds other bytes than were put there");
        });
        break;
      }
      default: {
        remote_memory& other = buffers_[random.below(buffers_.size())];
        if (&other == &one) break;
        const node_t to = other.at.node();
        try {
          offload::copy(one.at + begin, other.at + begin, offload::block{height, width, columns, columns}).get();
        } catch (const node_failure&) {
          if (!faults_.any) throw;
          std::erase_if(buffers_,
                        [&](const remote_memory& each) { return each.at.node() == node || each.at.node() == to; });
          return;
        }
        for_each([&](std::size_t, std::size_t at) { other.model[at] = one.model[at]; });
        break;
      }
    }
  });
  if (!there) std::erase_if(buffers_, [&](const remote_memory& each) { return each.at.node() == node; });
}

// ---- objects

void actor::object(random_source& random) {
  if (objects_.empty() || (objects_.size() < 4 && random.once_in(4))) {
    const node_t node = any_node(random);
    use(node, [&] {
      if (random.once_in(2))
        objects_.push_back({offload::make<counter>(node, std::int64_t{10}), 10, 10});
      else if (auto made = offload::make_async<counter>(node, std::int64_t{20}); random.once_in(4))
        made.detach();  // the object is destroyed when it is there
      else
        objects_.push_back({made.get(), 20, 20});
    });
    return;
  }
  const std::size_t at = random.below(objects_.size());
  remote_counter& one = objects_[at];
  bool lives = true;
  if (random.once_in(3))
    add_elsewhere(one, random);
  else
    lives = add(one, random);
  if (lives && !random.once_in(6)) return;
  remote_counter gone = std::move(one);
  objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(at));
  if (!lives) return;
  const offload::remote_ref<counter> ref = gone.at.release();  // then what its destructor does, which tells how it went
  if (detail::destroy_at_end(gone.at.runtime(), ref.node(), ref.id()))
    expect_destroyed(ref);
  else
    left_objects_.push_back(ref);
}

/// False: its node is lost.
bool actor::add(remote_counter& to, random_source& random) {
  const node_t node = to.at.node();
  const call_number call = the_oracle->issue_on(node);
  const std::chrono::nanoseconds limit(random.below(400'000));
  may_be_late_ = random.once_in(2);
  if (may_be_late_) the_oracle->allow_late(call);
  to.most += 2;
  bool lost = true;
  const bool done = attempt(call, false, [&] {
    std::int64_t value = 0;
    try {
      value = may_be_late_
                  ? offload::sync(offload::within(node, limit), fn<&counter::add>, to.at, call, std::int64_t{2})
                  : to.at.call<&counter::add>(call, std::int64_t{2});
    } catch (const deadline_exceeded&) {
      lost = false;
      throw;
    }
    the_oracle->settle(call);
    if (to.known && (value < to.least + 2 || value > to.most))
      running->fail("an object of node " + std::to_string(node) + " has the value " + std::to_string(value) +
                    ", which must be " + std::to_string(to.least + 2) + " to " + std::to_string(to.most));
    to.least = to.most = value;
  });
  may_be_late_ = false;
  return done || !lost;
}

/// By a call to a node, perhaps another one, that calls the object.
void actor::add_elsewhere(remote_counter& to, random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const call_number inner = the_oracle->issue_on(to.at.node());
  const bool done = attempt(call, true, [&] {
    const std::int64_t value = offload::sync(node, fn<&add_to>, call, to.at, inner, std::int64_t{3});
    the_oracle->settle(call);
    if (to.known && (value < to.least + 3 || value > to.most + 3))
      running->fail("an object of node " + std::to_string(to.at.node()) + " has the value " + std::to_string(value) +
                    " for node " + std::to_string(node));
    to.least = value;
    to.most += 3;
  });
  if (!done) to.known = false;
}

/// Its node did not answer when it should have been destroyed: it is when there is room for that.
void actor::await_destroyed(offload::remote_ref<counter> what) {
  constexpr int max_attempts = 200;
  for (int i = 0; i < max_attempts; ++i) {
    const call_number call = the_oracle->issue_on(what.node());
    bool is_gone = false;
    const bool done = attempt(call, false, [&] {
      try {
        static_cast<void>(what.call<&counter::add>(call, std::int64_t{1}));
        the_oracle->settle(call);
      } catch (const object_error& gone) {
        the_oracle->fail(call, call_outcome::not_run, gone.what());
        is_gone = true;
      }
    });
    if (is_gone || !done) return;
    base::sleep_ns(100'000'000);
  }
  running->fail("an object that was left to node " + std::to_string(what.node()) + " is never destroyed");
}

void actor::expect_destroyed(offload::remote_ref<counter> what) {
  const call_number call = the_oracle->issue_on(what.node());
  attempt(call, false, [&] {
    try {
      static_cast<void>(what.call<&counter::add>(call, std::int64_t{1}));
      running->fail("an object of node " + std::to_string(what.node()) + " is called that was destroyed");
    } catch (const object_error& gone) {
      the_oracle->fail(call, call_outcome::not_run, gone.what());
    }
  });
}

}  // namespace ham::sim
