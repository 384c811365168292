// The names of senders as the standard library has them (C++26). Internal.
#pragma once

#include <execution>
#include <stop_token>

namespace ham::inline v1::offload::execution {

using std::get_stop_token;
using std::get_stop_token_t;
using std::execution::completion_signatures;
using std::execution::completion_signatures_of_t;
using std::execution::connect;
using std::execution::get_completion_domain_t;
using std::execution::get_domain_t;
using std::execution::get_env;
using std::execution::operation_state_tag;
using std::execution::receiver_tag;
using std::execution::sender_tag;
using std::execution::set_error;
using std::execution::set_error_t;
using std::execution::set_stopped;
using std::execution::set_stopped_t;
using std::execution::set_value;
using std::execution::set_value_t;
using std::execution::start;
using std::execution::tag_of_t;
using std::execution::then_t;

}  // namespace ham::offload::execution
