"""Processes of one run, checks on them, and a table of what was checked. What was started is ended, whatever happens."""
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time

WITHIN = 60  # s, for a process to say that it is ready, or to end


class Failed(Exception):
    """A check that did not hold."""


def expect(got, want, what=""):
    if got != want:
        raise Failed(f"{what or 'got'}: {got!r}, not {want!r}")


def holds(condition, what):
    if not condition:
        raise Failed(what)


given = set()  # ports


def free_port():
    """A port for a process to listen on: below those that the system hands out to whoever calls somebody."""
    for _ in range(1000):
        port = random.randrange(20000, 32000)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            if port not in given:
                given.add(port)
                return port
    raise Failed("no port is free")


def once_more(run, excuse):
    """Run a check, and twice more if it failed for a reason that excuse names: a machine that is too busy for real time."""
    late = []
    while True:
        try:
            said = run()
        except Exception as wrong:
            late.append(excuse(wrong))
            if not late[-1] or len(late) == 3:
                raise
        else:
            return f"asked again: {'; '.join(late)}" if late else said


class Processes:
    """The processes that were started here."""

    def __init__(self, folder):
        self.folder, self.all, self.lock = folder, [], threading.Lock()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=f"{folder}/r", XDG_STATE_HOME=f"{folder}/s")
        for name in ("r", "s"):
            os.makedirs(f"{folder}/{name}", mode=0o700, exist_ok=True)

    def start(self, *line, ready=""):
        """Start a process and wait until it prints a line that begins so. The line is its .said."""
        p = subprocess.Popen(line, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, start_new_session=True)
        with self.lock:
            self.all.append(p)
        late = threading.Timer(WITHIN, p.kill)
        late.start()
        p.said = p.stdout.readline().strip()
        late.cancel()
        if not p.said.startswith(ready):
            raise Failed(f"{line[0]} says {p.said!r}")
        threading.Thread(target=lambda: [None for _ in p.stdout], daemon=True).start()  # it must never wait for us
        return p

    def run(self, *line, stdin="", code=0):
        """Run a command to its end; its exit code is expected."""
        p = subprocess.run(line, env=self.env, input=stdin, capture_output=True, text=True, timeout=120)
        if code is not None:
            expect(p.returncode, code, f"exit code of {' '.join(line[:4])}: {p.stderr[-400:]}")
        return p

    def end(self, p):
        """Ask a process to end, and wait. Its exit code."""
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
        try:
            return p.wait(WITHIN)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            return -signal.SIGKILL

    def end_all(self):
        """End what is left, with what it started: each was made the leader of a group of its own."""
        for p in reversed(self.all):
            self.end(p)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)


class Table:
    """What was checked. A check that fails is told, and the rest goes on; what one returns is told beside it."""

    def __init__(self):
        self.passed, self.failed, self.lock = 0, 0, threading.Lock()

    def check(self, group, name, run, *args):
        began = time.monotonic()
        try:
            note = run(*args)
            says, ok = f"ok, {note}" if note else "ok", True
        except Exception as wrong:  # whatever it is, it is told and counted
            says, ok = f"FAILED: {type(wrong).__name__}: {wrong}", False
        with self.lock:
            self.passed, self.failed = self.passed + ok, self.failed + (not ok)
            print(f"{group:<10} {name:<76} {time.monotonic() - began:5.1f} s  {says}", flush=True)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]
