"""Peers in other languages drive one robot process end to end: Python over gRPC, curl with JSON, and the shipped examples.

Codes, rules, fields and numbers are compared, never words, but for the two spellings of a reason that peers go by.
"""
import base64
import json
import math
import os
import struct
import sys
import time
import uuid

import grpc
from processes import Failed, expect, holds, once_more

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "examples/python"))
import drive

BODY_BYTES, TEXT_BYTES, ARGS_DEPTH, MESSAGE_DEPTH = 256 << 10, 64 << 10, 32, 16
# How it shows that robot, driver or check had to wait for a core.
SLOW = ("fault: ", "STALE_FACT", "NO_LEASE", "UNVERIFIED", "timeout", "no standstill is measured", "the arm does not move")
STILL_MM = 2.0  # what a tip that stands may seem to move
FAR = {"x_cm": 20, "y_cm": -12, "z_cm": 12, "speed_mps": 0.05}  # seconds away from where the other checks end


def why(list_of_rejections):
    return [(r.code, r.rule, r.field) for r in list_of_rejections]


class Line:
    def __init__(self, processes, interlock, contract, *more, name="so101"):
        self.processes, self.interlock = processes, interlock
        self.process = processes.start(interlock, "robot", contract, *more, ready="robot " + name)
        said = self.process.said
        self.address = said.split()[2].rstrip(";")
        self.token_file = said.split("token: ")[1].split(";")[0]
        with open(self.token_file) as f:
            self.token = f.read().strip()
        self.robot = self.until_ready()

    def until_ready(self):
        """The robot listens before its driver is there, and says so."""
        robot = drive.Robot(self.address, self.token)
        expect(self.observed(robot).stopped, False, "stopped")
        return robot

    def observed(self, robot):
        """What is measured, as soon as anything is."""
        for _ in range(150):
            try:
                return robot.call("Observe")
            except grpc.RpcError as e:
                if e.code() != grpc.StatusCode.UNAVAILABLE:
                    raise
                time.sleep(0.1)
        raise Failed("the robot waits for its driver")

    def late(self, wrong):
        """Whether a busy machine kept the driver waiting, so that it stopped by itself or did not answer. What is left of
        the check is ended."""
        o = self.observed(self.robot)
        if o.running_mission:
            self.robot.call("Cancel", mission_id=o.running_mission)
            list(self.robot.events(o.running_mission))
        if o.stopped and o.stop_reason.startswith(("driver_lost", "halt_failed", "stop_unconfirmed", "bus_dead", "stale_reading")):
            self.processes.run(self.interlock, "reset", str(o.stop_number))
            return o.stop_reason
        if isinstance(wrong, grpc.RpcError):
            return wrong.details() if wrong.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED) else ""
        return str(wrong) if any(word in str(wrong) for word in SLOW) else ""

    # What the robot measures.

    def tip_mm(self, facts=None):
        facts = self.robot.call("Observe").facts if facts is None else facts
        return [10 * x for x in json.loads(next(f.value_json for f in facts if f.name == "tip"))]

    def stands(self):
        """The tip does not move, by what is measured."""
        holds(self.robot.call("Observe").standstill, "no standstill is measured")
        before = self.tip_mm()
        time.sleep(0.3)
        holds(math.dist(before, self.tip_mm()) <= STILL_MM, f"the tip moved from {before} to {self.tip_mm()}")

    def under_way(self, lease=None):
        """Begin a slow mission and wait until it is measured that the arm moves."""
        if not lease:
            self.finish("move_to", x_cm=20, y_cm=5, z_cm=15)
        ack, before = self.robot.start("move_to", lease=lease, **FAR), self.tip_mm()
        holds(ack.accepted, f"refused: {why(ack.rejections)}")
        for _ in range(100):
            if math.dist(before, self.tip_mm()) > 5:
                return ack.mission_id
            time.sleep(0.02)
        raise Failed("the arm does not move")

    def far_mm(self):
        """How far the tip is from where under_way sends it."""
        return math.dist(self.tip_mm(), [10 * FAR[k] for k in ("x_cm", "y_cm", "z_cm")])

    def finish(self, capability, **arguments):
        """A whole mission, measured."""
        ack = self.robot.start(capability, **arguments)
        holds(ack.accepted, f"refused: {why(ack.rejections)}")
        events = list(self.robot.events(ack.mission_id))
        expect(self.kinds(events)[-1], "VERIFIED", f"the end of {capability}, {events[-1].reason}, {events[-1].failure.driver_error}")

    def kinds(self, events):
        """The kinds of a mission's events, which are numbered from 1 without a gap, the last one final."""
        expect([e.seq for e in events], list(range(1, len(events) + 1)), "sequence numbers")
        expect([e.final for e in events], [False] * (len(events) - 1) + [True], "final")
        return [self.robot.kinds[e.kind].name for e in events]

    def interlock_json(self, *line, code=0):
        return json.loads(self.processes.run(self.interlock, *line, "--json", code=code).stdout)

    # Python over gRPC.

    def describes(self):
        m = self.robot.call("Describe")
        expect((m.robot, m.mode, m.frame), ("so101", "sim", "base"))
        person = self.interlock_json("describe")
        expect(m.manifest_hash, person["manifest_hash"], "manifest hash")
        expect([c.name for c in m.capabilities], [c["name"] for c in person["capabilities"]], "capabilities")
        status, reply = self.curl("Describe", {})
        expect((status, reply["manifestHash"]), (200, m.manifest_hash))
        for c in m.capabilities:
            expect(json.loads(c.args_schema_json)["type"], "object", c.name)

    def verified(self):
        r = self.robot
        task = r.call("OpenTask", words="move to 18, 6, 14", provenance="person", goal="at(point_cm(18.0, 6.0, 14.0))")
        expect(r.state(task), "OPEN")
        ack = r.start("move_to", task.task_id, x_cm=18, y_cm=6, z_cm=14)
        expect((ack.accepted, ack.duplicate, ack.reason), (True, False, ""))
        expect(json.loads(ack.normalized_args_json), {"x_cm": 18, "y_cm": 6, "z_cm": 14})
        events = list(r.events(ack.mission_id))
        expect(self.kinds(events), ["ACCEPTED", "STARTED", "PHASE", "ARRIVED", "VERIFIED"])
        expect([e.seq for e in r.events(ack.mission_id, 3)], [3, 4, 5], "again, from 3")
        evidence = events[-1].evidence[0]
        holds(evidence.source_at_ms > evidence.mission_started_at_ms and evidence.witness == "encoders", "evidence from before the start")
        holds(math.dist(self.tip_mm(events[-1].facts_after), [180, 60, 140]) <= 10, "the tip is not there")
        task = r.call("Claim", task_id=task.task_id, claim={"reported": True, "success": False, "message": "no"})
        expect((r.state(task), task.claim.success, task.missions), ("DONE", False, 1))
        expect(r.state(r.call("GetTask", task_id=task.task_id)), "DONE")

    def false_claim(self):
        r = self.robot
        task = r.call("OpenTask", words="hold it", provenance="person", goal='held("red cube")')
        task = r.call("Claim", task_id=task.task_id, claim={"reported": True, "success": True, "message": "done"})
        expect((r.state(task), task.claim.success), ("NOT_DONE", True))

    def refused(self):
        r, before = self.robot, self.tip_mm()
        ack = r.start("move_to", mission_id="low", x_cm=20, y_cm=0, z_cm=-5)
        expect((ack.accepted, ack.reason), (False, "rejected_condition:move_to"))
        bad = ack.rejections[0]
        expect((bad.code, bad.rule, bad.field, bad.got, bad.limit, bad.unit, bad.retry), ("CONDITION", "above_table", "z_cm", "-5", "2", "cm", "as_changed"))
        expect(len(ack.rejections), 1, "rejections")
        self.line_refuses("Events", {"mission_id": "low", "from_seq": 1}, None)  # a refusal is no mission
        ack = r.start("fly", name="red cube")
        expect((ack.accepted, ack.reason, why(ack.rejections)), (False, "rejected_unknown_capability:fly", [("UNKNOWN_CAPABILITY", "", "capability")]))
        ack = r.start("move_to", x_cm=90, y_cm=0, z_cm=20)
        expect((ack.accepted, why(ack.rejections)[0][:2]), (False, ("UNREACHABLE", "reachable")))
        holds(math.dist(before, self.tip_mm()) <= STILL_MM, "a refused call moved the tip")

    def idempotent(self):
        r, name = self.robot, str(uuid.uuid4())
        first, again = (r.start("move_to", mission_id=name, x_cm=20, y_cm=5, z_cm=15) for _ in range(2))
        expect([(a.accepted, a.duplicate) for a in (first, again)], [(True, False), (True, True)])
        other = r.start("move_to", mission_id=name, x_cm=20, y_cm=6, z_cm=15)
        expect((other.accepted, why(other.rejections)), (False, [("CONFLICT", "", "mission_id")]))
        expect(self.kinds(list(r.events(name))).count("STARTED"), 1)

    def cancelled(self):
        r, mission = self.robot, self.under_way()
        busy = r.start("home")
        expect((busy.accepted, busy.rejections[0].code, json.loads(busy.rejections[0].got)), (False, "BUSY", mission))
        holds(r.call("Cancel", mission_id=mission).accepted, "the cancel is not taken")
        kinds = self.kinds(list(r.events(mission)))
        expect(kinds[-2:], ["CANCELLING", "CANCELLED"])
        self.stands()
        holds(self.far_mm() > 30, "the motion went on to its end")

    def leased(self):
        r = self.robot
        self.finish("move_to", x_cm=20, y_cm=5, z_cm=15)
        with drive.Lease(r, "arm", "peer") as lease:
            epoch = lease.now.epoch
            second = r.call("AcquireLease", resource="arm", holder="other")
            expect([(x.code, json.loads(x.got)) for x in second.rejections], [("BUSY", "peer")])
            busy = r.start("home")  # without it
            expect((busy.accepted, [(x.code, x.rule, json.loads(x.got)) for x in busy.rejections]), (False, [("BUSY", "lease", "peer")]))
            forged = self.robot.message("Lease")()
            forged.CopyFrom(lease.now)
            forged.epoch += 1
            expect(why(r.start("home", lease=forged).rejections), [("NO_LEASE", "epoch", "lease.epoch")])
            time.sleep(2.5)  # longer than it lasts
            holds(lease.now.epoch == epoch and lease.now.sequence > 1, "it was not renewed")
            before = lease.now
        expect(why(r.start("home", lease=before).rejections), [("NO_LEASE", "lapsed", "lease.epoch")])
        lost = r.call("AcquireLease", resource="arm", holder="a peer that dies").lease  # nobody renews it
        mission = self.under_way(lost)
        events = list(r.events(mission))
        expect((self.kinds(events)[-1], events[-1].reason.split(":")[0]), ("INTERRUPTED", "lease_lost"))
        self.stands()
        holds(self.far_mm() > 30, "the motion went on to its end")
        expect(why(r.call("RenewLease", lease=lost).rejections), [("NO_LEASE", "lapsed", "lease.epoch")])

    def stopped(self):
        r, mission = self.robot, self.under_way()
        said = self.interlock_json("stop")
        try:
            self.stays_stopped(mission, said)
        finally:
            self.processes.run(self.interlock, "reset", str(said["number"]), code=None)
        self.finish("move_to", x_cm=20, y_cm=5, z_cm=15)

    def stays_stopped(self, mission, said):
        """What a stop did, and that only a reset by its number ends it, which starts nothing."""
        r = self.robot
        expect(said["stopped"], True)
        events = list(r.events(mission))
        expect((self.kinds(events)[-1], events[-1].reason), ("ABORTED", f"stop: {said['number']}"))
        self.stands()
        holds(self.far_mm() > 30, "the motion went on to its end")
        o = r.call("Observe")
        expect((o.stopped, o.stop_number), (True, said["number"]))
        ack = r.start("home")
        expect((ack.accepted, ack.reason, why(ack.rejections)[0][0]), (False, "rejected_stopped:home", "STOPPED"))
        ack = r.start("get_state")  # looking is always allowed
        expect((ack.accepted, len(ack.facts) > 0), (True, True))
        self.processes.run(self.interlock, "reset", str(said["number"] + 1), code=2)
        expect(r.call("Observe").stopped, True, "stopped after a reset of another number")
        before = self.tip_mm()
        self.processes.run(self.interlock, "reset", str(said["number"]))
        time.sleep(0.5)
        o = r.call("Observe")
        expect((o.stopped, o.running_mission), (False, ""))
        holds(math.dist(before, self.tip_mm()) <= STILL_MM, "a reset moved the tip")
        expect(self.kinds(list(r.events(mission)))[-1], "ABORTED", "the old mission")

    def line_refuses(self, method, fields, want, code=None, channel=None, metadata=()):
        """A call that the line itself refuses: the error's status, and code, rule and field of its detail."""
        channel = channel or self.robot.channel
        wire = fields if isinstance(fields, bytes) else self.ask(method)(**fields).SerializeToString()
        streams = self.robot.methods[method].server_streaming
        call = (channel.unary_stream if streams else channel.unary_unary)(f"/{drive.SERVICE}/{method}")
        try:
            got = call(wire, timeout=drive.WITHIN, metadata=metadata)
            if streams:
                list(got)
        except grpc.RpcError as e:
            if code:
                expect(e.code(), code, "status")
            if want:
                expect(why(self.robot.refusals(e)), [want], method)
            return
        raise Failed(f"{method} is taken")

    def ask(self, method):
        return self.robot.message(self.robot.methods[method].input_type.name)

    def token_and_origin(self):
        bad, stranger = grpc.StatusCode.UNAUTHENTICATED, ("NOT_PERMITTED", "token", "Authorization")
        bare = grpc.insecure_channel(self.address)
        for channel in (bare, grpc.intercept_channel(bare, drive.Bearer("0" * 32))):
            self.line_refuses("Observe", {}, stranger, bad, channel=channel)
            self.line_refuses("Start", {"capability": "home"}, stranger, bad, channel=channel)
        no = grpc.StatusCode.PERMISSION_DENIED
        self.line_refuses("Start", {"capability": "home"}, ("NOT_PERMITTED", "origin", "Origin"), no, metadata=[("origin", "https://page.example")])
        for host in ("robot.example", "127.0.0.1.page.example"):
            named = grpc.insecure_channel(self.address, options=[("grpc.default_authority", host)])
            named = grpc.intercept_channel(named, drive.Bearer(self.token))
            self.line_refuses("Start", {"capability": "home"}, ("NOT_PERMITTED", "host", "Host"), no, channel=named)

    def strict_grpc(self):
        bad, start, r = grpc.StatusCode.INVALID_ARGUMENT, self.ask("Start")(capability="home").SerializeToString(), self.robot
        for name, (method, wire, want) in {
            "a field nobody declared": ("Start", start + b"\xfa\x06\x01x", ("UNKNOWN_ARGUMENT", "", "111")),
            "a field inside another": ("Claim", b"\x12\x04\x0a\x02\x50\x01", None),
            "a field twice": ("Start", start + start, ("DUPLICATE_KEY", "", "capability")),
            "another type": ("Start", b"\x10\x01", ("WRONG_TYPE", "", "capability")),
            "no protobuf": ("Start", b"\xff\xff\xff", ("MALFORMED", "", "")),
            "text that is not UTF-8": ("Start", b"\x12\x01\xff", ("MALFORMED", "", "capability")),
            "too long a text": ("OpenTask", self.ask("OpenTask")(words="x" * (TEXT_BYTES + 1)).SerializeToString(), ("TOO_LARGE", "", "words")),
            "too large a message": ("OpenTask", self.ask("OpenTask")(forbidden=["x" * 1000] * 300).SerializeToString(), ("TOO_LARGE", "body", "")),
            "too many items": ("OpenTask", self.ask("OpenTask")(forbidden=[""] * 5000).SerializeToString(), ("TOO_LARGE", "", "forbidden")),
        }.items():
            try:
                self.line_refuses(method, wire, want, bad)
            except Failed as f:
                raise Failed(f"{name}: {f}") from f
        self.arguments(lambda text: [(x.code, x.field) for x in r.call("Start", mission_id=str(uuid.uuid4()), capability="move_to", args_json=text).rejections])
        task = r.call("OpenTask", words="go", provenance="robot")
        expect([(x.code, x.field) for x in task.refusals], [("NOT_IN_ENUM", "provenance")])
        found = [name for m in r.methods.values() for name in enums(m.input_type)]
        expect(found, [], "enums in requests: an unknown value is not asked for here")

    def arguments(self, start):
        """The arguments are JSON of their own, read as strictly by the gate."""
        fine = '"x_cm": 20, "y_cm": 5, "z_cm": 15'
        for text, want in (
            ("{" + fine + ', "z_cm": 2}', ("DUPLICATE_KEY", "z_cm")),
            ("{" + fine + ', "speed": 1}', ("UNKNOWN_ARGUMENT", "speed")),
            ('{"x_cm": 20, "y_cm": 5}', ("MISSING_ARGUMENT", "z_cm")),
            ('{"x_cm": 20, "y_cm": 5, "z_cm": "15"}', ("WRONG_TYPE", "z_cm")),
            ('{"x_cm": 20, "y_cm": 5, "z_cm": 1e999}', ("NOT_FINITE", "z_cm")),
        ):
            expect(start(text.encode()), [want], text)
        deep = "[" * (ARGS_DEPTH + 1) + "]" * (ARGS_DEPTH + 1)
        expect([code for code, _ in start(deep.encode())], ["TOO_LARGE"], "arguments too deep")

    # curl with JSON.

    def curl(self, method, fields, *more, header=("Content-Type: application/json",), token=True):
        """One POST: the status, and the reply as JSON."""
        text = fields if isinstance(fields, str) else json.dumps(fields)
        header = [*header, f"Authorization: Bearer {self.token}"] if token else header
        line = ["curl", "-sS", "--max-time", "20", "-o", "-", "-w", "\n%{http_code}", "--data-binary", "@-"]
        for h in header:
            line += ["-H", h]
        path = method if method.startswith("/") else f"/{drive.SERVICE}/{method}"
        reply, _, status = self.processes.run(*line, *more, f"http://{self.address}{path}", stdin=text).stdout.rpartition("\n")
        return int(status), json.loads(reply) if reply.startswith("{") else {}

    def curl_refuses(self, method, fields, want, *more, status=400, **options):
        got, reply = self.curl(method, fields, *more, **options)
        expect(got, status, f"status of {method}: {reply}")
        debug = [d["debug"] for d in reply.get("details", [])]
        expect([(d["code"], d.get("rule", ""), d.get("field", "")) for d in debug], [want], method)

    def strict_json(self):
        deep = "[" * (MESSAGE_DEPTH + 1) + "]" * (MESSAGE_DEPTH + 1)
        for text, want in (
            ('{"capability": "home", "speed": 1}', ("UNKNOWN_ARGUMENT", "", "speed")),
            ('{"capability": "home", "capability": "home"}', ("DUPLICATE_KEY", "", "capability")),
            ('{"missionId": "a", "mission_id": "a"}', ("DUPLICATE_KEY", "", "mission_id")),
            ('{"capability": 1}', ("WRONG_TYPE", "", "capability")),
            ('{"capability": null}', ("WRONG_TYPE", "", "capability")),
            ('{"argsJson": "?"}', ("WRONG_TYPE", "", "args_json")),
            ('{"lease": {"epoch": "many"}}', ("WRONG_TYPE", "", "lease.epoch")),
            ('{"lease": {"epoch": 1.5}}', ("WRONG_TYPE", "", "lease.epoch")),
            ('{"capability": "home"} {}', ("MALFORMED", "trailing_text", "")),
            ('{"capability": "home",}', None),
            ("[]", ("WRONG_TYPE", "", "")),
            ("", None),
            ('{"lease": ' + deep + "}", None),
            ('{"capability": "' + "x" * (TEXT_BYTES + 1) + '"}', ("TOO_LARGE", "", "capability")),
            ('{"capability": "' + "x" * BODY_BYTES + '"}', ("TOO_LARGE", "body", "")),
        ):
            if want:
                self.curl_refuses("Start", text, want)
            else:
                status, reply = self.curl("Start", text)
                expect((status, reply["details"][0]["debug"]["code"]), (400, "TOO_LARGE" if "[[" in text else "MALFORMED"), text[:40])

        def start(text):
            status, ack = self.curl("Start", {"missionId": str(uuid.uuid4()), "capability": "move_to", "argsJson": base64.b64encode(text).decode()})
            expect((status, ack.get("accepted", False)), (200, False))
            return [(r["code"], r.get("field", "")) for r in ack["rejections"]]

        self.arguments(start)
        expect(self.curl("OpenTask", {"words": "go", "provenance": "robot"})[1]["refusals"][0]["code"], "NOT_IN_ENUM")
        expect(self.curl("Start", {"missionId": "fly", "capability": "fly", "argsJson": "e30="})[1]["reason"], "rejected_unknown_capability:fly")

    def curl_doors(self):
        json_type, stranger = "Content-Type: application/json", ("NOT_PERMITTED", "token", "Authorization")
        self.curl_refuses("Start", {"capability": "home"}, stranger, status=401, token=False)
        self.curl_refuses("Start", {"capability": "home"}, stranger, status=401, token=False, header=(json_type, "Authorization: Bearer " + "0" * 32))
        for origin in ("https://page.example", "null", f"http://{self.address}"):
            self.curl_refuses("Start", {"capability": "home"}, ("NOT_PERMITTED", "origin", "Origin"), status=403, header=(json_type, "Origin: " + origin))
        self.curl_refuses("Start", {"capability": "home"}, ("NOT_PERMITTED", "host", "Host"), status=403, header=(json_type, "Host: robot.example"))
        self.curl_refuses("Start", {"capability": "home"}, ("MALFORMED", "content_type", "Content-Type"), status=415, header=("Content-Type: text/plain",))
        self.curl_refuses("Start", {}, ("MALFORMED", "method", ""), "-X", "PUT", status=405)
        self.curl_refuses("Start", {}, ("MALFORMED", "encoding", "Content-Encoding"), header=(json_type, "Content-Encoding: gzip"))

    def no_reset(self):
        """Neither what the robot tells of itself, nor any guess, leads to a reset."""
        expect(set(self.robot.methods) & {"Reset", "Approve", "Take"}, set())
        person = [f"/interlock.v1.Operator/{m}" for m in ("ListPending", "Approve", "Deny", "Take", "GiveBack", "Resolve")]
        for path in ("Reset", "/interlock.driver.v1.Operator/Reset", "/interlock.driver.v1.Driver/Send", *person):
            expect(self.curl(path, {"number": "1"})[0], 404, path)

    # The examples of the documentation, as they are.

    def example(self, *line):
        p = self.processes.run(*line, self.address, self.token_file)
        holds(p.stdout.splitlines()[-1].endswith("DONE"), p.stdout)


