// Exceptions by kind.
#include "ham/error_info.hpp"

#include <cxxabi.h>

#include <new>
#include <typeinfo>

#include "core/node_loss.hpp"

namespace ham::inline v1 {
namespace {

std::string current_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type == nullptr ? "foreign exception" : detail::name_of_thrown(*type);
}

error_info info(error_kind kind, const std::exception& thrown) {
  error_info result;
  result.kind = kind;
  result.type = current_type();
  if (const char* const text = thrown.what(); text != nullptr) result.message = text;
  return result;
}

/// Of the exception that is being handled.
error_info info_of_ham_error(const error& thrown) {
  if (dynamic_cast<const config_error*>(&thrown) != nullptr) return info(error_kind::config, thrown);
  if (dynamic_cast<const protocol_error*>(&thrown) != nullptr) return info(error_kind::protocol, thrown);
  if (dynamic_cast<const buffer_error*>(&thrown) != nullptr) return info(error_kind::buffer, thrown);
  if (dynamic_cast<const object_error*>(&thrown) != nullptr) return info(error_kind::object, thrown);
  error_info result = info(error_kind::other_of_ham, thrown);
  if (const auto* const refused = dynamic_cast<const call_error*>(&thrown)) {
    result.kind = error_kind::call;
    result.reason = refused->reason();
    result.outcome = call_outcome::not_run;
    if (result.reason == call_error_reason::too_long || result.reason == call_error_reason::wrong_size)
      result.outcome = call_outcome::may_have_run;
  } else if (const auto* const late = dynamic_cast<const deadline_exceeded*>(&thrown)) {
    result.kind = error_kind::deadline;
    result.outcome = late->outcome();
  } else if (const auto* const stopped = dynamic_cast<const operation_cancelled*>(&thrown)) {
    result.kind = error_kind::cancelled;
    result.outcome = stopped->outcome();
  } else if (const auto* const lost = dynamic_cast<const node_failure*>(&thrown)) {
    result.kind = error_kind::node;
    result.outcome = lost->outcome();
    result.node = lost->node();
  } else if (const auto* const remote = dynamic_cast<const remote_error*>(&thrown)) {
    result.kind = error_kind::remote;
    result.node = remote->node();
    result.type = remote->type();
  }
  return result;
}

}  // namespace

const char* to_string(error_kind kind) noexcept {
  switch (kind) {
    case error_kind::none: return "none";
    case error_kind::config: return "config";
    case error_kind::protocol: return "protocol";
    case error_kind::call: return "call";
    case error_kind::buffer: return "buffer";
    case error_kind::object: return "object";
    case error_kind::deadline: return "deadline";
    case error_kind::cancelled: return "cancelled";
    case error_kind::node: return "node";
    case error_kind::remote: return "remote";
    case error_kind::other_of_ham: return "other of HAM";
    case error_kind::out_of_memory: return "out of memory";
    case error_kind::other_standard: return "other standard";
    case error_kind::foreign: return "foreign";
  }
  return "unknown";
}

error_info describe_error(const std::exception_ptr& what) {
  if (what == nullptr) return {};
  try {
    std::rethrow_exception(what);
  } catch (const error& thrown) {
    return info_of_ham_error(thrown);
  } catch (const std::bad_alloc& thrown) {
    return info(error_kind::out_of_memory, thrown);
  } catch (const std::exception& thrown) {
    return info(error_kind::other_standard, thrown);
  } catch (...) {
    error_info result;
    result.kind = error_kind::foreign;
    result.type = current_type();
    return result;
  }
}

}  // namespace ham
