// expect: ham: this type cannot cross to another node: it is a raw pointer
// A raw pointer means nothing in another process.
#include <ham/msg/codec.hpp>

void send(ham::msg::writer& to, const int* pointer) { ham::msg::encode(to, pointer); }
