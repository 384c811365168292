"""Compares models of protocols with runs of the library, for prove.py.

`ham_sim --record NAME` simulates a scenario of the protocol and prints what is observed: a line is an event, with the number of
the observer and what it saw (tests/models/protocols/trace.promela). Spin's verifier of the model, built with TRACE, takes only steps
that were observed, and says whether it can take all of them. Events that are changed must not be a run of the model: else the
comparison would say nothing.
"""
import os
import re
import subprocess

RUNS = 40
RUNS_OF = {"respawn": 300}  # where what the model forbids needs two deaths at certain moments
ACCEPTED = 7  # status of the verifier (recorded.h)
CUT_OFF = re.compile(r"max search depth too small|out of memory|reached -DMEMLIM bound|not completed")


class difference(Exception):
    """What the library does and the model does not, or the other way round."""


def without(events, unwanted):
    return [event for event in events if event != unwanted]


def doubled(events, which):
    """With one more event of the kind, behind the first."""
    at = events.index(which)
    return [*events[: at + 1], which, *events[at + 1:]]


def first(events, fits):
    return next((event for event in events if fits(*event)), None)


def changed(events, old, new):
    return [new if event == old else event for event in events]


def swapped(events, one, other):
    """The two change places."""
    return [other if event == one else one if event == other else event for event in events]


# ---- ways to spoil a run; None: there is nothing to spoil in this one

def settles_twice(events):
    outcome = first(events, lambda who, what: who in (2, 3) and what == ord("v"))
    return outcome and doubled(events, outcome)


def runs_without_a_call(events):
    return without(events, (0, 1))


def answers_before_it_runs(events):
    return swapped(events, (4, 10), (4, 20))


def result_after_the_deadline(events):
    late = first(events, lambda who, what: who in (2, 3) and what == ord("l"))
    return late and doubled(changed(events, late, (late[0], ord("v"))), (late[0], ord("v")))


def reply_of_nobody(events):
    return doubled(events, (1, 0))


def refused_without_a_stop(events):
    refused = [n for n in (0, 1) if (4, 20 + n) in events and (4, 10 + n) not in events]
    late = [n for n in refused if (2 + n, ord("l")) in events]  # told by its deadline, which is no event
    return refused and not late and (0, ord("c")) in events and without(events, (0, ord("c")))


def taken_and_said_not_to_run(events):
    lost = first(events, lambda who, what: who in (3, 4) and what == ord("m") and (1, 10 + who - 3) in events)
    return lost and changed(events, lost, (lost[0], ord("n")))


def not_taken_and_said_to_have_run(events):
    lost = first(events, lambda who, what: who in (3, 4) and what == ord("n"))
    return lost and changed(events, lost, (lost[0], ord("v")))


def runs_twice(events):
    ran = first(events, lambda who, what: who == 1 and 20 <= what < 30)
    return ran and doubled(events, ran)


def survives(events):
    return without(without(events, (2, 0)), (2, 1))


def removed_and_loses_its_answer(events):
    answered = [n for n in (0, 1) if (1, 30 + n) in events and (3 + n, ord("v")) in events]
    return (2, 1) in events and answered and changed(events, (3 + answered[0], ord("v")), (3 + answered[0], ord("n")))


def greets_twice(events):
    return doubled(events, (0, ord("h")))


def manifest_before_the_greeting(events):
    return (0, ord("m")) in events and swapped(events, (0, ord("h")), (0, ord("m")))


def one_manifest(events):
    return (2, ord("m")) in events and without(without(events, (2, ord("m"))), (1, ord("m")))


def acknowledges_twice(events):
    credit = first(events, lambda who, what: who == 0 and what >= 100)
    return credit and doubled(events, credit)


def never_acknowledges(events):
    return [event for event in events if event[1] < 100 and event not in ((4, 1), (4, 3))]


def acknowledges_early(events):
    credit = first(events, lambda who, what: who == 0 and what >= 100)
    return credit and changed(events, credit, (0, credit[1] - 1))


def sends_to_who_has_gone(events):
    refused = first(events, lambda who, what: who == 0 and what >= 30)
    return refused and changed(events, refused, (0, refused[1] - 10)) + [(1, 9)]


def freed_while_held(events):
    memory = [event for event in events if event[0] == 2]
    at = memory.index((2, 2))
    if at + 1 == len(memory) or memory[at - 1] != (2, 1):
        return None
    memory[at], memory[at + 1] = memory[at + 1], memory[at]  # who held it has it when it is freed
    return [event for event in events if event[0] != 2] + memory


def freed_twice(events):
    return (1, 11) in events and doubled(doubled(events, (1, 11)), (2, 11))


def sent_to(events):
    """The lives that the call was sent to."""
    return [what - 10 for who, what in events if who == 3 and 10 < what < 20]


def is_result(events):
    return (6, ord("v")) in events


def repeated_while_pending(events):
    """It goes to the next life, and runs there, before it is known that the one before has ended."""
    return len(sent_to(events)) > 1 and swapped(events, (3, sent_to(events)[1]), (3, 10 + sent_to(events)[1]))


def repeated_in_one_life(events):
    ran = first(events, lambda who, what: who == 4 and what < 20)
    return ran and doubled(doubled(events, (3, ran[1])), ran)


def old_result_settles(events):
    """The answer is that of the life before: it has left there, and arrives when the call is on its way to the next one."""
    lives = sent_to(events)
    if not is_result(events) or len(lives) < 2 or (4, 10 + lives[-2]) not in events:
        return None
    old, new = lives[-2:]
    answered = doubled(events, (4, 10 + old))
    answered[answered.index((4, 10 + old)) + 1] = (4, 20 + old)
    return changed(without(answered, (4, 20 + new)), (3, 20 + new), (3, 20 + old))


