// expect: ham: this type cannot cross to another node: it is not trivially copyable
// A class with virtual functions crosses as its bytes only if copying it cannot fail, that is: owns nothing.
#include <ham/msg/codec.hpp>

#include <string>

struct animal {
  virtual ~animal() = default;
  virtual std::string sound() const = 0;
};
struct dog final : animal {
  std::string sound() const override { return name; }
  std::string name;
};

void send(ham::msg::writer& to, const dog& pet) { ham::msg::encode(to, pet); }
