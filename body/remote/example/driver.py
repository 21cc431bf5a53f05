#!/usr/bin/env python3
"""A body in another language: six joints that follow what they are sent, served by the driver protocol.

    python3 body/remote/example/driver.py 7460 &
    interlock driver remote --plant 127.0.0.1:7460 --contract robots/so101-tabletop.yaml

This is a body, not a guard: `interlock driver remote` stands in front of it with the stop latch, the limits, expiry and
the hold on silence. What a body owes: goals are kept when nobody sends; opening never moves; a setpoint is taken whole
or refused whole; only the holder of the lease is obeyed; readings tell the time of their source. See
body/remote/v1/driver.proto for every field; 64-bit numbers are strings in JSON.
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TTL = 2.0  # s, of a lease
NAMES = ["pan", "lift", "elbow", "wrist_flex", "wrist_roll", "jaw"]
JOINTS = [{"name": n, "minRad": -1.6, "maxRad": 1.6, "maxVelRadS": 4.7} for n in NAMES]
HOME = [0.0, -0.7, 0.6, 1.3, 1.5, 1.0]
START = time.monotonic()


def now():
    return time.monotonic() - START


def ns(seconds):
    return str(int(seconds * 1e9))


def refused(code, field, says):
    return {"rejections": [{"code": code, "field": field, "says": says}]}


class Body:
    def __init__(self):
        self.lock = threading.Lock()
        self.epoch, self.until, self.sequence = time.time_ns(), 0.0, 0
        self.start, self.goal, self.began, self.over = HOME, HOME, 0.0, 0.0
        self.applied = 0

    def at(self, t):
        """Where the joints are: on a straight line to the goal. A real body asks its encoders."""
        share = 1.0 if self.over <= 0 else min(1.0, (t - self.began) / self.over)
        return [a + (b - a) * share for a, b in zip(self.start, self.goal)]

    def holds(self, q):
        return int(q.get("epoch", 0)) == self.epoch and now() < self.until

    def halt(self):
        t = now()
        self.start = self.goal = self.at(t)
        self.began, self.over = t, 0.0

    def Describe(self, q):
        return {"name": "example", "mode": "sim", "stepNs": "2000000", "joints": JOINTS, "protocol": 1,
                "witnesses": [{"name": "encoders", "facts": ["pan_rad"]}]}

    def Open(self, q):
        if now() < self.until:
            return refused("BUSY", "holder", "the lease is held")
        self.epoch, self.until, self.sequence = self.epoch + 1, now() + TTL, 0
        self.halt()
        return {"epoch": str(self.epoch), "ttlNs": ns(TTL)}

    def Renew(self, q):
        if not self.holds(q):
            return refused("NO_LEASE", "epoch", "this epoch does not hold the lease")
        self.until = now() + TTL
        return {"epoch": str(self.epoch), "ttlNs": ns(TTL)}

    def Send(self, q):
        goal, sequence = q.get("positionsRad", []), int(q.get("sequence", 0))
        if not self.holds(q):
            return refused("NO_LEASE", "epoch", "this epoch does not hold the lease")
        if sequence <= self.sequence:
            return refused("CONFLICT", "sequence", "a later command came before this one")
        if len(goal) != len(JOINTS):
            return refused("WRONG_TYPE", "positions_rad", "six joint positions are needed")
        if not all(j["minRad"] <= x <= j["maxRad"] for j, x in zip(JOINTS, goal)):  # NaN fails
            return refused("OUT_OF_RANGE", "positions_rad", "a joint does not go that far")
        t = now()
        self.start, self.goal, self.began, self.over = self.at(t), goal, t, int(q.get("overNs", 0)) / 1e9
        self.until, self.sequence, self.applied = t + TTL, sequence, self.applied + 1
        return {"positionsRad": goal, "applied": str(self.applied)}

    def Halt(self, q):
        self.halt()
        self.sequence = max(self.sequence, int(q.get("sequence", 0)))
        return {}

    def Observe(self, q):
        t = now()
        if self.holds(q):
            self.until = t + TTL
        joints = self.at(t)
        return {"atNs": ns(t), "jointsRad": joints, "goalRad": self.goal, "applied": str(self.applied),
                "standstill": t > self.began + self.over + 0.1,
                "health": {"torqueOn": True, "busOk": True, "motionAllowed": True},
                "readings": [{"fact": "pan_rad", "witness": "encoders", "atNs": ns(t), "number": joints[0]}]}

    def Stop(self, q):
        self.halt()
        return {"number": "0"}  # a body has no latch; its driver has

    def Close(self, q):
        if self.holds(q):
            self.halt()
            self.until = 0.0
        return {}


METHODS = ("Describe", "Open", "Renew", "Send", "Halt", "Observe", "Stop", "Close")


class Line(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = Body()

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        method = self.path.rpartition("/")[2]
        if size > 65536 or method not in METHODS or "Origin" in self.headers:
            self.send_error(404)
            return
        q = json.loads(self.rfile.read(size) or b"{}")
        with self.body.lock:
            out = json.dumps(getattr(self.body, method)(q)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    Line.wbufsize = -1  # one packet an answer
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Line)
    server.daemon_threads = True
    print("example body on", server.server_address[1], flush=True)
    server.serve_forever()
