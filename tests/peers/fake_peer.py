#!/usr/bin/env python3
"""A peer that measures nothing: fake_peer.py BEHAVIOUR [options of a peer]"""
import json
import os
import signal
import subprocess
import sys
import time

behaviour, options = sys.argv[1], sys.argv[2:]
if behaviour == "hangs":
    if "FAKE_NOTES" in os.environ:
        with open(os.environ["FAKE_NOTES"] + ".new", "w", encoding="utf-8") as notes:
            print(os.getpid(), os.environ["TMPDIR"], file=notes)
        os.rename(os.environ["FAKE_NOTES"] + ".new", os.environ["FAKE_NOTES"])
    subprocess.Popen(["sleep", "1000"], start_new_session=True)  # is left behind
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)
if behaviour == "fails":
    print("something was said", flush=True)
    print("fake: the server did not start", file=sys.stderr)
    sys.exit(1)
head = {"peer": "fake", "version": "1.2", "how": "as told"}
if "--death" in options:
    print(json.dumps({"death": "begun"}), flush=True)
    if behaviour == "job":
        os.kill(os.getpid(), signal.SIGKILL)
    death = {"death": "hangs"} if behaviour == "silent" else {"death": "error", "error": "gone", "error_ms": 1.5}
    print(json.dumps({**head, **death}))
elif "--empty" in options:
    print(json.dumps({**head, "empty_us": 2.0}))
else:
    found = {"empty_us": 3.0, "kib_us": 4.0, "rate_million_per_s": 5.0, "transfer_gb_per_s": 6.0}
    if "--no-idle" not in options:
        found["idle_percent"] = 7.0
    print("a line that is no JSON")
    print(json.dumps({**head, **(found if behaviour != "forgets" else {})}))
    print('{"a line": "that is cut off')
