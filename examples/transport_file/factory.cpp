// file in HAM_NODES: file[:COUNT][/FOLDER][@CORES].
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "host_transport.hpp"
#include "target_transport.hpp"
#include "transport/common/invited_target.hpp"
#include "transport/common/joining.hpp"
#include "transport/starting.hpp"
#include "unnamed_file.hpp"

namespace ham::inline v1::transport {
namespace {

struct file_settings final : group_settings {
  std::string folder = file::usual_folder;
};

class file_host final : public host_side {
 public:
  explicit file_host(file::host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override {
    const std::string& folder = static_cast<const file_settings&>(*group.settings).folder;
    for (start_plan& one : plans) {
      carrier_.start({one.node, std::move(one.command), std::move(one.cores)}, folder, job.nodes, job.living);
    }
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  file::host_transport& carrier_;
};

class file_transport_factory final : public starting_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "file"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "file:2 or file:2/dev/shm"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"file[:COUNT][/FOLDER][@CORE[+CORE...]]",
            "this program, through files in a folder (default /tmp); an example of a transport"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    auto settings = std::make_shared<file_settings>();
    if (text.rest().starts_with('/')) {  // which is the folder's own: it is an absolute path
      settings->folder = text.rest().substr(0, text.rest().find('@'));
      text.skip(settings->folder.size());
    }
    group.cores = text.take_cores();
    text.expect_end();
    group.settings = std::move(settings);
    return group;
  }
  [[nodiscard]] availability probe() const override {
    return found_by([] {
      static_cast<void>(file::make_unnamed_file(file::usual_folder));
      return availability{};
    });
  }
  [[nodiscard]] std::string trial() const override { return "file:1"; }

  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap&, observer& to) const override {
    auto carrier = std::make_unique<file::host_transport>(self, to);
    auto side = std::make_unique<file_host>(*carrier);
    return {std::move(carrier), std::move(side)};
  }
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override {
    auto from = file::invitation::accept(control_fd_of(told));
    const node_t self = from.said.node;
    const node_t host = from.said.host;
    const std::size_t nodes = from.said.nodes;
    return std::make_unique<invited_target<file::target_transport, file::invitation>>(std::move(from), self, host,
                                                                                      nodes);
  }
};

}  // namespace

const factory& file_factory() {
  static const file_transport_factory one;
  return one;
}

}  // namespace ham::transport
