// expect: ham: this type cannot cross to another node: it is a reference
// A reference is a pointer in disguise.
#include <ham/msg/codec.hpp>

static_assert(ham::msg::require_argument<int&>());
