/* Two nodes that connect to each other at once, and greet (src/transport/tcp/network_greeting.cpp, connector.cpp;
 * src/core/connections.cpp, handshake.cpp).
 *
 * Each node asks the other for a connection, once, at a moment of its own. Who is asked while it asks itself, and has the
 * lower number, answers "crossed"; who has a connection already answers "not now"; else it accepts, and both have one.
 * Over a connection each side sends its greeting, and its manifest if that of the other differs; it is ready when it knows
 * what it needs. A greeting comes once.
 *
 * It holds: both are ready in the end, over the same connection, whoever asks; none is greeted twice.
 * Not in it: networks in which only one side can reach the other, timeouts, TLS. Of real runs the greetings and manifests
 * are compared with it, not who asked.
 */
#define OBSERVERS 4
#include "trace.promela"
#define NONE 255

mtype = { ask, crossed, not_now, accepted, hello, manifest };

/* Requests to a node: the number of the connection; answers to who asked; what travels on a connection to a side. */
chan requests[2] = [2] of { byte };
chan answers[2] = [2] of { mtype };
chan line0[2] = [4] of { mtype, bit };  /* connection 0, made by node 0, to each side */
chan line1[2] = [4] of { mtype, bit };

bool asks[2];       /* will ask */
bool connecting[2];
byte record[2] = NONE;
byte hellos[2];
bool ready[2];
bool differ;        /* the manifests */

inline adopt(who, connection) {
  connecting[who] = false;
  if
  :: record[who] == NONE ->
     record[who] = connection;
     if
     :: connection == 0 -> line0[1 - who]!hello(differ)
     :: else -> line1[1 - who]!hello(differ)
     fi;
     EVENT(who, 'h')
  :: else
  fi
}

inline arrive(who, kind, differs) {
  if
  :: kind == hello ->
     EVENT(2 + who, 'h');
     hellos[who]++;
     assert(hellos[who] == 1);
     if
     :: differs ->
        EVENT(who, 'm');
        if
        :: record[who] == 0 -> line0[1 - who]!manifest(0)
        :: else -> line1[1 - who]!manifest(0)
        fi
     :: else -> ready[who] = true
     fi
  :: kind == manifest ->
     EVENT(2 + who, 'm');
     assert(hellos[who] == 1);  /* behind the greeting, on the same connection */
     assert(!ready[who]);
     ready[who] = true
  fi
}

proctype node(byte me) OBSERVED {
  byte which;
  mtype what;
  bit other;

  do
  :: atomic { asks[me] ->
       asks[me] = false;
       if
       :: record[me] == NONE -> connecting[me] = true; requests[1 - me]!me
       :: else
       fi
     }
  :: atomic { requests[me]?which ->
#ifdef MUTANT_BOTH_ACCEPT
       if
       :: record[me] != NONE && !connecting[me] -> answers[1 - me]!not_now
       :: else -> answers[1 - me]!accepted; adopt(me, which)
       fi
#else
       if
       :: record[me] != NONE -> answers[1 - me]!not_now
#ifdef MUTANT_BOTH_CROSSED
       :: record[me] == NONE && connecting[me] -> answers[1 - me]!crossed
#else
       :: record[me] == NONE && connecting[me] && me < 1 - me -> answers[1 - me]!crossed
#endif
       :: else -> answers[1 - me]!accepted; adopt(me, which)
       fi
#endif
     }
  :: atomic { answers[me]?accepted -> adopt(me, me) }
  :: atomic { answers[me]?crossed ->
#ifdef MUTANT_CROSSED_IS_LOSS
       assert(record[me] != NONE);  /* it takes the peer for lost */
#endif
       skip  /* the other's connection comes */
     }
  :: atomic { answers[me]?not_now -> assert(record[me] != NONE) }
  :: atomic { record[me] == 0 && nempty(line0[me]) -> line0[me]?what(other); arrive(me, what, other) }
  :: atomic { record[me] == 1 && nempty(line1[me]) -> line1[me]?what(other); arrive(me, what, other) }
#ifdef MUTANT_READY_WITH_GREETING
  :: atomic { record[me] != NONE && differ && hellos[me] == 1 && !ready[me] -> ready[me] = true }
#endif
  :: ready[0] && ready[1] && empty(requests[me]) && empty(answers[me]) && !asks[me] -> break
  od
}

init {
  atomic {
    if
    :: asks[0] = true
    :: asks[1] = true
    :: asks[0] = true; asks[1] = true
    fi;
    if
    :: differ = false
    :: differ = true
    fi;
    run node(0);
    run node(1)
  }
  (_nr_pr == 1);
  assert(record[0] == record[1]);
  TRACE_ENDS
}
