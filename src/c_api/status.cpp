// Codes and texts of errors, for each thread.
#include "c_api/status.hpp"

#include <cstddef>
#include <exception>
#include <new>

#include "ham/error.hpp"
#include "ham/ham.h"
#include "ham/offload/exceptions.hpp"
#include "ham/offload/stage_error.hpp"

namespace ham::inline v1::c_api {
namespace {

/// Also behind the destructors of the thread's variables: the job may end then, in exit(), with calls that fail.
last_error& last() noexcept {
  alignas(last_error) constinit thread_local std::byte storage[sizeof(last_error)]{};
  constinit thread_local bool made = false;
  struct end_of_thread {
    ~end_of_thread() {
      std::launder(reinterpret_cast<last_error*>(storage))->~last_error();
      made = false;
    }
  };
  if (made) return *std::launder(reinterpret_cast<last_error*>(storage));
  made = true;
  auto* const fresh = ::new (static_cast<void*>(storage)) last_error;
  static thread_local const end_of_thread end;  // once
  static_cast<void>(end);
  return *fresh;
}

int outcome_code(call_outcome outcome) noexcept {
  switch (outcome) {
    case call_outcome::not_run: return HAM_NOT_RUN;
    case call_outcome::may_have_run: return HAM_MAY_HAVE_RUN;
    case call_outcome::ran: return HAM_RAN;
  }
  return HAM_MAY_HAVE_RUN;
}

int fail(int status, const std::exception& what) noexcept { return c_api::fail(status, what.what()); }

/// What the stage has failed with is known, too.
int fail(const stage_error& what) {
  std::string text = what.what();
  int cause = HAM_ERROR;
  try {
    std::rethrow_exception(what.cause());
  } catch (...) {
    cause = fail_with_current_exception();
  }
  last_error& error = last();
  error.cause_text = std::exchange(error.text, std::move(text));
  if (std::exchange(error.no_memory, false)) error.cause_text.clear();
  error.cause = cause;
  error.stage = static_cast<std::int64_t>(what.stage());
  return HAM_ERROR_STAGE;
}

[[maybe_unused]] const bool registered = register_exception<function_failure>();

}  // namespace

kept_error::kept_error() noexcept : before_(std::exchange(last(), {})) {}
kept_error::~kept_error() { last() = std::move(before_); }

int fail(int status, std::string text) noexcept {
  last_error& error = last();
  error.text = std::move(text);
  error.no_memory = false;
  error.outcome = HAM_NOT_RUN;
  error.function_code = 0;
  error.stage = -1;
  error.cause = HAM_OK;
  error.cause_text.clear();
  return status;
}

int fail_with_current_exception() noexcept {
  try {
    try {
      throw;
    } catch (const bad_argument& what) {
      return fail(HAM_ERROR_ARGUMENT, what.text);
    } catch (const function_failure& what) {
      fail(HAM_ERROR_FUNCTION, what.text());
      last().function_code = what.code();
      return HAM_ERROR_FUNCTION;
    } catch (const node_failure& what) {
      fail(HAM_ERROR_NODE_FAILURE, what);
      last().outcome = outcome_code(what.outcome());
      return HAM_ERROR_NODE_FAILURE;
    } catch (const deadline_exceeded& what) {
      fail(HAM_ERROR_DEADLINE, what);
      last().outcome = outcome_code(what.outcome());
      return HAM_ERROR_DEADLINE;
    } catch (const operation_cancelled& what) {
      fail(HAM_ERROR_CANCELLED, what);
      last().outcome = outcome_code(what.outcome());
      return HAM_ERROR_CANCELLED;
    } catch (const config_error& what) {
      return fail(HAM_ERROR_CONFIG, what);
    } catch (const call_error& what) {
      return fail(HAM_ERROR_CALL, what);
    } catch (const buffer_error& what) {
      return fail(HAM_ERROR_BUFFER, what);
    } catch (const remote_error& what) {
      return fail(HAM_ERROR_EXCEPTION, what);
    } catch (const stage_error& what) {
      return fail(what);
    } catch (const error& what) {
      return fail(HAM_ERROR, what);
    } catch (const std::bad_alloc&) {
      return fail(HAM_ERROR_MEMORY, "there is no memory for this, here or on the node");
    } catch (const std::exception& what) {
      return fail(HAM_ERROR_EXCEPTION, what);
    } catch (...) {
      return fail(HAM_ERROR_EXCEPTION, "an exception that is no std::exception");
    }
  } catch (...) {  // the text itself
    last().text.clear();
    last().no_memory = true;
    return HAM_ERROR_MEMORY;
  }
}

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw bad_argument{std::string(what) + " is a null pointer"};
}

}  // namespace ham::c_api

const char* ham_error_message(void) {
  const ham::c_api::last_error& error = ham::c_api::last();
  return error.no_memory ? "there is no memory for this, here or on the node" : error.text.c_str();
}
int ham_error_outcome(void) { return ham::c_api::last().outcome; }
int ham_error_function_code(void) { return ham::c_api::last().function_code; }
int64_t ham_error_stage(void) { return ham::c_api::last().stage; }
int ham_error_cause(void) { return ham::c_api::last().cause; }
const char* ham_error_cause_message(void) { return ham::c_api::last().cause_text.c_str(); }

const char* ham_status_text(int status) {
  switch (status) {
    case HAM_OK: return "HAM_OK";
    case HAM_ERROR: return "HAM_ERROR";
    case HAM_ERROR_ARGUMENT: return "HAM_ERROR_ARGUMENT";
    case HAM_ERROR_CONFIG: return "HAM_ERROR_CONFIG";
    case HAM_ERROR_CALL: return "HAM_ERROR_CALL";
    case HAM_ERROR_BUFFER: return "HAM_ERROR_BUFFER";
    case HAM_ERROR_NODE_FAILURE: return "HAM_ERROR_NODE_FAILURE";
    case HAM_ERROR_DEADLINE: return "HAM_ERROR_DEADLINE";
    case HAM_ERROR_FUNCTION: return "HAM_ERROR_FUNCTION";
    case HAM_ERROR_EXCEPTION: return "HAM_ERROR_EXCEPTION";
    case HAM_ERROR_MEMORY: return "HAM_ERROR_MEMORY";
    case HAM_ERROR_TRUNCATED: return "HAM_ERROR_TRUNCATED";
    case HAM_NOT_YET: return "HAM_NOT_YET";
    case HAM_ERROR_CANCELLED: return "HAM_ERROR_CANCELLED";
    case HAM_ERROR_STAGE: return "HAM_ERROR_STAGE";
    default: return "unknown status";
  }
}
