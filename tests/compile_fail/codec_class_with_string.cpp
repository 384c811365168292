// expect: ham: this type cannot cross to another node: it is not trivially copyable
// A class with a private member that is more than its bytes needs HAM_FIELDS, serialize or a codec.
#include <ham/msg/codec.hpp>

#include <string>

class person {
  std::string name;
};

person receive(ham::msg::reader& from) { return ham::msg::decode<person>(from); }
