// expect: ham: a class with HAM_FIELDS must be default constructible
// The receiver makes an object first and reads its fields then.
#include <ham/msg/codec.hpp>

struct number {
  explicit number(int v) : value(v) {}
  int value;
  HAM_FIELDS(value)
};

number receive(ham::msg::reader& from) { return ham::msg::decode<number>(from); }
