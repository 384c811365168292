#!/usr/bin/env python3
"""Reads a trace with the messages of the package perfetto: perfetto_test.py PROGRAM

PROGRAM, which makes calls, is run with HAM_TRACE. Checked are what Perfetto asks of traces: known fields, names that were
interned before they are used, slices that end in order, arrows with two ends, and bounds of the clocks that are kept.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def read_trace(path):
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    return trace


def unknown_fields(message):
    """Whether a message, or one in it, has fields that Perfetto does not know: it would keep them when written again."""
    clean = type(message)()
    clean.CopyFrom(message)
    clean.DiscardUnknownFields()
    return clean.SerializeToString() != message.SerializeToString()


class Checker:
    def __init__(self):
        self.names = {"name": {}, "category": {}, "note": {}}
        self.tracks = {}
        self.open = collections.defaultdict(list)
        self.last = collections.defaultdict(int)
        self.begins, self.ends = {}, {}
        self.bound = 0
        self.categories = collections.Counter()
        self.counters = set()

    def packet(self, packet):
        interned = packet.interned_data
        for kind, entries in (("category", interned.event_categories), ("name", interned.event_names),
                              ("note", interned.debug_annotation_names)):
            for entry in entries:
                assert entry.iid not in self.names[kind], "taught twice"
                self.names[kind][entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in self.tracks
            assert not track.HasField("parent_uuid") or track.parent_uuid in self.tracks
            self.tracks[track.uuid] = track
        if packet.HasField("track_event"):
            assert packet.trusted_packet_sequence_id != 0
            assert packet.sequence_flags & 2
            self.event(packet.track_event, packet.timestamp)

    def event(self, event, at):
        assert event.track_uuid in self.tracks
        if event.type == TrackEvent.TYPE_COUNTER:
            assert self.tracks[event.track_uuid].HasField("counter")
            self.counters.add(event.track_uuid)
            return
        assert at >= self.last[event.track_uuid] or event.type == TrackEvent.TYPE_INSTANT, "goes back on its track"
        self.last[event.track_uuid] = at
        if event.type == TrackEvent.TYPE_SLICE_END:
            for flow in self.open[event.track_uuid].pop():
                self.begins[flow] = at
            return
        assert event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT)
        assert self.names["name"][event.name_iid]
        (category,) = [self.names["category"][iid] for iid in event.category_iids]
        self.categories[category] += 1
        for note in event.debug_annotations:
            if self.names["note"][note.name_iid] == "bound_ns":
                self.bound = max(self.bound, note.int_value)
        for flow in event.terminating_flow_ids:
            assert flow not in self.ends
            self.ends[flow] = at
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            self.open[event.track_uuid].append(list(event.flow_ids))

    def finish(self):
        assert not any(self.open.values()), "a slice does not end"
        assert self.begins.keys() == self.ends.keys(), "an arrow has one end"
        assert self.begins, "there are no arrows"
        backwards = max(self.begins[flow] - self.ends[flow] for flow in self.begins)
        assert backwards <= 2 * self.bound + 1, f"an arrow points backwards by {backwards} ns, the bound is {self.bound} ns"
        for category in ("encode", "execute", "reply", "wait"):
            assert self.categories[category] > 0, category
        assert self.counters


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.pftrace"
        environment = dict(os.environ, HAM_TRACE=str(path), HAM_NODES="shm:2")
        subprocess.run([program], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        trace = read_trace(path)
    assert not unknown_fields(trace)
    checker = Checker()
    for packet in trace.packet:
        checker.packet(packet)
    checker.finish()
    print(f"{len(trace.packet)} packets, {len(checker.ends)} arrows, bound {checker.bound} ns: ok")


if __name__ == "__main__":
    main()
