// Packs and reads messages.
#include "mpix/message.hpp"

#include "debug_info/bytes.hpp"

#include <algorithm>

namespace ham::inline v1::mpix {

using debug_info::cursor;
using debug_info::malformed;

namespace {

struct shape_head {
  std::uint32_t name_length;
  std::uint32_t arguments;
};

struct kernel_head {
  std::uint32_t shape;
  std::uint32_t reserved;
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Arguments are aligned for what may be in so many bytes; arrays to a cache line.
constexpr std::uint64_t alignment_of(std::uint64_t size) { return size <= 8 ? 8 : size < 64 ? 16 : 64; }

std::string_view name_of(const kernel_calls& calls, std::size_t i) { return calls.names[i]; }

bool same_shape(const kernel_calls& calls, std::size_t a, std::size_t b) {
  const int count = calls.argument_counts[a];
  return count == calls.argument_counts[b] && name_of(calls, a) == name_of(calls, b) &&
         (count == 0 || std::equal(calls.sizes[a], calls.sizes[a] + count, calls.sizes[b]));
}

std::uint64_t shape_size(const kernel_calls& calls, std::size_t i) {
  return round_up(sizeof(shape_head) + static_cast<std::uint64_t>(calls.argument_counts[i]) * sizeof(std::uint32_t) +
                      name_of(calls, i).size(),
                  8);
}

// Where the arguments of kernel i end, if its head is at `at`; calls `place` for each of them.
template <class Place>
std::uint64_t lay_out(const kernel_calls& calls, std::size_t i, std::uint64_t at, const Place& place) {
  at += sizeof(kernel_head);
  for (int k = 0; k < calls.argument_counts[i]; ++k) {
    const auto size = static_cast<std::uint64_t>(calls.sizes[i][k]);
    at = round_up(at, alignment_of(size));
    place(k, at, size);
    at += size;
  }
  return round_up(at, 8);
}

// Kernels with the same shape as the one before share it: batches are runs of one kernel, mostly.
struct plan {
  std::vector<std::size_t> firsts;  // kernel that each shape is taken from
  std::uint64_t total = sizeof(batch_header);
};

plan plan_message(const kernel_calls& calls) {
  plan result;
  for (std::size_t i = 0; i < calls.count; ++i) {
    if (i > 0 && same_shape(calls, i - 1, i)) continue;
    result.firsts.push_back(i);
    result.total += shape_size(calls, i);
  }
  for (std::size_t i = 0; i < calls.count; ++i) {
    result.total = lay_out(calls, i, result.total, [](int, std::uint64_t, std::uint64_t) {});
  }
  return result;
}

std::uint64_t write_shape(const kernel_calls& calls, std::size_t i, std::byte* to) {
  const std::string_view name = name_of(calls, i);
  const std::uint64_t size = shape_size(calls, i);
  std::memset(to, 0, size);
  const auto count = static_cast<std::uint32_t>(calls.argument_counts[i]);
  const shape_head head{static_cast<std::uint32_t>(name.size()), count};
  std::memcpy(to, &head, sizeof head);
  if (count > 0) std::memcpy(to + sizeof head, calls.sizes[i], count * sizeof(std::uint32_t));
  std::memcpy(to + sizeof head + count * sizeof(std::uint32_t), name.data(), name.size());
  return size;
}

}  // namespace

void message_buffer::resize(std::size_t size) {
  if (size > capacity_) {
    const std::size_t capacity = std::max(size, std::size_t{4096});
    std::unique_ptr<std::byte[], free_aligned> larger(
        static_cast<std::byte*>(::operator new[](capacity, std::align_val_t{message_alignment})));
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    capacity_ = capacity;
  }
  size_ = size;
}

bool check_calls(const kernel_calls& calls) noexcept {
  for (std::size_t i = 0; i < calls.count; ++i) {
    const int count = calls.argument_counts[i];
    if (calls.names[i] == nullptr || count < 0) return false;
    if (count > 0 && (calls.arguments[i] == nullptr || calls.sizes[i] == nullptr)) return false;
    for (int k = 0; k < count; ++k) {
      const int size = calls.sizes[i][k];
      if (size < 0 || (size > 0 && calls.arguments[i][k] == nullptr)) return false;
    }
  }
  return true;
}

message_buffer pack(const kernel_calls& calls, batch_header header) {
  const plan what = plan_message(calls);
  message_buffer result(what.total);
  header.total = what.total;
  header.kernels = static_cast<std::uint32_t>(calls.count);
  header.shapes = static_cast<std::uint32_t>(what.firsts.size());
  std::memcpy(result.data(), &header, sizeof header);
  std::uint64_t at = sizeof header;
  for (const std::size_t first : what.firsts) at += write_shape(calls, first, result.data() + at);
  std::uint32_t shape = 0;
  for (std::size_t i = 0; i < calls.count; ++i) {
    if (shape + 1 < what.firsts.size() && what.firsts[shape + 1] == i) ++shape;
    const kernel_head head{shape, 0};
    std::memcpy(result.data() + at, &head, sizeof head);
    at = lay_out(calls, i, at, [&](int k, std::uint64_t place, std::uint64_t size) {
      if (size > 0) std::memcpy(result.data() + place, calls.arguments[i][k], size);
    });
  }
  return result;
}

batch_view::batch_view(message_buffer& bytes) : bytes_(bytes) {
  const std::span<const std::byte> all(bytes.data(), bytes.size());
  cursor in(all);
  header_ = in.number<batch_header>();
  if (header_.magic != batch_header::right_magic || header_.total != bytes.size()) {
    throw malformed("a message is not one of MPIX_Kernel_call, or of a machine of other byte order");
  }
  for (std::uint32_t i = 0; i < header_.shapes; ++i) {
    const std::uint64_t begin = in.position();
    const auto head = in.number<shape_head>();
    const auto sizes = in.take(std::uint64_t{head.arguments} * sizeof(std::uint32_t));
    const auto name = in.take(head.name_length);
    const std::uint64_t end = round_up(in.position(), 8);
    in.seek(end);
    kernel_shape shape;
    shape.key = {reinterpret_cast<const char*>(all.data() + begin), end - begin};
    shape.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    shape.sizes = {reinterpret_cast<const std::uint32_t*>(sizes.data()), head.arguments};
    shapes_.push_back(shape);
  }
  at_ = in.position();
}

std::size_t batch_view::next(std::vector<std::byte*>& arguments) {
  cursor in({bytes_.data(), bytes_.size()}, at_);
  const auto head = in.number<kernel_head>();
  if (head.shape >= shapes_.size()) throw malformed("a kernel without shape");
  arguments.clear();
  for (const std::uint64_t size : shapes_[head.shape].sizes) {
    in.seek(round_up(in.position(), alignment_of(size)));
    arguments.push_back(size == 0 ? nullptr : bytes_.data() + in.position());
    in.skip(size);
  }
  at_ = round_up(in.position(), 8);
  return head.shape;
}

}  // namespace ham::mpix
