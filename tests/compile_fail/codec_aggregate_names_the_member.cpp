// expect: member_cannot_cross<person, std::unique_ptr<
// The message names the type of the member, too.
#include <ham/msg/codec.hpp>

#include <memory>
#include <string>

struct person {
  std::string name;
  std::unique_ptr<int> age;
};

void send(ham::msg::writer& to, const person& one) { ham::msg::encode(to, one); }
