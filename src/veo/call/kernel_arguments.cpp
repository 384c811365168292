// Every number in a message is checked before it is added to another one.
#include "kernel_arguments.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::veo {
namespace {

[[noreturn]] void refuse() { throw protocol_error("arguments of a kernel that are cut off, or none"); }

}  // namespace

kernel_arguments::kernel_arguments(std::span<const std::byte> message, std::size_t max_bytes)
    : max_words_(max_bytes / 8) {
  if (message.size() < sizeof head_) refuse();
  std::memcpy(&head_, message.data(), sizeof head_);
  const std::size_t count = head_.arguments;
  if (head_.result >= result_kind::count || count > max_arguments) refuse();
  if (count == 0) return;
  const std::size_t words_at = padded(sizeof head_ + count);
  const std::size_t contents_at = words_at + count * 8;
  if (message.size() < contents_at) refuse();
  kinds_ = {reinterpret_cast<const argument_kind*>(message.data() + sizeof head_), count};
  values_.resize(count);
  places_.resize(count);
  lengths_.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (kinds_[i] > argument_kind::stack_out) refuse();
    std::uint64_t word = 0;
    std::memcpy(&word, message.data() + words_at + i * 8, 8);
    read_word(i, word);
  }
  const std::span<const std::byte> contents = message.subspan(contents_at);
  // What comes in has to be there before anything is made for it.
  std::size_t left = contents.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!goes_in(kinds_[i])) continue;
    if (lengths_[i] > left || padded(lengths_[i]) > left) refuse();
    left -= padded(lengths_[i]);
  }
  lay_out(contents);
}

void kernel_arguments::read_word(std::size_t i, std::uint64_t word) {
  values_[i].bits = word;
  places_[i] = &values_[i];
  if (kinds_[i] == argument_kind::single) values_[i].single = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  if (!is_stack(kinds_[i])) return;
  const std::uint64_t words = word / 8 + (word % 8 == 0 ? 0 : 1) + 1;  // an empty buffer has an address of its own, too
  if (words > max_words_ - area_words_) {
    throw call_error(
        "the stack arguments of a kernel take more than the " + std::to_string(max_words_ * 8) +
        " bytes that this helper takes in one message (HAM_MAX_MESSAGE there raises that); move bulk data with "
        "veo_write_mem and veo_read_mem");
  }
  area_words_ += words;
  lengths_[i] = word;
}

void kernel_arguments::lay_out(std::span<const std::byte> contents) {
  area_.resize(area_words_);
  buffers_.assign(kinds_.size(), nullptr);
  std::uint64_t* place = area_.data();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (!is_stack(kinds_[i])) continue;
    values_[i].pointer = place;
    buffers_[i] = place;
    if (goes_in(kinds_[i]) && lengths_[i] != 0) {
      std::memcpy(place, contents.data(), lengths_[i]);
      contents = contents.subspan(padded(lengths_[i]));
    }
    place += padded(lengths_[i]) / 8 + 1;
  }
}

std::uint64_t kernel_arguments::slot(std::size_t i) const noexcept {
  if (kinds_[i] == argument_kind::single) return std::uint64_t{std::bit_cast<std::uint32_t>(values_[i].single)} << 32U;
  return is_stack(kinds_[i]) ? reinterpret_cast<std::uintptr_t>(values_[i].pointer) : values_[i].bits;
}

void kernel_arguments::add_zeros(std::size_t count) {
  static std::uint64_t zero = 0;  // libffi reads it
  while (places_.size() < count) places_.push_back(&zero);
}

std::vector<std::byte> kernel_arguments::returned() const {
  std::size_t bytes = 0;  // no more than the area
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (comes_back(kinds_[i])) bytes += padded(lengths_[i]);
  }
  std::vector<std::byte> result(bytes);
  std::size_t to = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (!comes_back(kinds_[i])) continue;
    if (lengths_[i] != 0) std::memcpy(result.data() + to, buffers_[i], lengths_[i]);
    to += padded(lengths_[i]);
  }
  return result;
}

}  // namespace ham::veo
