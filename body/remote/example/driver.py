#!/usr/bin/env python3
"""A body in another language: six joints that follow what they are sent, served by the driver protocol.

    python3 body/remote/example/driver.py 7460 &
    interlock driver remote --plant 127.0.0.1:7460 --contract robots/so101-tabletop.yaml

This is a body, not a guard: `interlock driver remote` stands in front of it with the stop latch, the limits, expiry and
the hold on silence. What a body owes, and how to test it, is in docs/drivers.md; every field is in
body/remote/v1/driver.proto. 64-bit numbers are strings in JSON, and a number that is not finite is the string "NaN".
"""
import json
import math
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


NO_LEASE = refused("NO_LEASE", "epoch", "this epoch does not hold the lease")


class Body:
    def __init__(self):
        self.lock = threading.Lock()
        self.epoch, self.until, self.holder, self.sequence = time.time_ns(), 0.0, "", 0
        self.start, self.goal, self.began, self.over = HOME, HOME, 0.0, 0.0
        self.applied, self.holding = 0, ""

    def at(self, t):
        """Where the joints are: on a straight line to the goal. A real body asks its encoders."""
        share = 1.0 if self.over <= 0 else min(1.0, (t - self.began) / self.over)
        return [a + (b - a) * share for a, b in zip(self.start, self.goal)]

    def holds(self, q):
        return int(q.get("epoch", 0)) == self.epoch and now() < self.until

    def halt(self):
        """Stand where it stands, with torque on."""
        if now() < self.began + self.over:
            self.start = self.goal = self.at(now())
            self.began, self.over = now(), 0.0
        self.holding = "halted"

    def Describe(self, q):
        return {"name": "example", "mode": "sim", "stepNs": "2000000", "joints": JOINTS, "protocol": 1,
                "witnesses": [{"name": "encoders", "facts": ["pan_rad"]}]}

    def Open(self, q):
        if now() < self.until:
            return refused("BUSY", "holder", "the lease is held by " + self.holder)
        self.epoch, self.until, self.sequence, self.holder = self.epoch + 1, now() + TTL, 0, q.get("holder", "")
        self.halt()  # what an earlier holder left moving ends; opening never moves
        return {"epoch": str(self.epoch), "ttlNs": ns(TTL)}

    def Renew(self, q):
        if not self.holds(q):
            return NO_LEASE
        self.until = now() + TTL
        return {"epoch": str(self.epoch), "ttlNs": ns(TTL)}

    def Send(self, q):
        goal = [float(x) for x in q.get("positionsRad", [])]
        sequence, over = int(q.get("sequence", 0)), int(q.get("overNs", 0)) / 1e9
        if not self.holds(q):
            return NO_LEASE
        if sequence <= self.sequence:
            return refused("CONFLICT", "sequence", "a later command came before this one")
        if len(goal) != len(JOINTS):
            return refused("WRONG_TYPE", "positions_rad", "six joint positions are needed")
        for j, x in zip(JOINTS, goal):
            if not math.isfinite(x):
                return refused("NOT_FINITE", "positions_rad." + j["name"], "the position is not finite")
            if not j["minRad"] <= x <= j["maxRad"]:
                return refused("OUT_OF_RANGE", "positions_rad." + j["name"], "the joint does not go that far")
        t = now()
        self.start, self.goal, self.began, self.over = self.at(t), goal, t, over
        self.until, self.sequence, self.applied, self.holding = t + TTL, sequence, self.applied + 1, ""
        return {"positionsRad": goal, "applied": str(self.applied)}

    def Halt(self, q):
        self.halt()  # whoever asks
        if self.holds(q):
            self.sequence = max(self.sequence, int(q.get("sequence", 0)))
        return {}

    def Observe(self, q):
        t = now()
        if self.holds(q):
            self.until = t + TTL
        joints = self.at(t)
        return {"atNs": ns(t), "jointsRad": joints, "goalRad": self.goal, "applied": str(self.applied),
                "standstill": t > self.began + self.over + 0.1, "holding": self.holding,
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


FIELDS = {"Describe": "", "Open": "holder", "Renew": "epoch", "Send": "positionsRad overNs expiresNs stop epoch sequence",
          "Halt": "epoch sequence", "Observe": "epoch", "Stop": "reason epoch", "Close": "epoch"}


class Line(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = Body()

    def do_POST(self):
        size, method = int(self.headers.get("Content-Length", 0)), self.path.rpartition("/")[2]
        if size > 65536 or method not in FIELDS or "Origin" in self.headers:  # a browser is no robot
            self.send_error(404)
            return
        try:
            q = json.loads(self.rfile.read(size) or b"{}")
            if not isinstance(q, dict) or not set(q) <= set(FIELDS[method].split()):
                raise ValueError("not an object, or a field that this version does not know")
            with self.body.lock:
                status, out = 200, getattr(self.body, method)(q)
        except (ValueError, TypeError) as bad:
            status, out = 400, {"code": "invalid_argument", "message": str(bad)}
        out = json.dumps(out).encode()
        self.send_response(status)
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
