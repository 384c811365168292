// expect: ham: this type cannot cross to another node: it has a member that cannot
// Members cross by themselves, but a pointer means nothing on another node.
#include <ham/msg/codec.hpp>

#include <string>

struct person {
  std::string name;
  const person* partner;
};

void send(ham::msg::writer& to, const person& one) { ham::msg::encode(to, one); }
