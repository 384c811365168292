// What the stand-in for libveo and its helper say to each other.
#pragma once

#include <cstdint>

namespace ham::inline v1::test::veo_stand_in {

enum class order : std::uint64_t { load = 1, symbol, allocate, call, finished };

struct request {
  order what{};
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  char text[4096] = {};
};

}  // namespace ham::test::veo_stand_in
