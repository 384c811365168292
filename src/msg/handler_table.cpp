// Collecting the registered handlers, giving them keys, telling duplicates from harmless copies.
#include "ham/msg/handler_table.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "ham/error.hpp"
#include "ham/msg/library_entry.hpp"
#include "ham/msg/names.hpp"

namespace ham::inline v1::msg {

namespace {

// Both constant-initialised: entries of any library may be linked before this file's own dynamic initialisation.
constinit std::mutex list_mutex;
constinit std::mutex pretty_names_mutex;
constinit handler_entry* list_head = nullptr;

// Never destroyed: other threads may still execute messages while the process ends.
struct table_store {
  std::vector<std::unique_ptr<const handler_table>> tables;
};
table_store& all_tables() {
  static auto* store = new table_store;
  return *store;
}

const std::string& empty_text() {
  static const auto* text = new std::string;
  return *text;
}

const void* library_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Whether a mangled name may involve something with internal linkage or an unnamed type, of which two libraries may
/// have different ones under one name. Errs on the side of yes.
bool may_be_local(std::string_view mangled) {
  if (mangled.find("_GLOBAL__N_") != mangled.npos || mangled.find("Ul") != mangled.npos ||
      mangled.find("Ut") != mangled.npos || mangled.find("$_") != mangled.npos) {
    return true;
  }
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] == 'L' && std::isdigit(static_cast<unsigned char>(mangled[i + 1])) != 0) return true;
  }
  return false;
}

/// Whether two entries of one name are copies of one handler, which hidden visibility leaves in several libraries.
/// Within one library the linker merges such copies, so that there two entries are two handlers.
bool same_handler(const handler_entry& one, const handler_entry& other) {
  if (std::strcmp(one.type_name(), other.type_name()) != 0 || may_be_local(one.type_name())) return false;
  return library_of(&one) != library_of(&other);
}

/// Keeps the keys of functions whose library was unloaded. A call that comes for one is answered with this.
void refuse_unloaded(void*) {
  throw call_error("the library of the function was unloaded on the node that was to run it",
                   call_error_reason::unknown_function);
}
struct unloaded_tag {};
/// The same of functions whose names have become ambiguous.
void refuse_ambiguous(void*) {
  throw call_error(
      "the name of the function is ambiguous on the node that was to run it (a library that was loaded since has it, "
      "too); rename one of the two",
      call_error_reason::unknown_function);
}
struct ambiguous_tag {};
std::string no_layout() { return {}; }
constinit handler_entry unloaded{typeid(unloaded_tag), handler_kind::call, &refuse_unloaded, &no_layout, 0};
constinit handler_entry ambiguous{typeid(ambiguous_tag), handler_kind::call, &refuse_ambiguous, &no_layout, 0};

}  // namespace

constinit std::atomic<const handler_table*> handler_table::current_{nullptr};

void handler_entry::enlist() {
  const std::lock_guard lock(list_mutex);
  if (linked_) return;
  linked_ = true;
  next_ = list_head;
  list_head = this;
}

std::uint32_t handler_entry::resolve_slowly() {
  enlist();  // a static initialiser of the program may come before ours
  static_cast<void>(handler_table::local());
  if (key() == invalid_key) handler_table::refresh();
  return key();
}

handler_table::handler_table(std::vector<row> rows) : rows_(std::move(rows)) {
  slot_storage_.reserve(rows_.size());
  for (row& each : rows_) {
    each.was_usable = each.was_usable || !each.duplicate;
    const handler_entry* const stand_in = each.stand_ins.front().get();
    const handler_entry* const usable = stand_in != nullptr ? stand_in : each.entries.front();
    const bool is_known = each.was_usable && each.entries.front()->kind == handler_kind::call;
    slot_storage_.push_back(!each.duplicate ? usable : is_known ? &ambiguous : nullptr);
  }
  slots_ = slot_storage_.data();
  slot_count_ = slot_storage_.size();
}

const handler_table& handler_table::build() {
  const std::lock_guard lock(list_mutex);
  const handler_table* table = current_.load(std::memory_order_acquire);
  return table != nullptr ? *table : *publish_unlocked();
}

bool handler_table::refresh() {
  const std::lock_guard lock(list_mutex);
  const handler_table* before = current_.load(std::memory_order_acquire);
  return publish_unlocked() != before;
}

const handler_table* handler_table::publish_unlocked(const library* of) {
  const handler_table* old = current_.load(std::memory_order_acquire);

  std::vector<std::pair<std::string, handler_entry*>> fresh;
  for (handler_entry* entry = list_head; entry != nullptr; entry = entry->next_) {
    if (entry->key() == invalid_key) fresh.emplace_back(canonical_name(entry->type_name()), entry);
  }
  if (old != nullptr && fresh.empty()) return old;
  std::stable_sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  std::vector<row> rows = old != nullptr ? old->rows_ : std::vector<row>{};
  std::unordered_map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < rows.size(); ++i) index_of.emplace(rows[i].name, i);
  for (auto& [name, entry] : fresh) {
    const auto [place, is_new] = index_of.emplace(name, rows.size());
    std::shared_ptr<handler_entry> stand_in;
    if (of != nullptr && entry->kind == handler_kind::call)
      stand_in = std::make_shared<library_entry>(*entry, of->through, of->owner);
    if (is_new) {
      row made{name, entry->layout(), {entry}, false, false, {std::move(stand_in)}};
      const auto former = of == nullptr ? rows.end() : std::find_if(rows.begin(), rows.end(), [&made](const row& one) {
        return one.former_name == made.name && one.former_layout == made.layout;
      });
      if (former != rows.end()) {  // it is back: what peers know of its key is true again
        place->second = static_cast<std::size_t>(former - rows.begin());
        *former = std::move(made);
      } else {
        rows.push_back(std::move(made));
      }
      continue;
    }
    row& known = rows[place->second];
    known.duplicate = known.duplicate || !same_handler(*known.entries.front(), *entry);
    known.entries.push_back(entry);
    known.stand_ins.push_back(std::move(stand_in));
  }
  return publish_rows_unlocked(std::move(rows));
}

