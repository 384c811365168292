// The table of registered functions, and the handler that finds and runs one.
#include "c_api/functions.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "c_api/status.hpp"
#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/detail/engine_api.hpp"

/// The C API's view of a call that is being executed.
struct ham_reply {
  std::vector<std::byte> bytes;
  std::string text;
};

namespace ham::inline v1::c_api {
namespace {

constexpr std::size_t max_name = 255;

struct function {
  ham_function address = nullptr;
  void* user = nullptr;
  std::string layout{};  // of ham_register_encoded
};

class function_table {
 public:
  void add(std::string_view name, const function& what) {
    const std::unique_lock lock(mutex_);
    if (!functions_.try_emplace(std::string(name), what).second)
      throw bad_argument{"the name \"" + std::string(name) + "\" is registered already; take another one"};
  }
  /// Its address is nullptr if there is none.
  [[nodiscard]] function find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = functions_.find(name);
    return found == functions_.end() ? function() : found->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, function, std::less<>> functions_;
};

/// Lives as long as the process: calls may arrive while it ends.
function_table& functions() {
  static function_table& table = *new function_table;
  return table;
}

/// A function in C++ with a name. Both are kept as long as the process lives, also when its library is unloaded.
struct named_function {
  const msg::handler_entry* entry = nullptr;  // nullptr: several have the name
  const std::string* layout = nullptr;
};

/// Functions by the names that named<"..."> has given to them.
class key_index {
 public:
  /// Nothing if there is no such name.
  [[nodiscard]] std::optional<named_function> find(std::string_view name) {
    const std::unique_lock lock(mutex_);
    update();
    const auto found = keys_.find(name);
    if (found == keys_.end()) return std::nullopt;
    const std::uint32_t key = found->second;
    if (key == several || table_->duplicate(key)) return named_function{};
    return named_function{table_->find(key), &table_->layout(key)};
  }

 private:
  static constexpr std::uint32_t several = msg::invalid_key;

  /// Libraries come and go, and their rows with them: each table is read anew.
  void update() {
    const msg::handler_table& table = msg::handler_table::local();
    if (table_ == &table) return;
    table_ = nullptr;  // if there is no memory
    keys_.clear();
    for (std::uint32_t key = 0; key < table.size(); ++key) note(table, key);
    table_ = &table;
  }

