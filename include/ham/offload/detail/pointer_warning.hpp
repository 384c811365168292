// The warning about calls that send or return pointers inside of objects. Internal.
//
// It is an overload of each verb, because compilers show warnings where the user's code is, and none in the headers of
// an installed library. HoldsPointer, a parameter of that overload, names the type.
#pragma once

#define HAM_WARN_OF_POINTERS                                                                                          \
  [[deprecated(                                                                                                       \
      "ham: an object in this call holds a pointer, a reference or a view, which means nothing on another node; its " \
      "type is HoldsPointer, the last template argument. Pass values, containers or ham::offload::buffer_ptr. Where " \
      "the pointer means the same on both nodes, specialise ham::is_bitwise_copyable for the type as "                \
      "std::true_type: then there is no warning")]]
