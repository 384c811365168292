// The texts of call_errors.hpp for the place HAM_PLACE, which HAM_SUBJECT names. Included there, once for each place.
#ifdef HAM_PLACE

template <class Value, class Member>
struct member_cannot_cross<Value, Member, HAM_PLACE> {
  static_assert(std::is_void_v<Member>,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it has a member that cannot, or that holds a pointer, a reference or a "
                "view; the member's type is Member. Use values, containers or a ham::offload::buffer_ptr; pointers "
                "whose values mean the same on both sides may be marked with ham::is_bitwise_copyable");
};

template <class Value>
struct type_cannot_cross<Value, HAM_PLACE> {
  using reasons = detail::reasons_not_to_cross<Value>;
  static_assert(!reasons::pointer,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it is a raw pointer, which means nothing there. Pass a "
                "ham::offload::buffer_ptr, a value, a container or a std::span<const T>; pointers whose values mean "
                "the same on both sides may be marked with ham::is_bitwise_copyable");
  static_assert(!reasons::reference,
                "ham: " HAM_SUBJECT " cannot cross to another node: it is a reference. Pass the value");
  static_assert(!reasons::borrows,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it refers to memory that it does not own. Pass the value, a container "
                "or a std::span<const T>");
  static_assert(!reasons::cannot_move,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it can be neither copied nor moved (has it a member such as a "
                "std::mutex or a std::atomic?). Pass what it protects, or give it a ham::codec");
  static_assert(!reasons::base,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it has a base class, and which members it inherits is not known. Give "
                "it HAM_FIELDS (or HAM_FIELDS_OF) with all members, a serialize function or a ham::codec");
  static_assert(!reasons::unknown_members,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: its members cannot be told: there are none, more than 32, a union or a "
                "reference among them. Give it HAM_FIELDS (or HAM_FIELDS_OF), a serialize function or a ham::codec");
  static_assert(!reasons::other,
                "ham: " HAM_SUBJECT
                " cannot cross to another node: it is not trivially copyable, not a standard value type of types that "
                "cross, no aggregate of these, and has neither HAM_FIELDS (or HAM_FIELDS_OF), a serialize function nor "
                "a ham::codec. Give it one of these");
};

template <class Argument, class Parameter>
struct argument_does_not_fit<Argument, Parameter, HAM_PLACE> {
  static_assert(std::is_convertible_v<Argument, Parameter>,
                "ham: " HAM_SUBJECT " cannot be converted to the parameter of this function");
};

template <class Parameter>
struct parameter_is_reference<Parameter, HAM_PLACE> {
  static_assert(!std::is_lvalue_reference_v<Parameter>,
                "ham: " HAM_SUBJECT
                " is taken by non-const reference and cannot cross: the function would change a copy in another "
                "process; take it by value or const reference and return the result");
};

#undef HAM_PLACE
#undef HAM_SUBJECT
#endif
