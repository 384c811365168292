// Two files that define things of one name with internal linkage.
#pragma once

#include "ham/msg/handler.hpp"

namespace duplicates {

ham::msg::handler_entry& first_file_entry();
ham::msg::handler_entry& second_file_entry();
void make_first_message();
void make_second_message();

}  // namespace duplicates