def ends_in_order(processes, line):
    """Asked to end, the robot ends with 0, its driver with it, and nobody answers any more."""
    expect(processes.end(line.process), 0, "exit code of the robot")
    expect(processes.run(line.interlock, "robots", "--json").stdout, "", "robots that are left")


def enums(message, seen=()):
    """The fields of a message, and of those in it, whose type is an enum."""
    found = [f.full_name for f in message.fields if f.enum_type]
    for f in message.fields:
        if f.message_type and f.message_type.full_name not in seen:
            found += enums(f.message_type, (*seen, message.full_name))
    return found


def run(table, processes, interlock, contract, go_drive):
    line = Line(processes, interlock, contract)
    python, curl = "python", "curl"
    for group, name, check in (
        (python, "describes itself: the same to gRPC, to curl and to a person", line.describes),
        (python, "task, start, events without a gap, VERIFIED, DONE whatever is claimed", line.verified),
        (python, "a false claim: NOT_DONE", line.false_claim),
        (python, "refused: CONDITION/above_table, UNREACHABLE, rejected_unknown_capability", line.refused),
        (python, "the same start again is the same mission; another body is CONFLICT", line.idempotent),
        (python, "BUSY names the mission; cancel in motion: CANCELLED after standstill", line.cancelled),
        (python, "a lease: BUSY names its holder; not renewed: INTERRUPTED, standstill", line.leased),
        (python, "interlock stop in motion: ABORTED, STOPPED until interlock reset N", line.stopped),
        (python, "token, origin and host", line.token_and_origin),
        (python, "strict decoding over gRPC", line.strict_grpc),
        (curl, "strict decoding of JSON", line.strict_json),
        (curl, "token, origin, host, content type, method, encoding", line.curl_doors),
        (curl, "no way to a reset", line.no_reset),
    ):
        table.check(group, name, once_more, check, line.late)
    for name, command in (("python", (sys.executable, f"{ROOT}/examples/python/drive.py")), ("curl", (f"{ROOT}/examples/curl/drive.sh",)), ("go", (go_drive,))):
        table.check("example", f"examples/{name}, as it is: DONE", once_more, lambda c=command: line.example(*c), line.late)
    table.check("robot", "ends in order, with its driver", ends_in_order, processes, line)