  /// People's names of these are "\"key\"" and, under a policy, "\"key\" [policy]". The same function has further
  /// handlers if groups call it, or transfers bring the call along.
  void note(const msg::handler_table& table, std::uint32_t key) {
    const std::string& name = table.name(key);
    if (table.kind(key) != msg::handler_kind::call || !name.starts_with("ham::msg::call_tag<") ||
        name.find("::key_tag<") == std::string::npos)
      return;
    const std::string pretty = table.pretty_name(key);
    if (!pretty.starts_with('"')) return;
    const std::size_t policy = pretty.find("\" [");
    const std::size_t end = policy == std::string::npos ? pretty.size() - 1 : policy;
    const auto [at, fresh] = keys_.try_emplace(pretty.substr(1, end - 1), key);
    if (!fresh) at->second = several;  // under different policies
  }

  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> keys_;
  const msg::handler_table* table_ = nullptr;
};

key_index& keys() {
  static key_index& index = *new key_index;
  return index;
}

constexpr std::string_view layout_function = "ham.layout";
constexpr std::string_view callable = "empty";

[[noreturn]] void throw_no_function(std::string_view name) {
  throw call_error("no function is called \"" + std::string(name.substr(0, max_name)) +
                   "\" here (neither ham_register nor one ham::named has given this name); register it in every "
                   "process before ham_start, or offer it");
}

/// Nothing if no function in C++ is called so. Throws ham::call_error if several are.
std::optional<named_function> find_named(std::string_view name) {
  const std::optional<named_function> found = keys().find(name);
  if (found && found->entry == nullptr)
    throw call_error("several functions are called \"" + std::string(name.substr(0, max_name)) +
                     "\" here (ham::named has given this name to more than one, or to one under several policies or "
                     "with several types of arguments); give each a name of its own");
  return found;
}

/// A function that is called with values. Throws ham::call_error if there is none, or several.
named_function find_with_layout(std::string_view name) {
  if (const std::optional<named_function> found = find_named(name)) return *found;
  if (functions().find(name).address == nullptr) throw_no_function(name);
  throw call_error("\"" + std::string(name) +
                   "\" takes bytes (ham_register tells no layout) and cannot be called with values; use ham_call");
}

/// "parameter,...->result" of a handler's layout.
std::string without_callable(std::string_view layout, std::string_view key) {
  if (!layout.starts_with(callable))
    throw call_error("\"" + std::string(key) +
                     "\" is no function, but an object with members, and cannot be called by name");
  layout.remove_prefix(callable.size());
  if (layout.starts_with(',')) layout.remove_prefix(1);
  return std::string(layout);
}

/// What every node answers to ham_layout.
int describe_layout(const void* argument, std::size_t size, ham_reply* reply, void*) {
  const std::string_view key(static_cast<const char*>(argument), size);
  const function registered = functions().find(key);
  const std::string text =
      registered.layout.empty() ? without_callable(*find_with_layout(key).layout, key) : registered.layout;
  return ham_set_result(reply, text.data(), text.size());
}
[[maybe_unused]] const bool describes_layouts = [] {
  functions().add(layout_function, {&describe_layout});
  return true;
}();

void reply_bytes(detail::incoming_call& call, std::span<const std::byte> bytes, bool encoded) {
  if (!detail::wants_reply(call)) return;
  const std::size_t size = encoded ? bytes.size() : msg::encoded_size(bytes);
  detail::reply_room room;
  detail::begin_reply(call, size, room);
  detail::reservation reply(room);
  msg::writer to(room.data, size);
  if (encoded)
    to.bytes(bytes.data(), bytes.size());
  else
    msg::encode(to, bytes);
  to.expect_full();
  detail::finish_reply(call, reply.release());
}

/// `encoded`: the arguments and the result are values, one behind the other, and no vector of bytes.
void run_registered(detail::incoming_call& call, const function& what, std::string_view name,
                    std::span<const std::byte> argument, bool encoded) {
  detail::name_execution(name);
  ham_reply reply;
  const int code = what.address(argument.data(), argument.size(), &reply, what.user);
  if (code != 0) {
    throw function_failure(code, "\"" + std::string(name) + "\" ended with code " + std::to_string(code) +
                                     (reply.text.empty() ? "" : ": " + reply.text));
  }
  reply_bytes(call, reply.bytes, encoded);
}

/// Runs a function in C++ as if it had been called itself. `encoded`: a count, and `argument`, which is so many bytes.
void run_named(detail::incoming_call& call, const named_function& what, std::string_view name,
               std::span<const std::byte> encoded, std::span<const std::byte> argument) {
  std::size_t parameters = 0;
  if (!takes_bytes(*what.layout, parameters))
    throw call_error("\"" + std::string(name) + "\" cannot be called by its name alone (what crosses is " +
                     *what.layout +
                     "); it must take nothing or one string, vector or span of bytes, and return "
                     "nothing or one of these");
  if (parameters == 0 && !argument.empty())
    throw call_error("\"" + std::string(name) + "\" takes no argument, and got one of " +
                     std::to_string(argument.size()) + " bytes");
  call.payload = parameters == 0 ? std::span<const std::byte>() : encoded;
  call.function = what.entry;
  call.decoded = false;
  detail::name_execution(*what.entry);
  what.entry->handler(&call);
}

/// "vec<...>" of bytes, or "str": on the wire a count and so many bytes.
bool is_bytes(std::string_view layout) noexcept {
  for (const std::string_view one : {"vec<enum<u1>>", "vec<u1>", "vec<i1>", "vec<char>", "str"}) {
    if (layout == one) return true;
  }
  return false;
}

}  // namespace

/// The arguments are encoded as the function's own: what is wrong with them is the caller's error, not the
/// connection's.
void run_encoded(detail::incoming_call& call, std::string_view key, std::string_view layout,
                 std::span<const std::byte> arguments) {
  const auto expect_layout = [&](std::string_view here) {
    if (here != layout)
      throw call_error("\"" + std::string(key) + "\" is " + std::string(here) + " here, and was called as " +
                       std::string(layout));
  };
  if (const function registered = functions().find(key); !registered.layout.empty()) {
    expect_layout(registered.layout);
    run_registered(call, registered, key, arguments, true);
    return;
  }
  const named_function what = find_with_layout(key);
  expect_layout(without_callable(*what.layout, key));
  call.payload = arguments;
  call.function = what.entry;
  detail::name_execution(*what.entry);
  what.entry->handler(&call);
}

/// What every program has of calls by name. Not in the namespace above: its name is that of the handler.
struct call_by_name {
  using tag = call_by_name;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static std::string layout() { return "empty,str,vec<u1>->vec<u1>"; }

