// expect: ham: this type cannot cross back as a result: it is a view of memory of the other node
// The memory that a returned view refers to is gone when the result arrives.
#include <ham/msg/codec.hpp>

#include <string_view>

static_assert(ham::msg::require_result<std::string_view>());
