// All that this process can write to, for tests that look for secrets that should not be there any more.
#pragma once

#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace ham::inline v1::test {

/// Calls `look` with the bytes of each private mapping that is readable and writable; the huge ones, which are reserved
/// and not used, are left out. Whoever searches compares with inverted bytes, so that the search does not find itself.
template <class Look>
void for_each_writable_mapping(Look look) {
  constexpr unsigned long huge = 1UL << 28;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    if (std::string_view(rights) != "rw-p" || end - begin > huge) continue;
    look(std::span<const unsigned char>(reinterpret_cast<const unsigned char*>(begin), end - begin));
  }
}

}  // namespace ham::test
