"""A tool layer as robots with a language model commonly have one in Python: arguments checked by hand, a floor, and
whether damped least squares in numpy reaches the target. No plan, no sweep of the path, no conditions over facts."""
import json

import numpy as np

from so101 import HOME, dls, emit, timed


def wrong(arguments):
    missing = [k for k in ("x_cm", "y_cm", "z_cm") if k not in arguments]
    if missing:
        return "missing: " + ", ".join(missing)
    for k, v in arguments.items():
        if k not in ("x_cm", "y_cm", "z_cm"):
            return f"unknown argument {k!r}"
        if not isinstance(v, (int, float)) or isinstance(v, bool):
            return f"{k!r} must be a number, got {type(v).__name__}"


def call(text):
    c = json.loads(text)
    if c["tool"] != "move_to":
        return json.dumps({"error": f"unknown tool {c['tool']!r}"})
    a = c["arguments"]
    if problem := wrong(a):
        return json.dumps({"error": problem})
    if a["z_cm"] < 2:
        return json.dumps({"rejected": f"z = {a['z_cm']:g} cm is below the minimum of 2 cm"})
    _, left = dls(np.array([a["x_cm"], a["y_cm"], a["z_cm"]], float) / 100, HOME)
    if left > 0.005:
        return json.dumps({"rejected": f"out of reach by {left * 100:.1f} cm"})
    return json.dumps({"ok": True})


def move(x, y, z):
    return json.dumps({"tool": "move_to", "arguments": {"x_cm": x, "y_cm": y, "z_cm": z}})


WORKS = [
    ("unknown tool", json.dumps({"tool": "fly", "arguments": {}}), 5_000), ("move, wrong type", move("20", 5, 15), 5_000),
    ("move, below the floor", move(20, 0, -5), 5_000), ("move, feasible", move(20, 5, 15), 500), ("move, unreachable", move(70, 0, 10), 30),
]
for work, text, n in WORKS:
    emit("decide", "tool layer in Python + numpy", np.__version__, work, answer=next(iter(json.loads(call(text)))), **timed(lambda: call(text), n))
