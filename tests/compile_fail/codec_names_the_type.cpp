// expect: type_cannot_cross<std::vector<std::unique_ptr<
// The message names the type, also when only a part of it cannot cross.
#include <ham/msg/codec.hpp>

#include <memory>
#include <vector>

void send(ham::msg::writer& to, const std::vector<std::unique_ptr<int>>& owners) { ham::msg::encode(to, owners); }
