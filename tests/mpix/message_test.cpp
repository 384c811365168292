// Messages: what is packed is found again, aligned; what is damaged is not read.
#include "mpix/message.hpp"

#include "debug_info/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ham::inline v1::mpix {
namespace {

using debug_info::malformed;

// `count` kernels with 0 to 4 arguments of 0 to 299 bytes, made of a seed.
struct some_calls {
  explicit some_calls(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    for (std::size_t i = 0; i < count; ++i) {
      const bool repeat = i > 0 && below(2) == 0;
      names.push_back(repeat ? names.back() : "kernel" + std::to_string(below(5)));
      sizes.push_back(repeat ? sizes.back() : std::vector<int>(static_cast<std::size_t>(below(5))));
      if (!repeat) std::generate(sizes.back().begin(), sizes.back().end(), [&] { return below(300); });
      auto& of_kernel = bytes.emplace_back();
      for (const int size : sizes.back()) {
        auto& argument = of_kernel.emplace_back(static_cast<std::size_t>(size) + 1);
        std::iota(argument.begin(), argument.end(), static_cast<char>(random()));
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      name_list.push_back(names[i].data());
      counts.push_back(static_cast<int>(sizes[i].size()));
      size_list.push_back(sizes[i].data());
      auto& places = argument_places.emplace_back();
      for (auto& argument : bytes[i]) places.push_back(argument.data());
    }
    for (auto& places : argument_places) argument_list.push_back(places.data());
    calls = {count, name_list.data(), counts.data(), argument_list.data(), size_list.data()};
  }
  std::vector<std::string> names;
  std::vector<std::vector<int>> sizes;
  std::vector<std::vector<std::vector<char>>> bytes;
  std::vector<char*> name_list;
  std::vector<int> counts;
  std::vector<std::vector<void*>> argument_places;
  std::vector<void**> argument_list;
  std::vector<int*> size_list;
  kernel_calls calls;
};

TEST(message, holds_what_was_packed) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    some_calls made(seed, seed);
    ASSERT_TRUE(check_calls(made.calls));
    batch_header header;
    header.ticket = 17;
    header.root = 3;
    message_buffer message = pack(made.calls, header);
    batch_view view(message);
    EXPECT_EQ(view.header().ticket, 17U);
    EXPECT_EQ(view.header().root, 3);
    ASSERT_EQ(view.header().kernels, seed);
    std::vector<std::byte*> arguments;
    for (std::size_t i = 0; i < seed; ++i) {
      const kernel_shape& shape = view.shapes()[view.next(arguments)];
      EXPECT_EQ(shape.name, made.names[i]);
      ASSERT_EQ(arguments.size(), made.sizes[i].size());
      for (std::size_t k = 0; k < arguments.size(); ++k) {
        const auto size = static_cast<std::size_t>(made.sizes[i][k]);
        ASSERT_EQ(shape.sizes[k], size);
        ASSERT_EQ(arguments[k] == nullptr, size == 0);
        if (size == 0) continue;
        EXPECT_EQ(std::memcmp(arguments[k], made.bytes[i][k].data(), size), 0);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arguments[k]) % (size <= 8 ? 8 : size < 64 ? 16 : 64), 0U);
      }
    }
  }
}

void read_all(message_buffer& message) {
  batch_view view(message);
  std::vector<std::byte*> arguments;
  for (std::uint32_t i = 0; i < view.header().kernels; ++i) view.next(arguments);
}

TEST(message, that_is_cut_or_changed_is_not_read_beyond_its_end) {
  some_calls made(20, 1);
  const message_buffer packed = pack(made.calls, {});
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    message_buffer damaged(round % 2 == 0 ? random() % packed.size() : packed.size());
    std::memcpy(damaged.data(), packed.data(), damaged.size());
    for (int change = 0; change < 3 && damaged.size() > 64; ++change) {
      damaged.data()[64 + random() % (damaged.size() - 64)] = static_cast<std::byte>(random());
    }
    try {
      read_all(damaged);
    } catch (const malformed&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1500);
}

TEST(message, is_not_made_of_calls_that_make_no_sense) {
  some_calls made(6, 3);
  ASSERT_TRUE(check_calls(made.calls));
  made.counts[5] = -1;
  EXPECT_FALSE(check_calls(made.calls));
  some_calls other(6, 3);
  other.name_list[2] = nullptr;
  EXPECT_FALSE(check_calls(other.calls));
}

}  // namespace
}  // namespace ham::mpix
