"""The example body with one fault each, to see that the conformance suite finds it: bad_body.py FAULT PORT."""
import os
import sys
import time
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../body/remote/example"))
import driver
from driver import Body, now


class OpensMoving(Body):
    def Open(self, q):
        reply = super().Open(q)
        self.start, self.goal, self.began, self.over = self.goal, [self.goal[0] + 0.03, *self.goal[1:]], now(), 0.2
        return reply


class IgnoresHalt(Body):
    def Halt(self, q):
        return {}


class ObeysEveryEpoch(Body):
    def Send(self, q):
        return super().Send({**q, "epoch": self.epoch})


class ObeysLateCommands(Body):
    def Send(self, q):
        return super().Send({**q, "sequence": self.sequence + 1})


class CountsAStrangersHalt(Body):
    def Halt(self, q):
        self.sequence = max(self.sequence, int(q.get("sequence", 0)))
        return super().Halt(q)


class TellsNaN(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "jointsRad": ["NaN", *reply["jointsRad"][1:]]}


class ClipsInSilence(Body):
    def Send(self, q):
        goal = [float(x) for x in q.get("positionsRad", [])]
        goal[:6] = [x if x != x else min(max(x, j["minRad"]), j["maxRad"]) for j, x in zip(driver.JOINTS, goal)]
        return super().Send({**q, "positionsRad": goal})


class CountsHalfTime(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "atNs": str(int(reply["atNs"]) // 2), "readings": []}


class TimeRunsBack(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "atNs": str(int(1e18) - int(reply["atNs"])), "readings": []}


class AlwaysStill(Body):
    def Observe(self, q):
        return {**super().Observe(q), "standstill": True}


class GoesLimp(Body):
    """Sinks once nobody has asked for half a second, as servos do whose torque is cut."""
    asked = 0.0

    def Observe(self, q):
        if self.asked and now() - self.asked > 0.5:
            self.start = self.goal = [self.goal[0] - 0.1, *self.goal[1:]]
        self.asked = now()
        return super().Observe(q)


class GoesOnAfterItsRobot(Body):
    def Close(self, q):
        if self.holds(q):
            self.until = 0.0
        return {}

    def Open(self, q):
        self.epoch, self.until, self.sequence = time.time_ns(), now() + driver.TTL, 0
        return {"epoch": str(self.epoch), "ttlNs": driver.ns(driver.TTL)}


class ReadsTheFuture(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        reply["readings"][0]["atNs"] = driver.ns(now() + 1)
        return reply


# Each fault, and the check that must find it.
FAULTS = {
    OpensMoving: "opening never moves",
    IgnoresHalt: "halt ends a motion",
    ObeysEveryEpoch: "obeys only the holder of the lease",
    ObeysLateCommands: "refuses commands that come late",
    CountsAStrangersHalt: "refuses commands that come late",
    TellsNaN: "observations are finite and complete",
    ReadsTheFuture: "observations are finite and complete",
    ClipsInSilence: "refuses malformed setpoints",
    CountsHalfTime: "time never runs back",
    TimeRunsBack: "time never runs back",
    AlwaysStill: "follows setpoints",
    GoesLimp: "keeps its goal when nobody asks",
    GoesOnAfterItsRobot: "closing ends a motion",
}

if __name__ == "__main__":
    fault = {c.__name__: c for c in FAULTS}[sys.argv[1]]
    driver.Line.wbufsize = -1
    driver.Line.body = fault()
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), driver.Line)
    server.daemon_threads = True
    print("a bad body on", server.server_address[1], flush=True)
    server.serve_forever()
