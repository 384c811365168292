// expect: type_cannot_cross<std::set<int
// Functors of containers do not travel, so they must have no state.
#include <ham/msg/codec.hpp>

#include <set>

void send(ham::msg::writer& to, const std::set<int, bool (*)(int, int)>& values) { ham::msg::encode(to, values); }
