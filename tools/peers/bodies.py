"""The example body in Python against the conformance suite, alone and behind a driver; and bad ones, which it must find."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import bad_body
import bad_driver
import line
from processes import Failed, expect, free_port, holds, json_lines, once_more

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "../../body/remote/example/driver.py")
OWN_CONTRACT = os.path.join(os.path.dirname(EXAMPLE), "robot.yaml")
TELL = os.environ.get("PEERS_TELL")  # what each fault was found by
AT_ONCE = 3  # they wait more than they work


class Bodies:
    def __init__(self, processes, interlock, contract):
        self.processes, self.interlock, self.contract = processes, interlock, contract

    def bodytest(self, *line, code=0):
        return json_lines(self.processes.run(self.interlock, "bodytest", "--json", *line, code=code).stdout)

    def passes(self, *line, least):
        """The whole suite passes, and it is the whole suite. It is in real time: what a busy machine was too late for is
        asked once more, and told."""
        said = self.bodytest(*line, code=None)
        unasked = [s["check"] for s in said if s["result"] == "not asked"]
        expect(unasked, [] if "--" in line else list(bad_body.RESTARTED.values()), "not asked")
        said = [s for s in said if s["result"] != "not asked"]
        holds(len(said) >= least, f"only {len(said)} checks")
        bad = [s for s in said if s["result"] != "ok"]
        if bad:
            again = self.bodytest(*[x for s in bad for x in ("--only", s["check"])], *line, code=None)
            holds(len(again) == len(bad) and all(s["result"] == "ok" for s in again), "; ".join(f"{s['check']}: {s.get('says')}" for s in again))
            return "asked twice: " + "; ".join(f"{s['check']}: {s.get('says')}" for s in bad)
        return ""

    def fails(self, check, *line):
        """The named check fails, for what the body does and not for want of an answer."""
        for _ in range(2):
            said = self.bodytest("--only", check, *line, code=4)
            expect([(s["check"], s["result"]) for s in said], [(check, "failed")])
            if not any(word in said[0]["says"] for word in ("connect:", "unavailable:", "deadline", "too late")):
                return f"found: {said[0]['says'][:150]}" if TELL else ""
        raise Failed(said[0]["says"])

    def body(self, *line):
        """A body process on a free port."""
        port = free_port()
        self.processes.start(sys.executable, *line, str(port), ready=("example body" if line == (EXAMPLE,) else "a bad body"))
        return port

    def driver(self, body, contract=None):
        """A driver process before the body: the port where it listens for robots, and the socket where a person reaches it."""
        listen = free_port()
        operator = f"{self.processes.folder}/operator-{listen}"
        self.processes.start(self.interlock, "driver", "remote", "--plant", f"127.0.0.1:{body}", "--contract", contract or self.contract,
                             "--listen", f"127.0.0.1:{listen}", "--operator", f"unix:{operator}",
                             "--latch-file", f"{self.processes.folder}/latch-{listen}", ready="driver remote")
        return listen, operator

    def alone(self):
        port = free_port()
        return self.passes("--body", f"127.0.0.1:{port}", "--", sys.executable, EXAMPLE, str(port), least=28)

    def plant(self):
        at = f"unix:{self.processes.folder}/plant"
        return self.passes("--body", at, "--", self.interlock, "plant", "--contract", self.contract, "--listen", at, least=28)

    def behind_a_driver(self):
        listen, operator = self.driver(self.body(EXAMPLE))
        return self.passes("--driver", f"127.0.0.1:{listen}", "--operator", f"unix:{operator}", least=33)

    def both_ends(self):
        """A body in Python with a contract of its own, driven by a client in Python: what is done is what its encoder says."""
        listen, operator = self.driver(self.body(EXAMPLE), OWN_CONTRACT)
        robot = line.Line(self.processes, self.interlock, OWN_CONTRACT, "--driver", f"127.0.0.1:{listen}",
                          "--operator", f"unix:{operator}", name="example")
        try:
            expect([c.name for c in robot.robot.call("Describe").capabilities], ["greet", "rest"])
            for verb, pan in ("greet", 0.52), ("rest", 0):
                robot.finish(verb)
                told = next(f for f in robot.robot.call("Observe").facts if f.name == "pan_rad")
                holds(abs(float(told.value_json) - pan) <= 0.02 and told.witness == "encoders", f"{verb}: {told.value_json} rad by {told.witness}")
        finally:
            expect(self.processes.end(robot.process), 0, "exit code of the robot")

    def handed_on(self):
        """The process that spoils drivers spoils nothing by itself."""
        return self.passes(*self.spoilt("None"), least=33)

    def bad_body(self, fault, check):
        return self.fails(check, "--body", f"127.0.0.1:{self.body(os.path.join(HERE, 'bad_body.py'), fault)}")

    def restarted(self, fault, check):
        port = free_port()
        return self.fails(check, "--body", f"127.0.0.1:{port}", "--", sys.executable, os.path.join(HERE, "bad_body.py"), fault, str(port))

    def bad_driver(self, fault, check):
        return self.fails(check, *self.spoilt(fault))

    def spoilt(self, fault):
        listen, operator = free_port(), free_port()
        good = self.driver(self.body(EXAMPLE))
        self.processes.start(sys.executable, os.path.join(HERE, "bad_driver.py"), fault, *map(str, (*good, listen, operator)), ready="a bad driver")
        return "--speak", "json", "--driver", f"127.0.0.1:{listen}", "--operator", f"127.0.0.1:{operator}"


def late(wrong):
    """A robot and its driver that were kept waiting say so."""
    return str(wrong) if any(word in str(wrong) for word in ("fault: ", "UNVERIFIED", "timeout")) else ""


def run(table, processes, interlock, contract):
    b = Bodies(processes, interlock, contract)
    table.check("example", "a robot in Python at both ends: its contract's verbs, by its encoder", once_more, b.both_ends, late)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        todo = [("example", "the body passes the suite of bodies", b.alone),
                ("plant", "the simulated plant passes it too", b.plant),
                ("example", "the body behind a driver passes the suite of drivers", b.behind_a_driver),
                ("example", "and through a process that only hands on", b.handed_on)]
        todo += [("bad body", f"{c.__name__}: {check}", b.bad_body, c.__name__, check) for c, check in bad_body.FAULTS.items()]
        todo += [("bad body", f"{c.__name__}: {check}", b.restarted, c.__name__, check) for c, check in bad_body.RESTARTED.items()]
        todo += [("bad driver", f"{c.__name__}: {check}", b.bad_driver, c.__name__, check) for c, check in bad_driver.FAULTS.items()]
        for done in [pool.submit(table.check, *what) for what in todo]:
            done.result()
