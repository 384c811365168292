// expect: ham: this type cannot cross to another node: it has a base class
// Inherited members would silently stay behind.
#include <ham/msg/codec.hpp>

#include <string>

struct person {
  std::string name;
};
struct employee : person {
  std::string company;
};

void send(ham::msg::writer& to, const employee& one) { ham::msg::encode(to, one); }
