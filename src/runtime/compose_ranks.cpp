// A rank of MPI as a target.
#include "ham/msg/thread_pool.hpp"
#include "runtime/compose.hpp"
#include "runtime/links.hpp"
#include "runtime/options.hpp"

namespace ham::detail {

void run_rank(std::unique_ptr<transport::process_group> group) {
  const node_t first = group->first();
  const node_t end = first + static_cast<node_t>(group->size()) - 1;
  engine target(group->self(), static_cast<std::size_t>(end), std::make_unique<base::heap>(base::heap::make_file()));
  target.limit_messages(message_limit());
  network_settings how;
  how.timeout = tcp_timeout();
  links whole(target, how);
  target.belong_to(&whole);
  auto transport = group->open(&target.memory(), target);
  group.reset();
  whole.use_ranks(*transport, first, end);
  target.use(std::move(transport));
  engine* const before = process_engine();
  set_process_engine(&target);
  target.serve();
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(before);
}

}  // namespace ham::detail
