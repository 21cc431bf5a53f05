#!/usr/bin/env python3
"""Drive a robot from Python over gRPC, without generated code: the robot tells its own messages by reflection.

    interlock robot robots/so101-tabletop.yaml &
    pip install -r examples/python/requirements.txt
    python3 examples/python/drive.py ADDRESS TOKEN_FILE

`interlock robot` prints address and token file; `interlock robots --json` has both. Exit codes are those of interlock:
0 measured and done, 3 refused, 4 not done, 5 unverified, 7 stopped.
"""
import json
import sys
import threading
import time
import uuid

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status

SERVICE = "interlock.v1.Robot"
WITHIN = 10  # s, for a call that is answered at once
RESUMES = 5  # times that a stream of events which breaks is opened again
RENEW = 0.6  # s, between two renewals of a lease, which lasts 2 s


class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Shows the robot's token with every call, those of the reflection included."""

    def __init__(self, token):
        self.header = ("authorization", "Bearer " + token)

    def show(self, proceed, call, request):
        return proceed(call._replace(metadata=[*(call.metadata or ()), self.header]), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = show


class Robot:
    """A line to one robot. call("Start", mission_id=..., ...) returns the reply as a message."""

    def __init__(self, address, token):
        self.channel = grpc.intercept_channel(grpc.insecure_channel(address), Bearer(token))
        self.pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        self.methods = {m.name: m for m in self.pool.FindServiceByName(SERVICE).methods}
        self.kinds = self.pool.FindEnumTypeByName("interlock.v1.EventKind").values_by_number

    def message(self, name):
        """The class of a message, by its short name."""
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName("interlock.v1." + name))

    def call(self, method, **fields):
        m = self.methods[method]
        ask, reply = message_factory.GetMessageClass(m.input_type), message_factory.GetMessageClass(m.output_type)
        rpc = self.channel.unary_stream if m.server_streaming else self.channel.unary_unary
        line = rpc(f"/{SERVICE}/{method}", request_serializer=ask.SerializeToString, response_deserializer=reply.FromString)
        return line(ask(**fields), timeout=None if m.server_streaming else WITHIN)

    def start(self, capability, task_id="", mission_id="", lease=None, **arguments):
        """Ask for one mission. The id is the caller's: the same id and arguments again are the same mission."""
        return self.call("Start", mission_id=mission_id or str(uuid.uuid4()), capability=capability, task_id=task_id,
                         args_json=json.dumps(arguments).encode(), lease=lease)

    def events(self, mission_id, seq=1):
        """A mission's events from number seq to its end, without a gap, over lines that break and readers that are slow."""
        for left in range(RESUMES, -1, -1):
            try:
                for e in self.call("Events", mission_id=mission_id, from_seq=seq):
                    seq = e.seq + 1
                    yield e
                return
            except grpc.RpcError as broken:
                lost = broken.code() == grpc.StatusCode.UNAVAILABLE or any(r.rule == "slow_reader" for r in self.refusals(broken))
                if not lost or left == 0:
                    raise
                time.sleep(0.2)

    def refusals(self, error):
        """Why the line refused a call: the Rejections in the error's details. Empty: it is no refusal."""
        found, status = [], rpc_status.from_call(error)
        for detail in status.details if status else []:
            r = self.message("Rejection")()
            if detail.Unpack(r):
                found.append(r)
        return found

    def state(self, task):
        return task.DESCRIPTOR.fields_by_name["state"].enum_type.values_by_number[task.state].name


class Lease:
    """The right to be the one who moves a resource, for as long as the block runs. If this program dies or is cut off it
    lapses within 2 s, and what moves under it ends. Without a lease a mission goes on without its caller."""

    def __init__(self, robot, resource, holder):
        self.robot, self.over = robot, threading.Event()
        reply = robot.call("AcquireLease", resource=resource, holder=holder)
        if reply.rejections:
            raise RuntimeError(f"no lease: {reply.rejections[0].code}: {reply.rejections[0].says}")
        self.now, self.renewing = reply.lease, threading.Thread(target=self.renew, daemon=True)

    def __enter__(self):
        self.renewing.start()
        return self

    def renew(self):
        while not self.over.wait(RENEW):
            reply = self.robot.call("RenewLease", lease=self.now)
            if reply.rejections:  # it lapsed, or a person took the robot; it is never revived
                return
            self.now = reply.lease

    def __exit__(self, *_):
        self.over.set()
        self.renewing.join()
        self.robot.call("ReleaseLease", lease=self.now)


def main(address, token_file):
    with open(token_file) as f:
        robot = Robot(address, f.read().strip())
    manifest = robot.call("Describe")
    print(f"{manifest.robot} offers " + ", ".join(c.name for c in manifest.capabilities))

    # The goal is fixed before the first call, and decides: not what anybody says afterwards.
    task = robot.call("OpenTask", words="move to 20, 5, 15", provenance="person", goal="at(point_cm(20.0, 5.0, 15.0))")
    with Lease(robot, "arm", "drive.py") as lease:
        ack = robot.start("move_to", task.task_id, lease=lease.now, x_cm=20, y_cm=5, z_cm=15)
        if not ack.accepted:
            print("refused: " + "; ".join(f"{r.code} {r.rule or r.field}: {r.says}" for r in ack.rejections))
            return 3
        for e in robot.events(ack.mission_id):
            print(f"{e.seq:4} {e.at_ms:8} ms  {robot.kinds[e.kind].name} {e.phase} {e.reason}".rstrip())

    # A claim is written beside what was measured, and changes nothing of it.
    task = robot.call("Claim", task_id=task.task_id, claim={"reported": True, "success": True, "message": "I moved there."})
    print(f"claimed: done; measured: {robot.state(task)}")
    return {"DONE": 0, "NOT_DONE": 4, "STOPPED": 7}.get(robot.state(task), 5)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
