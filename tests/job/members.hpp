// A host whose members are played.
#pragma once

#include <gtest/gtest.h>

#include "job/membership.hpp"
#include "job/node_job.hpp"
#include "job/played.hpp"

namespace ham::inline v1::test {

class played_members : public testing::Test {
 protected:
  static detail::target_defaults own_program() {
    detail::target_defaults result;
    result.command = {"./app"};
    result.placement.automatic = false;
    return result;
  }

  lone_node host_;
  detail::node_directory directory_{*host_, {}};
  detail::membership members_{*host_, directory_, {}, own_program()};
  detail::node_job job_{directory_, &members_};
};

}  // namespace ham::test
