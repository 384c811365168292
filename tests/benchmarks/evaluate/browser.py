"""Headless Chromium, spoken to through its pipe for debuggers (DevTools protocol): pages opened, asked, pictured and printed."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
ANSWER_S = 120
STRIP_PX = 4000


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. As a context manager it ends the browser and removes its profile."""

    def __init__(self, program):
        self._profile = tempfile.mkdtemp(prefix="ham-chromium-")
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        self._log = tempfile.TemporaryFile()

        def give_pipes():
            """The browser reads from descriptor 3 and writes to 4. A copy may have the number already, and is not inherited then."""
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            for copy, number in ((reads, 3), (writes, 4)):
                os.dup2(copy, number)
                os.set_inheritable(number, True)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", f"--user-data-dir={self._profile}",
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, preexec_fn=give_pipes, close_fds=False,
            start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self._session = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(timeout=10)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        self._log.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _attach(self):
        deadline = time.monotonic() + ANSWER_S
        while True:
            tabs = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
            if tabs:
                break
            if time.monotonic() > deadline:
                raise TimeoutError("the browser has opened no tab")
            time.sleep(0.1)
        self._session = self.call("Target.attachToTarget", targetId=tabs[0]["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")

    def _message(self, deadline):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._from, 1 << 20) if ready else b""
            if not part:
                self._log.seek(0)
                raise TimeoutError("no answer from the browser: " + self._log.read().decode("utf-8", "replace")[-500:])
            self._rest += part
        one, self._rest = self._rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        """The result of a method of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._to, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            pass  # it has ended: what it has said is reported below
        deadline = time.monotonic() + ANSWER_S
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, width, height, scheme):
        """Opens a file in a view of that width, light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + ANSWER_S
        while self.ask("document.readyState") != "complete":
            if time.monotonic() > deadline:
                raise TimeoutError("the page was not loaded")
            time.sleep(0.05)
        self.ask("document.fonts.ready.then(() => true)")

    def ask(self, expression):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def picture(self, left, top, width, height):
        """A part of the page as PNG; in px of the page, also of what is outside the view."""
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"])

    def strips(self, width, height):
        """The whole page in a high view of that width, as pairs of where a part begins and its PNG. A page is laid out anew for each
        picture of what is outside the view, so the view is moved over it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=STRIP_PX, deviceScaleFactor=1, mobile=width < 600)
        for top in range(0, height, STRIP_PX):
            self.ask(f"scrollTo(0, {top})")
            data = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=True)["data"]
            yield self.ask("Math.round(scrollY)"), base64.b64decode(data)
        self.ask("scrollTo(0, 0)")

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])
