// Every codec: what it takes from arbitrary bytes must be a value that crosses again, as itself.
// fuzz: -max_len=512
#include "ham/msg/codec.hpp"

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "input.hpp"

namespace codecs_fuzz {

using namespace ham;
using bytes = std::vector<std::byte>;

enum class colour : std::int16_t { red, green };

struct point {
  double x;
  double y;
};

struct particle {
  point at{};
  std::string name;
  std::optional<int> charge;
  HAM_FIELDS(at, name, charge)
};

struct tree {
  int value = 0;
  std::vector<tree> children;
  HAM_FIELDS(value, children)
};

class ledger {
 public:
  template <class Archive>
  void serialize(Archive& archive) {
    archive(owner_, entries_);
  }

 private:
  std::string owner_;
  std::map<int, std::vector<long>> entries_;
};

struct percentage {
  int value = 0;
};

struct nothing {};

}  // namespace codecs_fuzz

/// A user's codec that refuses some bytes.
template <>
struct ham::codec<codecs_fuzz::percentage> {
  static std::size_t size(const codecs_fuzz::percentage&) { return 1; }
  static void write(ham::msg::writer& to, const codecs_fuzz::percentage& what) {
    to.number(static_cast<std::uint8_t>(what.value));
  }
  static codecs_fuzz::percentage read(ham::msg::reader& from) {
    const int value = from.number<std::uint8_t>();
    if (value > 100) throw ham::protocol_error("more than all");
    return {value};
  }
};

namespace codecs_fuzz {
namespace {

template <class T>
bytes encoded(const T& value) {
  bytes result(msg::encoded_size(value));
  msg::writer to(result.data(), result.size());
  msg::encode(to, value);
  fuzz::require(to.remaining() == 0, "a value that takes less than it says");
  return result;
}

/// At the end of its memory and off any alignment, so that each byte too far is seen.
class block {
 public:
  block(std::span<const std::byte> from, std::size_t offset)
      : memory_(new std::byte[from.size() + offset]), size_(from.size()), offset_(offset) {
    if (!from.empty()) std::memcpy(memory_.get() + offset, from.data(), from.size());
  }
  [[nodiscard]] msg::reader reader() const { return {memory_.get() + offset_, size_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_;
  std::size_t offset_;
};

/// Equal values are equal bytes: not so where the order of elements is the container's affair.
enum class bytes_are { one_form, settled, any };

template <class T, bytes_are How>
void cross(std::span<const std::byte> from, std::size_t offset) {
  const block memory(from, offset);
  msg::reader reader = memory.reader();
  const T value = msg::decode<T>(reader);
  reader.expect_end();
  const bytes again = encoded(value);
  if (How == bytes_are::one_form) fuzz::require(std::ranges::equal(again, from), "a value with two forms");
  const block copy(again, 1);
  msg::reader second = copy.reader();
  const T twin = msg::decode<T>(second);
  second.expect_end();
  const bytes third = encoded(twin);
  fuzz::require(third.size() == again.size(), "a value that changes its size on the way");
  if (How != bytes_are::any) fuzz::require(third == again, "a value that changes on the way");
}

/// Views refer to the bytes or to a copy, and are looked at.
template <class View>
void view(std::span<const std::byte> from, std::size_t offset) {
  const block memory(from, offset);
  msg::reader reader = memory.reader();
  const auto held = msg::decode<View>(reader);
  reader.expect_end();
  const View seen = held;
  fuzz::require(std::ranges::equal(encoded(seen), from), "a view of other bytes");
}

using attempt = void (*)(std::span<const std::byte>, std::size_t);
using enum bytes_are;

constexpr attempt attempts[] = {
    cross<bool, one_form>,
    cross<std::int64_t, one_form>,
    cross<double, one_form>,
    cross<long double, any>,  // x87 knows bit patterns that are no numbers
    cross<std::complex<float>, one_form>,
    cross<colour, one_form>,
    cross<std::array<std::int32_t, 3>, one_form>,
    cross<std::array<std::string, 2>, one_form>,
    cross<std::string, one_form>,
    cross<std::u16string, one_form>,
    cross<std::wstring, one_form>,
    cross<std::filesystem::path, one_form>,
    cross<std::tuple<std::int8_t, std::string, bool>, one_form>,
    cross<std::tuple<>, one_form>,
    cross<std::pair<std::string, std::int32_t>, one_form>,
    cross<std::optional<std::optional<std::string>>, one_form>,
    cross<std::variant<std::monostate, std::int32_t, std::string, std::vector<bool>>, settled>,
    cross<std::chrono::milliseconds, one_form>,
    cross<std::chrono::system_clock::time_point, one_form>,
    cross<std::bitset<13>, settled>,
    cross<std::vector<std::byte>, one_form>,
    cross<std::vector<double>, one_form>,
    cross<std::vector<bool>, settled>,
    cross<std::vector<nothing>, one_form>,
    cross<std::vector<std::tuple<>>, one_form>,
    cross<std::vector<std::vector<std::string>>, one_form>,
    cross<std::vector<point>, one_form>,
    cross<std::vector<std::optional<std::array<double, 8>>>, one_form>,
    cross<std::deque<std::int16_t>, one_form>,
    cross<std::list<std::string>, one_form>,
    cross<std::forward_list<std::pair<std::int8_t, std::int8_t>>, one_form>,
    cross<std::set<std::string>, settled>,
    cross<std::multiset<std::int32_t>, settled>,
    cross<std::unordered_set<std::int32_t>, any>,
    cross<std::unordered_multiset<std::string>, any>,
    cross<std::map<std::string, std::vector<std::int32_t>>, settled>,
    cross<std::multimap<std::int32_t, std::string>, settled>,
    cross<std::unordered_map<std::int32_t, std::string>, any>,
    cross<std::unordered_multimap<std::string, std::int32_t>, any>,
    cross<point, one_form>,
    cross<nothing, one_form>,
    cross<particle, one_form>,
    cross<tree, one_form>,
    cross<ledger, settled>,
    cross<percentage, one_form>,
    cross<std::map<std::string, std::variant<tree, particle, percentage>>, settled>,
    view<std::string_view>,
    view<std::u32string_view>,
    view<std::span<const double>>,
    view<std::span<const double, 2>>,
    view<std::span<const bool>>,
    view<std::span<const std::string>>,
};

}  // namespace
}  // namespace codecs_fuzz

HAM_FUZZ(from) {
  const auto which = codecs_fuzz::attempts[from.byte() % std::size(codecs_fuzz::attempts)];
  const std::size_t offset = from.byte() % 8;
  try {
    which(from.rest(), offset);
  } catch (const ham::protocol_error&) {
    return;
  }
}
