/* For comparing a model with what the library does: steps of the model that can be observed from outside are events. With
 * TRACE the model takes such a step only if it is the next one that its observer has recorded of a real run; other steps
 * as it likes. If it comes to TRACE_ENDS with all events used up, the run is one that the model knows. scripts/prove.py
 * writes recorded.h with the run.
 */
#ifdef TRACE
c_decl {
\#include "recorded.h"
}
byte observer;
short observed;
byte used_up[OBSERVERS];

inline event(who, what) {
  observer = who;
  observed = what;
  c_code { read_recorded(); };
  c_expr { IS_NEXT };
  used_up[observer]++;
  observer = 0;
  observed = 0
}
#define EVENT(who, what) event(who, what)
#define TRACE_ENDS c_code { end_of_model(now.used_up); }
#else
#define EVENT(who, what) skip
#define TRACE_ENDS skip
#endif
