// expect: type_cannot_cross<std::tuple<void (*)(int)
// Object pointers may hide in a tuple as opaque values, function pointers may not.
#include <ham/msg/codec.hpp>

#include <tuple>

void send(ham::msg::writer& to, const std::tuple<void (*)(int)>& hidden) { ham::msg::encode(to, hidden); }
