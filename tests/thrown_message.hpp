// The text of an exception that must come.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <typeinfo>

namespace ham::inline v1::test {

/// Runs `what` and gives the text of the E it throws; a failure of the test otherwise.
template <class E, class What>
std::string message_of(What what) {
  try {
    what();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& expected) {
    return expected.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << "another exception: " << typeid(other).name() << ": " << other.what();
  }
  return {};
}

}  // namespace ham::test
