// expect: type_cannot_cross<derived
// The list of a base class does not stand for the derived class: its own members would silently stay behind.
#include <ham/msg/codec.hpp>

#include <string>

struct base {
  std::string name;
  HAM_FIELDS(name)
};
struct derived : base {
  std::string more;
};

void send(ham::msg::writer& to, const derived& value) { ham::msg::encode(to, value); }
