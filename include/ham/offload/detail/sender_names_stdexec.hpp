// The names of senders as stdexec has them, the reference implementation of P2300. Internal.
#pragma once

#include <stdexec/execution.hpp>
#include <type_traits>

// stdexec follows the drafts of C++26, in which tags and queries have changed their names. Inside of a namespace of its
// own its names are found first; what it lacks is found here.
namespace ham_stdexec_lacks {
struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
template <class Tag>
struct get_completion_domain_t {};
}  // namespace ham_stdexec_lacks

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
namespace stdexec::ham_names {
using namespace ham_stdexec_lacks;
template <class Now, class Lacking, class Before>
using either = std::conditional_t<std::is_same_v<Now, Lacking>, Before, Now>;
using sender = either<sender_tag, ham_stdexec_lacks::sender_tag, sender_t>;
using receiver = either<receiver_tag, ham_stdexec_lacks::receiver_tag, receiver_t>;
using operation_state = either<operation_state_tag, ham_stdexec_lacks::operation_state_tag, operation_state_t>;
template <class Tag>
using completion_domain = get_completion_domain_t<Tag>;
}  // namespace stdexec::ham_names
#pragma GCC diagnostic pop

namespace ham::inline v1::offload::execution {

using sender_tag = stdexec::ham_names::sender;
using receiver_tag = stdexec::ham_names::receiver;
using operation_state_tag = stdexec::ham_names::operation_state;
template <class Tag>
using get_completion_domain_t = stdexec::ham_names::completion_domain<Tag>;
using stdexec::completion_signatures;
using stdexec::completion_signatures_of_t;
using stdexec::connect;
using stdexec::get_domain_t;
using stdexec::get_env;
using stdexec::get_stop_token;
using stdexec::get_stop_token_t;
using stdexec::set_error;
using stdexec::set_error_t;
using stdexec::set_stopped;
using stdexec::set_stopped_t;
using stdexec::set_value;
using stdexec::set_value_t;
using stdexec::start;
using stdexec::tag_of_t;
using stdexec::then_t;

}  // namespace ham::offload::execution
