"""The example body with one fault each, to see that the conformance suite finds it: bad_body.py FAULT PORT."""
import math
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


class OpensAtHome(Body):
    def Open(self, q):
        reply = super().Open(q)
        self.start = self.goal = driver.HOME
        return reply


class OpensAndGoesOn(Body):
    """What an earlier holder left moving runs on, where its lease lapsed."""

    def Open(self, q):
        was = self.start, self.goal, self.began, self.over
        reply = super().Open(q)
        self.start, self.goal, self.began, self.over = was
        return reply


class GrantsAnEpochAgain(Body):
    def Open(self, q):
        reply = super().Open(q)
        self.epoch -= "epoch" in reply
        return {**reply, "epoch": str(self.epoch)} if "epoch" in reply else reply


class GrantsToTheSameName(Body):
    def Open(self, q):
        if q.get("holder") == self.holder:
            self.until = 0.0
        return super().Open(q)


class ClosesForAnybody(Body):
    def Close(self, q):
        return super().Close({"epoch": self.epoch})


class ObeysWhoeverTellsNoEpoch(Body):
    def Send(self, q):
        return super().Send({"epoch": self.epoch, **q})


class ClosesForWhoeverTellsNoEpoch(Body):
    def Close(self, q):
        return super().Close({"epoch": self.epoch, **q})


class NeedsNoNumber(Body):
    def Send(self, q):
        return super().Send({**q, "sequence": int(q.get("sequence", 0)) or self.sequence + 1})


class DividesByTheTimeItIsGiven(Body):
    def Send(self, q):
        if int(q.get("overNs", 0)) == 0:
            raise ValueError("division by zero")
        return super().Send(q)


class LastsForASecond(Body):
    def Renew(self, q):
        reply = super().Renew(q)
        self.until = min(self.until, now() + 1)
        return reply


class Revives(Body):
    """A lapsed lease comes back by the method."""
    method = ""

    def revive(self, method, q):
        return self.method == method and int(q.get("epoch", 0)) == self.epoch and self.granted

    granted = False

    def Open(self, q):
        reply = super().Open(q)
        self.granted = True
        return reply

    def Close(self, q):
        reply = super().Close(q)
        self.granted = False
        return reply

    def Renew(self, q):
        self.until = now() + 1 if self.revive("Renew", q) else self.until
        return super().Renew(q)

    def Observe(self, q):
        self.until = now() + 1 if self.revive("Observe", q) else self.until
        return super().Observe(q)

    def Send(self, q):
        self.until = now() + 1 if self.revive("Send", q) else self.until
        return super().Send(q)


class RevivesByRenew(Revives):
    method = "Renew"


class RevivesByObserve(Revives):
    method = "Observe"


class RevivesBySend(Revives):
    method = "Send"


class OnlookersKeepTheLease(Body):
    def Observe(self, q):
        return super().Observe({"epoch": self.epoch})


class Forgets(Body):
    """The method keeps no lease."""
    method = ""

    def but(self, method, q):
        until = self.until
        reply = getattr(Body, method)(self, q)
        self.until = until if self.method == method else self.until
        return reply

    def Renew(self, q):
        return self.but("Renew", q)

    def Observe(self, q):
        return self.but("Observe", q)

    def Send(self, q):
        return self.but("Send", q)


class RenewDoesNotKeep(Forgets):
    method = "Renew"


class ObserveDoesNotKeep(Forgets):
    method = "Observe"


class SendDoesNotKeep(Forgets):
    method = "Send"


class HaltsForItsHolder(Body):
    def Halt(self, q):
        return super().Halt(q) if self.holds(q) else {}


class HaltsWhileItIsHeld(Body):
    def Halt(self, q):
        return super().Halt(q) if now() < self.until else {}


class HaltsWhereItBegan(Body):
    def halt(self):
        if now() < self.began + self.over:
            self.goal = self.start
        super().halt()


class StopHaltsNothing(Body):
    def Stop(self, q):
        return {"number": "0"}


class CloseHaltsNothing(Body):
    def Close(self, q):
        if self.holds(q):
            self.until = 0.0
        return {}


class HaltCutsTheTorque(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "health": {**reply["health"], "torqueOn": self.holding == ""}}


class HaltAllowsNoMotion(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "health": {**reply["health"], "motionAllowed": self.holding == ""}}


class SaysHaltedIfItMoved(Body):
    def halt(self):
        holding, moved = self.holding, now() < self.began + self.over
        super().halt()
        self.holding = "halted" if moved else holding


class LateHaltsCountBack(Body):
    def Halt(self, q):
        reply = super().Halt(q)
        if self.holds(q):
            self.sequence = int(q.get("sequence", 0))
        return reply


