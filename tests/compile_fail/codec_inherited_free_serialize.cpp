// expect: type_cannot_cross<library::derived
// The function of a base class does not stand for the derived class: its own members would silently stay behind.
#include <ham/msg/codec.hpp>

#include <string>

namespace library {
class base {
 public:
  std::string name;
  virtual ~base() = default;
};
template <class Archive>
void serialize(Archive& ar, base& value) {
  ar(value.name);
}
class derived : public base {
  std::string more;
};
}  // namespace library

void send(ham::msg::writer& to, const library::derived& value) { ham::msg::encode(to, value); }