const handler_table* handler_table::publish_rows_unlocked(std::vector<row> rows) {
  auto& tables = all_tables().tables;
  tables.emplace_back(new handler_table(std::move(rows)));
  const handler_table* table = tables.back().get();
  for (std::size_t i = 0; i < table->rows_.size(); ++i) {
    for (handler_entry* entry : table->rows_[i].entries) {
      entry->duplicate_.store(table->rows_[i].duplicate, std::memory_order_relaxed);
      if (entry == &unloaded) continue;  // of all that have gone
      entry->key_.store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    }
    for (const std::shared_ptr<handler_entry>& stand_in : table->rows_[i].stand_ins)
      if (stand_in != nullptr) stand_in->key_.store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
  }
  current_.store(table, std::memory_order_release);
  return table;
}

const handler_entry* handler_table::find_later(std::uint32_t key) const noexcept {
  const handler_table* const newest = current_.load(std::memory_order_acquire);
  return key < newest->slot_count_ ? newest->slots_[key] : nullptr;
}

const handler_table::row* handler_table::row_of(std::uint32_t key) const noexcept {
  if (key < slot_count_) return &rows_[key];
  const handler_table* const newest = current_.load(std::memory_order_acquire);
  return key < newest->slot_count_ ? &newest->rows_[key] : nullptr;
}

const std::string& handler_table::name(std::uint32_t key) const noexcept {
  const row* const found = row_of(key);
  return found != nullptr ? found->name : empty_text();
}

/// Remembered: when a node is lost, each of its pending calls asks for the name of its function.
std::string handler_table::pretty_name(std::uint32_t key) const {
  static auto& known = *new std::map<std::string, std::string, std::less<>>;  // also while the process ends
  const std::string& canonical = name(key);
  const std::lock_guard guard(pretty_names_mutex);
  const auto place = known.find(canonical);
  return place != known.end() ? place->second : known.emplace(canonical, msg::pretty_name(canonical)).first->second;
}

const std::string& handler_table::layout(std::uint32_t key) const noexcept {
  const row* const found = row_of(key);
  return found != nullptr ? found->layout : empty_text();
}

handler_kind handler_table::kind(std::uint32_t key) const noexcept {
  const row* const found = row_of(key);
  return found != nullptr ? found->entries.front()->kind : handler_kind::message;
}

bool handler_table::duplicate(std::uint32_t key) const noexcept {
  const row* const found = row_of(key);
  return found != nullptr && found->duplicate;
}

void handler_table::hold_for_fork() {
  list_mutex.lock();
  pretty_names_mutex.lock();
}

void handler_table::release_after_fork() noexcept {
  pretty_names_mutex.unlock();
  list_mutex.unlock();
}

// ---- libraries that are loaded later

const handler_entry* handler_table::newest_entry() {
  const std::lock_guard lock(list_mutex);
  return list_head;
}

std::vector<handler_entry*> handler_table::linked_since(const handler_entry* before) {
  const std::lock_guard lock(list_mutex);
  std::vector<handler_entry*> fresh;
  for (handler_entry* entry = list_head; entry != nullptr && entry != before; entry = entry->next_)
    fresh.push_back(entry);
  return fresh;
}

void handler_table::add_library(handler_entry::handler_function through, void* owner) {
  static_cast<void>(local());
  const std::lock_guard lock(list_mutex);
  const library of{through, owner};
  publish_unlocked(&of);
}

void handler_table::remove_library(std::span<handler_entry* const> entries) {
  const std::lock_guard lock(list_mutex);
  const auto is_of_library = [entries](const handler_entry* one) {
    return std::find(entries.begin(), entries.end(), one) != entries.end();
  };
  for (handler_entry** link = &list_head; *link != nullptr;) {
    if (is_of_library(*link))
      *link = (*link)->next_;
    else
      link = &(*link)->next_;
  }
  std::vector<row> rows = current_.load(std::memory_order_acquire)->rows_;
  for (std::size_t key = 0; key < rows.size(); ++key) {
    row& each = rows[key];
    std::size_t left = 0;
    for (std::size_t i = 0; i < each.entries.size(); ++i) {
      if (is_of_library(each.entries[i])) continue;
      each.entries[left] = each.entries[i];
      each.stand_ins[left++] = each.stand_ins[i];
    }
    if (left == each.entries.size()) continue;
    each.entries.resize(left);
    each.stand_ins.resize(left);
    each.duplicate = each.duplicate && each.entries.size() > 1;
    if (!each.entries.empty()) continue;  // another library has a copy
    row gone{"handler " + std::to_string(key) + " of an unloaded library", {}, {&unloaded}, false};
    gone.former_name = std::move(each.name);
    gone.former_layout = std::move(each.layout);
    each = std::move(gone);
  }
  for (handler_entry* const one : entries) {
    one->linked_ = false;
    one->duplicate_.store(false, std::memory_order_relaxed);
    one->key_.store(invalid_key, std::memory_order_relaxed);
  }
  publish_rows_unlocked(std::move(rows));
}

void handler_table::link_again(std::span<handler_entry* const> entries) {
  for (handler_entry* const one : entries) one->enlist();
}

}  // namespace ham::msg
