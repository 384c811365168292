// The abstract machine: which message a load may read, where a store may enter the modification order.
#include "explorer/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace model {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

void memory::clear() {
  used_.clear();
  table_.fill(0);
  threads.fill({});
  full_ = false;
  sequential_ = {};
}

std::size_t memory::slot_of(const void* address) const {
  std::size_t slot = mix(0, reinterpret_cast<std::uintptr_t>(address)) % table_slots;
  while (table_[slot] != 0 && used_[table_[slot] - 1U]->address != address) slot = (slot + 1) % table_slots;
  return slot;
}

location* memory::known(const void* address) {
  const std::size_t slot = slot_of(address);
  return table_[slot] == 0 ? nullptr : used_[table_[slot] - 1U];
}

location& memory::at(const void* address, unsigned size) {
  const std::size_t slot = slot_of(address);
  if (table_[slot] != 0) {
    location& found = *used_[table_[slot] - 1U];
    if (found.size != size) {
      std::fprintf(stderr, "model: an object is accessed with %u and with %u bytes\n", found.size, size);
      std::abort();
    }
    return found;
  }
  if (used_.size() == max_locations) {
    std::fprintf(stderr, "model: more than %u locations\n", max_locations);
    std::abort();
  }
  if (pool_.size() == used_.size()) pool_.push_back(std::make_unique<location>());
  location& fresh = *pool_[used_.size()];
  fresh.address = address;
  fresh.size = size;
  fresh.index = static_cast<unsigned>(used_.size());
  fresh.messages.assign(1, {});
  std::memcpy(&fresh.messages[0].value, address, size);
  fresh.order.assign(1, 0);
  fresh.places.assign(1, 0);
  fresh.plain_writes = fresh.plain_reads = fresh.atomic_writes = fresh.atomic_reads = {};
  used_.push_back(&fresh);
  table_[slot] = static_cast<std::uint16_t>(used_.size());
  return fresh;
}

void memory::join(view& into, const view& from, bool clocks) const {
  for (const location* one : used_) {
    const unsigned i = one->index;
    if (one->places[from.seen[i]] > one->places[into.seen[i]]) into.seen[i] = from.seen[i];
  }
  if (!clocks) return;
  for (unsigned i = 0; i < max_threads; ++i) into.clock[i] = std::max(into.clock[i], from.clock[i]);
}

unsigned memory::floor(unsigned thread, const location& of, std::memory_order order) const {
  const unsigned seen = of.places[threads[thread].current.seen[of.index]];
  if (order != std::memory_order_seq_cst) return seen;
  return std::max<unsigned>(seen, of.places[sequential_.seen[of.index]]);
}

void memory::take(unsigned thread, location& from, unsigned read, std::memory_order order) {
  thread_views& own = threads[thread];
  const message& what = from.messages[read];
  join(own.acquired, what.brings);
  if (acquires(order)) join(own.current, what.brings);
  own.current.seen[from.index] = static_cast<std::uint8_t>(read);
  if (from.places[own.acquired.seen[from.index]] < from.places[read])
    own.acquired.seen[from.index] = static_cast<std::uint8_t>(read);
  if (order == std::memory_order_seq_cst) sequential_.seen[from.index] = static_cast<std::uint8_t>(read);
}

unsigned memory::load(unsigned thread, location& from, std::memory_order order) {
  const auto last = static_cast<unsigned>(from.order.size() - 1);
  const unsigned count = last - floor(thread, from, order) + 1;
  const unsigned read = from.order[last - choose_(count)];
  take(thread, from, read, order);
  return read;
}

message& memory::insert(unsigned thread, location& to, unsigned place, std::uint64_t value, std::memory_order order) {
  const auto made = static_cast<std::uint8_t>(to.messages.size());
  to.messages.emplace_back();
  full_ = full_ || to.messages.size() == 256;
  message& what = to.messages.back();
  to.order.insert(to.order.begin() + place, made);
  to.places.resize(to.messages.size());
  for (unsigned i = place; i < to.order.size(); ++i) to.places[to.order[i]] = static_cast<std::uint8_t>(i);
  thread_views& own = threads[thread];
  own.current.seen[to.index] = made;
  if (to.places[own.acquired.seen[to.index]] < place) own.acquired.seen[to.index] = made;
  what.value = value;
  what.brings = releases(order) ? own.current : own.released;
  what.brings.seen[to.index] = made;
  if (order == std::memory_order_seq_cst) sequential_.seen[to.index] = made;
  return what;
}

void memory::store(unsigned thread, location& to, std::uint64_t value, std::memory_order order) {
  const unsigned first = floor(thread, to, order) + 1;
  std::array<std::uint8_t, 256> places;
  unsigned count = 0;
  for (auto place = static_cast<unsigned>(to.order.size()); place >= first; --place) {
    if (!to.messages[to.order[place - 1]].followed) places[count++] = static_cast<std::uint8_t>(place);
  }
  insert(thread, to, places[choose_(count)], value, order);
}

void memory::append(unsigned thread, location& to, std::uint64_t value, std::memory_order order) {
  insert(thread, to, static_cast<unsigned>(to.order.size()), value, order);
}

std::vector<unsigned> memory::readable(unsigned thread, const location& from, std::memory_order order) const {
  std::vector<unsigned> found;
  const unsigned lowest = floor(thread, from, order);
  for (auto place = static_cast<unsigned>(from.order.size()); place-- > lowest;) found.push_back(from.order[place]);
  return found;
}

void memory::update(unsigned thread, location& to, unsigned read, std::uint64_t value, std::memory_order order) {
  take(thread, to, read, order);
  to.messages[read].followed = true;
  message& made = insert(thread, to, to.places[read] + 1U, value, order);
  const auto self = made.brings.seen[to.index];
  join(made.brings, to.messages[read].brings);  // the release sequence goes on
  made.brings.seen[to.index] = self;
}