class RoundsInSilence(Body):
    def Send(self, q):
        reply = super().Send(q)
        if "rejections" not in reply:
            self.goal = [round(x, 2) for x in self.goal]
        return reply


class TurnsItsGoals(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "goalRad": reply["goalRad"][::-1]}


class ReadsInDegrees(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        reply["readings"][0]["number"] = math.degrees(reply["jointsRad"][0])
        return reply


class ReadsByTheWallClock(Body):
    def Observe(self, q):
        return {**super().Observe(q), "atNs": str(time.time_ns())}


class IsNotHealthy(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        return {**reply, "health": {**reply["health"], "busOk": False}}


class TakesTwiceTheTime(Body):
    def Send(self, q):
        return super().Send({**q, "overNs": str(2 * int(q.get("overNs", 0)))})


class StartsFromItsGoal(Body):
    def Send(self, q):
        self.start = self.goal if now() < self.began + self.over else self.start
        self.over = 0.0 if now() < self.began + self.over else self.over
        return super().Send(q)


class ChecksItsFirstJoint(Body):
    def Send(self, q):
        goal = [float(x) for x in q.get("positionsRad", [])]
        goal[1:6] = [x if x != x else min(max(x, -1.6), 1.6) for x in goal[1:6]]
        return super().Send({**q, "positionsRad": goal})


class MeasuredItOnce(Body):
    def Observe(self, q):
        reply = super().Observe(q)
        reply["readings"][0]["atNs"] = "1"
        return reply


class WaitsForItsBus(Body):
    def Renew(self, q):
        time.sleep(0.3)
        return super().Renew(q)


class ReadsStringsAlone(Body):
    def Send(self, q):
        if not isinstance(q.get("sequence", ""), str):
            raise ValueError("a number of 64 bits is a string")
        return super().Send(q)


class StandsTooSoon(Body):
    def Observe(self, q):
        return {**super().Observe(q), "standstill": now() > self.began + 0.01}


class BeginsWithOne(Body):
    def __init__(self):
        super().__init__()
        self.epoch = 0


LAPSES = "a lease is kept, lapses and is not revived"

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
    CloseHaltsNothing: "closing ends a motion",
    StopHaltsNothing: "a stop is a halt",
    HaltCutsTheTorque: "halt ends a motion",
    HaltAllowsNoMotion: "halt ends a motion",
    SaysHaltedIfItMoved: "halt works in every state",
    LateHaltsCountBack: "refuses commands that come late",
    RoundsInSilence: "returns what was sent",
    TurnsItsGoals: "opening again moves nothing",
    ReadsInDegrees: "opening again moves nothing",
    ReadsByTheWallClock: "measures every fact anew",
    IsNotHealthy: "follows setpoints",
    HaltsForItsHolder: "halts for whoever asks, where it stands",
    HaltsWhereItBegan: "halts for whoever asks, where it stands",
    HaltsWhileItIsHeld: LAPSES,
    OpensAtHome: "opening again moves nothing",
    OpensAndGoesOn: LAPSES,
    GrantsAnEpochAgain: "grants every epoch once",
    GrantsToTheSameName: "grants every epoch once",
    ClosesForAnybody: "grants every epoch once",
    ObeysWhoeverTellsNoEpoch: "grants every epoch once",
    ClosesForWhoeverTellsNoEpoch: "grants every epoch once",
    NeedsNoNumber: "refuses commands that come late",
    DividesByTheTimeItIsGiven: "a setpoint at the present position does not move",
    LastsForASecond: LAPSES,
    RevivesByRenew: LAPSES,
    RevivesByObserve: LAPSES,
    RevivesBySend: LAPSES,
    OnlookersKeepTheLease: LAPSES,
    RenewDoesNotKeep: LAPSES,
    ObserveDoesNotKeep: LAPSES,
    SendDoesNotKeep: LAPSES,
    TakesTwiceTheTime: "goes on a straight line in its time",
    StartsFromItsGoal: "goes on a straight line in its time",
    ChecksItsFirstJoint: "refuses malformed setpoints",
    MeasuredItOnce: "measures every fact anew",
    WaitsForItsBus: "answers within its time",
    ReadsStringsAlone: "reads numbers of 64 bits in both forms",
    StandsTooSoon: "follows setpoints",
}

# Those that only a restart shows.
RESTARTED = {BeginsWithOne: "grants no epoch again after a restart"}

if __name__ == "__main__":
    fault = {c.__name__: c for c in {**FAULTS, **RESTARTED}}[sys.argv[1]]
    driver.Line.wbufsize = -1
    driver.Line.body = fault()
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), driver.Line)
    server.daemon_threads = True
    print("a bad body on", server.server_address[1], flush=True)
    server.serve_forever()
