// expect: ham: this type cannot cross to another node: it refers to memory that it does not own
// What the receiver writes into a span would not come back.
#include <ham/msg/codec.hpp>

#include <span>

void send(ham::msg::writer& to, std::span<double> values) { ham::msg::encode(to, values); }
