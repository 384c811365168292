// Messages take turns in the lowest few places that are free. The same pages serve again and again, but not at once:
// writing what another core has just read costs about twice as much as writing what that core no longer has in its own
// caches.
#include "transport/common/message_area.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "transport/transport.hpp"

namespace ham::inline v1::transport {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;  // since Linux 5.14
#endif

// Turns are taken within so much; two places suffice for what is longer, and one where two of them are more than the
// caches hold beside the copies on either side. (Measured by `ham-bench values`.)
constexpr std::uint64_t turn_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t max_turn_bytes = std::uint64_t{5} << 20;

/// Where a turn ends in which messages of `extent` are sent.
constexpr std::uint64_t end_of_turn(std::uint64_t extent) noexcept {
  const std::uint64_t two = 2 * extent;
  return area_layout::first_message + (two <= max_turn_bytes ? std::max(turn_bytes, two) : extent);
}

constexpr std::uint64_t round_to_pages(std::uint64_t bytes) noexcept {
  return (bytes + area_layout::page_bytes - 1) / area_layout::page_bytes * area_layout::page_bytes;
}

}  // namespace

bool message_area_writer::begin() noexcept {
  if (state_ != nullptr) return true;
  try {
    auto first = std::make_unique<state>();
    first->live.reserve(area_layout::blocks);  // no message needs memory from now on
    first->free_words.reserve(area_layout::blocks);
    for (std::uint32_t word = area_layout::blocks; word != 0; --word) first->free_words.push_back(word - 1);
    state_ = std::move(first);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

std::byte* message_area_writer::reserve(std::size_t size) noexcept {
  if (area_.empty() || size > max_size() || !begin()) return nullptr;
  reap();
  state& own = *state_;
  if (own.free_words.empty()) return nullptr;
  const std::uint64_t extent = round_to_pages(size + area_layout::lead_bytes);
  const std::uint64_t end = std::min<std::uint64_t>(end_of_turn(extent), area_.size());
  auto place = own.find_free(own.next, extent);
  if (place.offset + extent > end) place = own.find_free(area_layout::first_message, extent);
  const std::uint64_t offset = place.offset;
  if (area_.size() - offset < extent || !populate(offset + extent)) return nullptr;
  own.next = offset + extent;
  own.live.insert(place.before, {offset, size, extent, own.free_words.back(), false});
  own.free_words.pop_back();
  return area_.data() + offset + area_layout::lead_bytes;
}

message_area_writer::free_place message_area_writer::state::find_free(std::uint64_t from,
                                                                      std::uint64_t extent) noexcept {
  std::uint64_t offset = from;
  auto before = std::ranges::find_if(live, [from](const block& one) { return one.offset + one.extent > from; });
  for (; before != live.end() && before->offset < offset + extent; ++before) offset = before->offset + before->extent;
  return {before, offset};
}

/// A page that the kernel cannot give would end the process when it is written to. It says so if it is asked.
bool message_area_writer::populate(std::uint64_t end) noexcept {
  if (end <= populated_) return true;
  const int refused = ::madvise(area_.data() + populated_, end - populated_, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
  if (refused == ENOMEM || refused == EFAULT || refused == EHWPOISON) {   // else it knows no such advice
    ::madvise(area_.data() + populated_, end - populated_, MADV_REMOVE);  // what it has given
    return false;
  }
  populated_ = end;
  return true;
}

void message_area_writer::reap() noexcept {
  state& own = *state_;
  for (auto one = own.live.begin(); one != own.live.end();) {
    const bool returned =
        one->sent && shared().returned[one->word].load(std::memory_order_acquire) == own.generation[one->word];
    if (!returned) {
      ++one;
      continue;
    }
    own.free_words.push_back(one->word);
    one = own.live.erase(one);
  }
}

std::vector<message_area_writer::block>::iterator message_area_writer::find(const std::byte* at) noexcept {
  const auto offset = static_cast<std::uint64_t>(at - area_.data()) - area_layout::lead_bytes;
  return std::find_if(state_->live.begin(), state_->live.end(),
                      [offset](const block& one) { return one.offset == offset; });
}

void message_area_writer::cancel(const std::byte* at) noexcept {
  const auto one = find(at);
  state_->free_words.push_back(one->word);
  state_->live.erase(one);
}

message_place message_area_writer::send(const std::byte* at) noexcept {
  block& one = *find(at);
  one.sent = true;
  std::uint32_t& generation = state_->generation[one.word];
  // Not what stands there, be it zero or what a receiver writes before its time; who goes on writing that gains
  // nothing.
  ++generation;
  if (generation == shared().returned[one.word].load(std::memory_order_relaxed)) ++generation;
  return {one.offset + area_layout::lead_bytes, one.size, one.word, generation};
}

bool message_area_writer::trim() noexcept {
  const std::uint64_t first = area_layout::first_message;
  if (populated_ <= first) return true;
  reap();
  if (!state_->live.empty()) return false;
  ::madvise(area_.data() + first, populated_ - first, MADV_REMOVE);
  populated_ = first;  // that page stays: the words of its blocks count on
  state_->next = first;
  return true;
}

std::span<const std::byte> message_area_reader::take(std::span<const std::byte> announcement) noexcept {
  message_place place;
  if (announcement.size() != sizeof place) return {};
  std::memcpy(&place, announcement.data(), sizeof place);  // once: the sender may change it at any time
  if (area_.size() < area_layout::first_message + readable_payload) return {};
  const bool inside = place.offset >= area_layout::first_message && place.offset <= area_.size() - readable_payload &&
                      place.size <= area_.size() - place.offset && place.block < area_layout::blocks;
  if (!inside) return {};
  block_ = place.block;
  generation_ = place.generation;
  held_ = true;
  return {area_.data() + place.offset, static_cast<std::size_t>(place.size)};
}

void message_area_reader::release() noexcept {
  if (!held_) return;
  held_ = false;
  reinterpret_cast<area_layout*>(area_.data())->returned[block_].store(generation_, std::memory_order_release);
}

}  // namespace ham::transport
