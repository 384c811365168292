// Encoding a value of every kind, and decoding it again.
#include "wire.hpp"

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "ham/msg/codec.hpp"

namespace ham::inline v1::isa {
namespace {

enum class colour : std::uint16_t { red = 0x1234 };

struct particle {
  std::array<double, 3> position{};
  std::string name;
  std::int16_t charge = 0;
  HAM_FIELDS(position, name, charge)
  bool operator==(const particle&) const = default;
};

using values = std::tuple<
    std::tuple<bool, char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
               std::int64_t, std::uint64_t, long, unsigned long long, float, double>,
    std::tuple<std::string, std::u16string, std::u32string, std::wstring>,
    std::tuple<std::vector<std::int32_t>, std::vector<bool>, std::vector<std::string>, std::array<std::uint16_t, 3>,
               std::map<std::string, std::vector<double>>, std::set<std::int64_t>>,
    std::tuple<std::optional<double>, std::variant<std::monostate, std::int32_t, std::string>, std::complex<double>,
               std::bitset<70>, std::chrono::nanoseconds, colour, std::vector<particle>>>;

values example() {
  return {{true, 'h', -8, 200, -300, 60'000, -100'000, 4'000'000'000U, -(std::int64_t{1} << 40), 0xfedcba9876543210,
           -7L, 1ULL << 63, 0.1F, -1e-300},
          {"plain", u"\x20ac", U"\x1f600", L"wide \x20ac"},
          {{1, -2, 0x01020304},
           {true, false, true},
           {"", "a", "bc"},
           {1, 0x0203, 0xffff},
           {{"pi", {3.14, 0.0}}, {"", {}}},
           {-1, 1LL << 50}},
          {0.5,
           std::string("variant"),
           {1.5, -2.5},
           std::bitset<70>(0x123456789abcdefULL),
           std::chrono::nanoseconds(1'234'567'890'123),
           colour::red,
           {{{1, 2, 3}, "p", -1}, {}}}};
}

std::vector<std::byte> encoded() {
  const values all = example();
  std::vector<std::byte> bytes(msg::encoded_size(all));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, all);
  return bytes;
}

}  // namespace

bool write_wire(const char* path) {
  const std::vector<std::byte> bytes = encoded();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(file.flush());
}

bool read_wire(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto* const begin = reinterpret_cast<const std::byte*>(content.data());
  const std::vector<std::byte> bytes(begin, begin + content.size());
  msg::reader from(bytes);
  const auto arrived = msg::decode<values>(from);
  from.expect_end();
  if (arrived != example()) std::fprintf(stderr, "%s: other values\n", path);
  if (bytes != encoded()) std::fprintf(stderr, "%s: other bytes\n", path);
  return arrived == example() && bytes == encoded();
}

}  // namespace ham::isa