void memory::fence(unsigned thread, std::memory_order order) {
  thread_views& own = threads[thread];
  if (acquires(order)) join(own.current, own.acquired);
  if (order == std::memory_order_seq_cst) {
    join(own.current, sequential_, false);
    join(sequential_, own.current, false);
  }
  if (releases(order)) own.released = own.current;
}

void memory::light_fence(unsigned thread) {
  thread_views& own = threads[thread];
  own.light = own.current;
  join(own.current, own.heavy, false);
}

void memory::heavy_fence_with(unsigned thread, unsigned other, const view& before) {
  join(threads[other].heavy, before, false);
  join(threads[thread].current, threads[other].light, false);
}

bool memory::races(unsigned thread, location& with, access what) {
  const clock_vector& own = threads[thread].current.clock;
  const auto unordered = [&](const clock_vector& others) {
    for (unsigned i = 0; i < max_threads; ++i) {
      if (i != thread && others[i] > own[i]) return true;
    }
    return false;
  };
  const bool plain = what == access::plain_read || what == access::plain_write;
  const bool writes = what == access::atomic_write || what == access::plain_write;
  const bool found = unordered(with.plain_writes) || (writes && unordered(with.plain_reads)) ||
                     (plain && unordered(with.atomic_writes)) || (plain && writes && unordered(with.atomic_reads));
  clock_vector& mine = what == access::atomic_read    ? with.atomic_reads
                       : what == access::atomic_write ? with.atomic_writes
                       : what == access::plain_read   ? with.plain_reads
                                                      : with.plain_writes;
  mine[thread] = own[thread];
  return found;
}

/// Accesses that all live threads know of race with nothing any more; of the others only the order matters.
void memory::rank_accesses(const view& lowest) {
  for (unsigned thread = 0; thread < max_threads; ++thread) {
    std::vector<std::uint32_t>& all = epochs_[thread];
    all.clear();
    for (const location* one : used_) {
      for (const clock_vector* kind :
           {&one->plain_writes, &one->plain_reads, &one->atomic_writes, &one->atomic_reads}) {
        if ((*kind)[thread] > lowest.clock[thread]) all.push_back((*kind)[thread]);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
}

std::uint64_t memory::hash_of(const view& of, const view& lowest) const {
  std::uint64_t sum = 0;
  for (const location* one : used_) {
    const unsigned place = one->places[of.seen[one->index]];
    const unsigned floor = one->places[lowest.seen[one->index]];
    if (place > floor) sum += mix(reinterpret_cast<std::uintptr_t>(one->address), place - floor);
  }
  for (unsigned thread = 0; thread < max_threads; ++thread) {
    const std::vector<std::uint32_t>& all = epochs_[thread];
    const auto known = std::upper_bound(all.begin(), all.end(), of.clock[thread]) - all.begin();
    if (known != 0) sum += mix(thread, static_cast<std::uint64_t>(known));
  }
  return sum;
}

std::uint64_t memory::hash_of(const location& of, const view& lowest) const {
  std::uint64_t hash = mix(2, reinterpret_cast<std::uintptr_t>(of.address));
  for (std::size_t place = of.places[lowest.seen[of.index]]; place < of.order.size(); ++place) {
    const message& one = of.messages[of.order[place]];
    hash = mix(mix(hash, one.value), (one.followed ? 1U : 0U) + 2 * hash_of(one.brings, lowest));
  }
  std::uint64_t kind = 0;
  bool matters = of.order.size() > 1;
  for (const clock_vector* accesses : {&of.plain_writes, &of.plain_reads, &of.atomic_writes, &of.atomic_reads}) {
    ++kind;
    for (unsigned thread = 0; thread < max_threads; ++thread) {
      const std::vector<std::uint32_t>& all = epochs_[thread];
      const auto rank = std::upper_bound(all.begin(), all.end(), (*accesses)[thread]) - all.begin();
      if (rank == 0) continue;
      hash += mix(mix(kind, thread), static_cast<std::uint64_t>(rank));
      matters = true;
    }
  }
  return matters ? hash : 0;
}

std::uint64_t memory::hash(unsigned live, const std::vector<std::pair<const void*, const view*>>& others) {
  view lowest;
  bool any = false;
  for (unsigned thread = 0; thread < max_threads; ++thread) {
    if ((live >> thread & 1U) == 0) continue;
    const view& own = threads[thread].current;
    if (!any) lowest = own;
    any = true;
    for (const location* one : used_) {
      const unsigned i = one->index;
      if (one->places[own.seen[i]] < one->places[lowest.seen[i]]) lowest.seen[i] = own.seen[i];
    }
    for (unsigned i = 0; i < max_threads; ++i) lowest.clock[i] = std::min(lowest.clock[i], own.clock[i]);
  }
  rank_accesses(lowest);
  std::uint64_t hash = hash_of(sequential_, lowest);
  for (unsigned thread = 0; thread < max_threads; ++thread) {
    if ((live >> thread & 1U) == 0) continue;
    const thread_views& own = threads[thread];
    hash = mix(hash, thread);
    for (const view* one : {&own.current, &own.acquired, &own.released, &own.light, &own.heavy})
      hash = mix(hash, hash_of(*one, lowest));
  }
  std::uint64_t sum = 0;  // in any order: schedules meet objects in different ones
  for (const auto& [address, one] : others)
    sum += mix(reinterpret_cast<std::uintptr_t>(address), hash_of(*one, lowest));
  for (const location* one : used_) sum += hash_of(*one, lowest);
  return mix(hash, sum);
}

}  // namespace model
