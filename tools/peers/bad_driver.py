"""A driver process with one fault each, to see that the conformance suite finds it.

    bad_driver.py FAULT DRIVER_PORT OPERATOR_SOCKET LISTEN_PORT LISTEN_OPERATOR_PORT

It stands before a good driver process, hands on what it is asked, and spoils one thing of it. None is the good one.
"""
import http.client
import json
import math
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DRIVER, OPERATOR = "/interlock.driver.v1.Driver/", "/interlock.driver.v1.Operator/"


class SocketConnection(http.client.HTTPConnection):
    """A line over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def post(at, path, body, header):
    """One call at a port of this machine, or at a unix socket's path."""
    line = http.client.HTTPConnection("127.0.0.1", at, timeout=5) if isinstance(at, int) else SocketConnection(at)
    try:
        line.request("POST", path, body, header)
        reply = line.getresponse()
        return reply.status, reply.getheader("Content-Type", ""), reply.read()
    finally:
        line.close()


def ask(port, path, **fields):
    """One call of the good driver, in JSON."""
    status, _, reply = post(port, path, json.dumps(fields).encode(), {"Content-Type": "application/json"})
    return json.loads(reply) if status == 200 else {}


class Driver:
    """Hands on every call. A fault replaces a method: it gets the call's fields and returns those of the reply."""
    epoch = "0"

    def __init__(self, driver, operator):
        self.driver, self.operator = driver, operator

    def ask(self, method, q):
        return ask(self.driver, DRIVER + method, **q)

    def at(self):
        return int(self.ask("Observe", {})["atNs"])

    def opened(self, reply):
        if reply.get("epoch", "0") != "0":  # not: BUSY
            self.epoch = reply["epoch"]

    def reset(self, number):  # what a person asked for
        return None  # as it came


class TakesExpiredSetpoints(Driver):
    def Send(self, q):
        at = self.at()
        if int(q.get("expiresNs", 0)) <= at:
            q["expiresNs"] = str(at + 250_000_000)
        return self.ask("Send", q)


class TakesDistantSetpoints(Driver):
    def Send(self, q):
        q["expiresNs"] = str(min(int(q.get("expiresNs", 0)), self.at() + 900_000_000))
        return self.ask("Send", q)


class NeverExpires(Driver):
    def Send(self, q):
        q["expiresNs"] = str(self.at() + 900_000_000)
        return self.ask("Send", q)


class IgnoresHalt(Driver):
    def Halt(self, q):
        return {}


class ObeysEveryEpoch(Driver):
    def Send(self, q):
        return self.ask("Send", {**q, "epoch": self.epoch})


class TakesSetpointsWhileStopped(Driver):
    def Send(self, q):
        latch = ask(self.operator, OPERATOR + "State")["latch"]
        if latch["stopped"]:
            ask(self.operator, OPERATOR + "Reset", number=latch["number"])
        return self.ask("Send", {**q, "stop": latch["number"]})


class StopsAndDoesNotLatch(Driver):
    def Stop(self, q):
        self.ask("Halt", {})
        return {"number": "1"}


class ResetsWithoutTheNumber(Driver):
    def reset(self, _):
        return ask(self.operator, OPERATOR + "State")["latch"]["number"]


class RevivesOldMotions(Driver):
    def Send(self, q):
        return self.ask("Send", {**q, "stop": ask(self.operator, OPERATOR + "State")["latch"]["number"]})


class SlowsDownWhatIsTooFast(Driver):
    def Send(self, q):
        return self.ask("Send", {**q, "overNs": str(max(int(q.get("overNs", 0)), 400_000_000))})


class ClipsInSilence(Driver):
    def Send(self, q):
        goal = [float(x) for x in q.get("positionsRad", [])]
        if all(map(math.isfinite, goal)):
            goal[:6] = [min(max(x, j["minRad"]), j["maxRad"]) for j, x in zip(self.ask("Describe", {})["joints"], goal)]
            q["positionsRad"] = goal
        return self.ask("Send", q)


class TellsNaN(Driver):
    def Observe(self, q):
        reply = self.ask("Observe", q)
        return {**reply, "jointsRad": ["NaN", *reply["jointsRad"][1:]]}


class TellsTwiceTheTime(Driver):
    def Observe(self, q):
        reply = self.ask("Observe", q)
        return {**reply, "atNs": str(2 * int(reply["atNs"]))}


class KeepsMovingInSilence(Driver):
    def opened(self, reply):
        super().opened(reply)
        threading.Thread(target=self.hum, args=[self.epoch], daemon=True).start()

    def hum(self, epoch):
        while epoch == self.epoch:
            self.ask("Observe", {"epoch": epoch})
            time.sleep(0.05)


class ResetsForRobots(Driver):
    def Reset(self, q):
        return ask(self.operator, OPERATOR + "Reset", number=ask(self.operator, OPERATOR + "State")["latch"]["number"])


# Each fault, and the check that must find it.
FAULTS = {
    TakesExpiredSetpoints: "refuses expired and too distant setpoints",
    TakesDistantSetpoints: "refuses expired and too distant setpoints",
    NeverExpires: "holds when a setpoint expires",
    IgnoresHalt: "halt ends a motion",
    ObeysEveryEpoch: "obeys only the holder of the lease",
    TakesSetpointsWhileStopped: "a stop ends a motion and latches",
    StopsAndDoesNotLatch: "a stop ends a motion and latches",
    ResetsWithoutTheNumber: "only its own number resets a stop",
    RevivesOldMotions: "a reset starts nothing",
    SlowsDownWhatIsTooFast: "refuses setpoints that are too fast",
    ClipsInSilence: "refuses malformed setpoints",
    TellsNaN: "observations are finite and complete",
    TellsTwiceTheTime: "time never runs back",
    KeepsMovingInSilence: "holds when the robot falls silent",
    ResetsForRobots: "resets nothing on the robot's line",
}


class Line(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    spoilt = None  # the driver that this line leads to

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        to, service, method = self.server.to, self.path[: self.path.rfind("/") + 1], self.path.rpartition("/")[2]
        kind = self.headers.get("Content-Type", "")
        header = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "content-length", "accept-encoding", "connection")}
        number = self.spoilt.reset(body) if service == OPERATOR and method == "Reset" else None
        if number is not None:
            ask(to, self.path, number=number)
            self.reply(200, kind, b"{}" if "json" in kind else b"")
        elif service == DRIVER and "json" in kind and hasattr(self.spoilt, method) and method[0].isupper():
            self.reply(200, kind, json.dumps(getattr(self.spoilt, method)(json.loads(body or b"{}"))).encode())
        else:
            status, kind, reply = post(to, self.path, body, header)
            if method == "Open" and status == 200:
                self.spoilt.opened(json.loads(reply))
            self.reply(status, kind, reply)

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(port, to):
    server = ThreadingHTTPServer(("127.0.0.1", port), Line)
    server.daemon_threads, server.to = True, to
    return server


if __name__ == "__main__":
    operator = sys.argv[3]
    driver, listen, listen_operator = (int(sys.argv[i]) for i in (2, 4, 5))
    Line.spoilt = {"None": Driver, **{c.__name__: c for c in FAULTS}}[sys.argv[1]](driver, operator)
    robots, persons = serve(listen, driver), serve(listen_operator, operator)
    threading.Thread(target=persons.serve_forever, daemon=True).start()
    print("a bad driver on", listen, flush=True)
    robots.serve_forever()
