// Small helpers that applications may use everywhere.
#pragma once

/// Marks a parameter or variable as deliberately unused.
#define HAM_UNUSED_VAR(variable) static_cast<void>(variable)
