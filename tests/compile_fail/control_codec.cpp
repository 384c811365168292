// expect: compiles
// The control: what the codec's cases beside it do wrong, done right.
#include <ham/msg/codec.hpp>

#include <set>
#include <span>
#include <string>

struct person {
  std::string name;
  HAM_FIELDS(name)
};

void send(ham::msg::writer& to, const person& someone, std::span<const double> values, const std::set<int>& numbers) {
  ham::msg::encode(to, someone);
  ham::msg::encode(to, values);
  ham::msg::encode(to, numbers);
}

person receive(ham::msg::reader& from) { return ham::msg::decode<person>(from); }

struct plain {
  std::string name;
  person someone;
  int numbers[3];
};
namespace library {
struct point {
  double x, y;
};
class stamp {
 public:
  std::string text;
  virtual ~stamp() = default;
};
template <class Archive>
void serialize(Archive& ar, stamp& value) {
  ar(value.text);
}
}  // namespace library
HAM_FIELDS_OF(library::point, x, y)

plain receive_plain(ham::msg::reader& from) { return ham::msg::decode<plain>(from); }
library::point receive_point(ham::msg::reader& from) { return ham::msg::decode<library::point>(from); }
library::stamp receive_stamp(ham::msg::reader& from) { return ham::msg::decode<library::stamp>(from); }

static_assert(ham::msg::require_argument<std::span<const double>>() && ham::msg::require_result<void>());