def result_repeated(events):
    """There is a result, and a repetition and a life left."""
    life = sent_to(events)[-1] + 1 if sent_to(events) else 0
    if not is_result(events) or (3, life) not in events or len(sent_to(events)) > events_of(events, 6)[0]:
        return None
    return [*events, (3, 10 + life), (4, 10 + life), (4, 20 + life), (3, 20 + life)]


def repeated_too_often(events):
    times = events_of(events, 6)[0]
    return 0 < times < len(sent_to(events)) and changed(events, (6, times), (6, times - 1))


def given_up_early(events):
    """All lives but the last one were tried, which has stayed, and a repetition was left."""
    times, outcome = events_of(events, 6)
    tried = sent_to(events) == events_of(events, 5) != []
    return tried and outcome != ord("v") and times < 2 and changed(events, (6, times), (6, times + 1))


def runs_in_an_old_life(events):
    """The answer is that of the new one."""
    lives = sent_to(events)
    return len(lives) > 1 and is_result(events) and changed(events, (4, 10 + lives[-1]), (4, 10 + lives[-2]))


def runs_in_a_new_life(events):
    """It was for the life before, which has not run it."""
    last = sent_to(events)[-1] if sent_to(events) else 0
    left_over = (3, last + 1) in events and (4, 10 + last) not in events
    return left_over and [*events, (4, 11 + last)]


def ran_and_said_not_to(events):
    ran = any(who == 4 and what < 20 for who, what in events)
    return ran and (6, ord("m")) in events and changed(events, (6, ord("m")), (6, ord("n")))


def replaced_and_alive(events):
    return (5, 1) in events and without(events, (5, 1))


def events_of(events, observer):
    return [what for who, what in events if who == observer]


# Of a model that is compared with more than the recording of its name.
RECORDINGS = {"epochs": ("epochs", "respawn")}

SPOILED = {
    "settling": (settles_twice, runs_without_a_call, answers_before_it_runs, result_after_the_deadline, reply_of_nobody,
                 refused_without_a_stop),
    "removal": (taken_and_said_not_to_run, not_taken_and_said_to_have_run, runs_twice, survives, removed_and_loses_its_answer),
    "greeting": (greets_twice, manifest_before_the_greeting, one_manifest),
    "credit": (acknowledges_twice, never_acknowledges, acknowledges_early),
    "epochs": (sends_to_who_has_gone, freed_while_held, freed_twice),
    "respawn": (repeated_while_pending, repeated_in_one_life, old_result_settles, result_repeated, repeated_too_often,
                given_up_early, runs_in_an_old_life, runs_in_a_new_life, ran_and_said_not_to, replaced_and_alive),
}


def recordings_of(model):
    return RECORDINGS.get(model, (model,))


def record(simulation, name, seed):
    done = subprocess.run([simulation, "--record", name, "--seed", str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise difference(f"{simulation} --record {name} --seed {seed}: {done.stdout}{done.stderr}")
    events = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    return arrived_only(events) if name == "credit" else events


def arrived_only(events):
    """Recording ends when the last frame has arrived: without the acknowledgements that are still on their way."""
    for sender in (0, 1):
        got = sum(who == 3 - sender and what >= 100 for who, what in events)
        for is_credit in (lambda who, what: who == sender and what >= 100, lambda who, what: (who, what) == (4, 2 * sender + 1)):
            places = [at for at, event in enumerate(events) if is_credit(*event)]
            late = set(places[got:])
            events = [event for at, event in enumerate(events) if at not in late]
    return events


def is_run_of_model(folder, events):
    file = folder / "recorded.txt"
    file.write_text("".join(f"{who} {what}\n" for who, what in events), encoding="utf-8")
    done = subprocess.run(["./pan", "-A", "-E", "-m20000", "-w18"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600, check=False, env={**os.environ, "RECORDED": file.name})
    return is_accepted(folder, done.returncode, done.stdout)


def is_accepted(folder, status, output):
    """What the verifier has found. A search that was cut off says nothing, unless it has found the run."""
    if status == ACCEPTED:
        return True
    if "State-vector" not in output or CUT_OFF.search(output):
        raise difference(f"the verifier in {folder} says: {output}")
    return False


def compare(name, folder, simulation):
    """What was compared; raises difference."""
    different = set()
    spoiled = {how.__name__: 0 for how in SPOILED[name]}
    runs = RUNS_OF.get(name, RUNS)
    for seed in range(runs):
        events = record(simulation, name, seed)
        if tuple(events) in different:
            continue
        different.add(tuple(events))
        if not is_run_of_model(folder, events):
            raise difference(f"the run of seed {seed} is none of the model: {simulation} --record {name} --seed {seed}; "
                             f"RECORDED=recorded.txt ./pan -A -E -m20000 in {folder}")
        for how in SPOILED[name]:
            wrong = how(events)
            if not wrong:
                continue
            spoiled[how.__name__] += 1
            if is_run_of_model(folder, wrong):
                raise difference(f"the run of seed {seed}, spoiled by {how.__name__}, is one of the model; see recorded.txt in {folder}")
    never = [how for how, times in spoiled.items() if times == 0]
    if never:
        raise difference(f"no run could be spoiled by {', '.join(never)}")
    return f"{len(different)} different runs of {runs}, {sum(spoiled.values())} spoiled ones rejected"
