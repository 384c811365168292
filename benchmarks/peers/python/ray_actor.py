#!/usr/bin/env python3
"""Ray: an actor on this machine; calls under way are references; 64 MiB travel through its object store."""
import logging
import os
import shutil
import tempfile

os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
import ray  # noqa: E402

import peer  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class functions:
    def pin(self, core):
        peer.pin_to(core)

    def execute(self, what, argument):
        return peer.execute(what, argument)


class client:
    def __init__(self, actor):
        self.actor = actor

    def call(self, what, argument):
        return ray.get(self.actor.execute.remote(what, argument))

    def call_many(self, count):
        return sum(ray.get([self.actor.execute.remote("touch", b"") for _ in range(count)]))


def main():
    given = peer.parse()
    with tempfile.TemporaryDirectory(prefix="ham-ray-", ignore_cleanup_errors=True) as folder:
        peer.at_end.append(lambda: shutil.rmtree(folder, ignore_errors=True))
        ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=512 << 20,
                 logging_level=logging.ERROR, log_to_driver=False, _temp_dir=folder,
                 runtime_env={"env_vars": {"PYTHONPATH": HERE}})
        try:
            actor = ray.remote(functions).remote()
            ray.get(actor.pin.remote(given.server_core))
            peer.pin_to(given.client_core)
            peer.run_client(client(actor), ("ray", ray.__version__, "a method of an actor, ray.get"), given)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    main()
