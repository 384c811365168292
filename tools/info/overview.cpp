// The overview, as text and as JSON.
#include "overview.hpp"

#include "json_text.hpp"
#include "text_table.hpp"

#include <ostream>
#include <string>

namespace ham::inline v1::info {

namespace {

void print_properties(std::ostream& out, const char* title, const std::vector<property>& properties) {
  out << title << '\n';
  std::vector<std::vector<std::string>> rows;
  for (const property& one : properties) {
    rows.push_back({one.name, one.value});
    if (!one.remark.empty()) rows.back().push_back(one.remark);
  }
  print_table(out, rows);
  out << '\n';
}

void write_properties(json_text& json, const char* name, const std::vector<property>& properties) {
  json.open_object(name);
  for (const property& one : properties) json.value(one.name, one.value);
  json.close_object();
}

std::string setting_text(const node_list& nodes) {
  return nodes.setting.empty() ? "HAM_NODES is not set: the default" : "HAM_NODES=" + nodes.setting;
}

void print_device(std::ostream& out, const offload::node_descriptor& of) {
  const offload::device_info& device = of.device();
  if (device.name.empty()) return;
  out << "  node " << of.node() << " has " << device.name << " (capability " << device.capability << ", "
      << device.processors << " processors, " << (device.memory_bytes >> 20) << " MiB, driver " << device.driver
      << ")\n";
}

void print_nodes(std::ostream& out, const node_list& nodes) {
  out << "nodes of an application here (" << setting_text(nodes) << ")\n";
  if (!nodes.problem.empty()) {
    out << "  none: " << nodes.problem << "\n\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{{"node", "role", "transport", "host", "device", "ISA", "cores", "memory"}};
  for (const offload::node_descriptor& one : nodes.nodes) {
    rows.push_back({std::to_string(one.node()), one.node() == 0 ? "host" : "target", one.transport(), one.name(),
                    one.device_type(), one.isa(), std::to_string(one.cores()),
                    std::to_string(one.memory_bytes() >> 20) + " MiB"});
  }
  print_table(out, rows);
  for (const offload::node_descriptor& one : nodes.nodes) print_device(out, one);
  out << '\n';
}

void write_nodes(json_text& json, const node_list& nodes) {
  json.value("ham_nodes", nodes.setting).value("nodes_problem", nodes.problem).open_list("nodes");
  for (const offload::node_descriptor& one : nodes.nodes) {
    json.open_object()
        .value("node", one.node())
        .value("transport", one.transport())
        .value("host", one.name())
        .value("device", one.device_type())
        .value("isa", one.isa())
        .value("cores", one.cores())
        .value("memory_bytes", one.memory_bytes())
        .value("device_name", one.device().name)
        .value("device_capability", one.device().capability)
        .value("device_driver", one.device().driver)
        .value("device_processors", one.device().processors)
        .value("device_memory_bytes", one.device().memory_bytes)
        .close_object();
  }
  json.close_list();
}

}  // namespace

overview look_around() {
  overview result;
  result.transports = try_transports();
  result.nodes = start_nodes();
  result.versions = versions();
  result.machine = info::machine();
  result.limits = limits();
  result.services = kernel_services();
  return result;
}

void print(std::ostream& out, const overview& what) {
  print_properties(out, "versions", what.versions);
  print_properties(out, "machine", what.machine);
  out << "transports\n";
  std::vector<std::vector<std::string>> rows;
  for (const transport_state& one : what.transports) {
    rows.push_back(
        {one.name, one.available ? "available" : "not available", one.reason.empty() ? one.version : one.reason});
  }
  print_table(out, rows);
  out << '\n';
  print_nodes(out, what.nodes);
  print_properties(out, "limits", what.limits);
  print_properties(out, "services of the kernel", what.services);
}

void print_json(std::ostream& out, const overview& what) {
  json_text json(out);
  json.open_object();
  write_properties(json, "versions", what.versions);
  write_properties(json, "machine", what.machine);
  json.open_list("transports");
  for (const transport_state& one : what.transports) {
    json.open_object()
        .value("name", one.name)
        .value("available", one.available)
        .value("reason", one.reason)
        .value("version", one.version)
        .close_object();
  }
  json.close_list();
  write_nodes(json, what.nodes);
  write_properties(json, "limits", what.limits);
  write_properties(json, "kernel_services", what.services);
  json.close_object();
}

}  // namespace ham::info
