"""A flow's receiver: ``python -I -S drive.py load.json`` starts Chromium, and on SIGUSR1 loads the page.

``load.json`` is what :func:`cambrian.testbed.chromium.switches.argv` takes, and ``source`` (the
folder of this package), ``path``, ``timeout_s`` and ``settle_s``. Its standard output holds the
contract's events: ``ready`` once the browser is idle, one ``object`` for the document and for
each image, ``load``, ``done``.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

#: starting takes a few seconds of wall-clock time, but hardly any of the guest's
_ANSWER_S = 60.0
_CLOSE_S = 10.0


def say(event: dict[str, Any]) -> None:
    """One line of the contract's standard output."""
    print(json.dumps(event), flush=True)


def _attach(browser: Any) -> str:
    """A session with the browser's one page, set up to be measured."""
    targets = browser.call("Target.getTargets", _ANSWER_S)["targetInfos"]
    page = next(target["targetId"] for target in targets if target["type"] == "page")
    session: str = browser.call("Target.attachToTarget", _ANSWER_S, targetId=page, flatten=True)["sessionId"]
    from cambrian.testbed.chromium import timings

    browser.call("Page.enable", _ANSWER_S, session=session)
    browser.call("Page.addScriptToEvaluateOnNewDocument", _ANSWER_S, session=session, source=timings.PREPARE)
    return session


def _load(browser: Any, session: str, load: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    from cambrian.testbed.chromium import timings
    from cambrian.testbed.chromium.pipe import DevToolsError

    url = f"https://{load['host']}:{load['port']}{load['path']}"
    answer = browser.call("Page.navigate", load["timeout_s"], session=session, url=url)
    if "errorText" in answer:
        raise DevToolsError(f"{url}: {answer['errorText']}")
    browser.event("Page.loadEventFired", load["timeout_s"])
    while True:
        answer = browser.call("Runtime.evaluate", _ANSWER_S, session=session, expression=timings.COLLECT)
        if (text := answer["result"].get("value")) is not None:
            return timings.events(json.loads(text))
        time.sleep(0.01)


def main() -> None:
    """Start, get ready, wait for the signal, load, report."""
    load = json.loads(Path(sys.argv[1]).read_text())
    sys.path.insert(0, load["source"])
    from cambrian.testbed.chromium import switches
    from cambrian.testbed.chromium.pipe import Browser, DevToolsError

    # from the start, so that none is lost; the browser itself gets an empty mask
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    switches.make_profile(Path(load["profile"]))
    browser = Browser(switches.argv(load), load["environment"])
    done: dict[str, Any] = {"event": "done", "bytes": 0, "complete": False, "error": None}
    try:
        version = browser.call("Browser.getVersion", _ANSWER_S)["product"]
        session = _attach(browser)
        time.sleep(load["settle_s"])
        say({"event": "ready", "role": "client", "browser": version})
        signal.sigwait({signal.SIGUSR1})
        objects, loaded = _load(browser, session, load)
        for one in objects:
            say(one)
        say(loaded)
        done["bytes"] = sum(one["bytes"] for one in objects)
        done["complete"] = len(objects) == loaded["images"] + 1
        if not done["complete"]:
            done["error"] = f"{len(objects) - 1} of the page's {loaded['images']} images were fetched"
    except DevToolsError as error:
        done["error"] = str(error)
        print(error, file=sys.stderr)
    finally:
        if load["netlog"]:
            browser.close(_CLOSE_S)
        else:
            browser.kill()
        say(done | {"time_ns": time.time_ns()})
    sys.exit(0 if done["complete"] else 1)


if __name__ == "__main__":
    main()