  static void handler(void* buffer) {
    auto& call = *static_cast<detail::incoming_call*>(buffer);
    msg::reader from(call.payload);
    const std::string_view name = msg::decode<std::string_view>(from);
    const std::span<const std::byte> encoded = call.payload.last(from.remaining());
    const std::span<const std::byte> argument = from.view(from.count(1));
    from.expect_end();
    call.decoded = true;
    if (const std::size_t zero = name.find('\0'); zero != std::string_view::npos) {
      run_encoded(call, name.substr(0, zero), name.substr(zero + 1), argument);
    } else if (const function registered = functions().find(name); registered.address != nullptr) {
      if (!registered.layout.empty())
        throw call_error("\"" + std::string(name) + "\" takes values (" + registered.layout +
                         ") and cannot be called with bytes; use ham_call_encoded");
      run_registered(call, registered, name, argument, false);
    } else if (const std::optional<named_function> found = find_named(name)) {
      run_named(call, *found, name, encoded, argument);
    } else {
      throw_no_function(name);
    }
  }
};

void add_function(std::string_view name, ham_function address, void* user, std::string_view layout) {
  if (name.empty() || name.size() > max_name)
    throw bad_argument{"a name has 1 to 255 bytes, not " + std::to_string(name.size())};
  functions().add(name, {address, user, std::string(layout)});
}

msg::handler_entry& by_name_entry() noexcept { return msg::handler_registrar<call_by_name>::entry(); }

bool takes_bytes(std::string_view layout, std::size_t& parameters) noexcept {
  constexpr std::string_view arrow = "->";
  if (!layout.starts_with(callable)) return false;
  layout.remove_prefix(callable.size());
  const std::size_t at = layout.find(arrow);
  if (at == std::string_view::npos) return false;
  const std::string_view sent = layout.substr(0, at);
  const std::string_view result = layout.substr(at + arrow.size());
  parameters = sent.empty() ? 0 : 1;
  return (sent.empty() || (sent.starts_with(',') && is_bytes(sent.substr(1)))) &&
         (result == "void" || is_bytes(result));
}

}  // namespace ham::c_api

ham::msg::handler_entry& ham::detail::by_name_entry() noexcept { return ham::c_api::by_name_entry(); }

int ham_register(const char* name, ham_function function, void* user) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    ham::c_api::require(reinterpret_cast<const void*>(function), "the function");
    ham::c_api::add_function(name, function, user);
    return HAM_OK;
  });
}

int ham_register_encoded(const char* name, const char* layout, ham_function function, void* user) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    ham::c_api::require(layout, "the layout");
    ham::c_api::require(reinterpret_cast<const void*>(function), "the function");
    if (std::strstr(layout, "->") == nullptr)
      throw ham::c_api::bad_argument{"\"" + std::string(layout) + "\" is no layout, such as \"f8,vec<f8>->f8\""};
    ham::c_api::add_function(name, function, user, layout);
    return HAM_OK;
  });
}

int ham_set_result(ham_reply* reply, const void* bytes, size_t size) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(reply, "the reply");
    if (size != 0) ham::c_api::require(bytes, "the result");
    const auto* const from = static_cast<const std::byte*>(bytes);
    reply->bytes.assign(from, from + size);
    return HAM_OK;
  });
}

int ham_fail(ham_reply* reply, const char* text) {
  (void)ham::c_api::guarded([&] {
    ham::c_api::require(reply, "the reply");
    reply->text = text == nullptr ? "" : text;
    return HAM_OK;
  });
  return HAM_ERROR_FUNCTION;
}

void ham_name_call(const char* name) {
  if (name != nullptr) ham::detail::name_execution(name);
}
