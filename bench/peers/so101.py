"""The SO-101 chain in plain numpy, and how every peer is timed. Numbers of the chain: MuJoCo Menagerie,
robotstudio_so101/so101.xml (Apache-2.0), the same that package arm has. Metres and radians throughout."""
import json
import math
import os
import time

import numpy as np

POS = [(0.0388353, 0, 0.0624), (-0.0303992, -0.0182778, -0.0542), (-0.11257, -0.028, 0), (-0.1349, 0.0052, 0), (0, -0.0611, 0.0181)]
QUAT = [(0, 0, -1, 0), (1, -1, -1, -1), (1, 0, 0, 1), (1, 0, 0, -1), (0.0172091, -0.0172091, 0.706897, 0.706897)]
LIMIT = np.array([1.91986, 1.7453293, 1.69, 1.658063, 2.7438473])  # both ways
TIP = np.array([0.012, -0.000218, -0.098127])
HOME = np.radians([0, -40, 35, 75, 90])


def rotation(q):
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def frame(pos, rot):
    t = np.eye(4)
    t[:3, :3], t[:3, 3] = rot, pos
    return t


LINKS = [frame(p, rotation(q)) for p, q in zip(POS, QUAT)]


def fk(q, axes=None):
    """Position of the tip and rotation of the gripper; `axes` collects each joint's direction and origin."""
    t = np.eye(4)
    for link, a in zip(LINKS, q):
        t = t @ link
        if axes is not None:
            axes.append((t[:3, 2].copy(), t[:3, 3].copy()))
        c, s = math.cos(a), math.sin(a)
        t = t @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    return t[:3, :3] @ TIP + t[:3, 3], t[:3, :3]


def dls(target, start, steps=300, damping=0.03, close=5e-4):
    """Damped least squares as commonly taught: whole steps, clamped after each. Returns joints and what is left."""
    q = np.clip(np.asarray(start, float), -LIMIT, LIMIT)
    for _ in range(steps):
        axes = []
        tip, _ = fk(q, axes)
        e = target - tip
        if np.linalg.norm(e) < close:
            break
        j = np.column_stack([np.cross(a, tip - o) for a, o in axes])
        q = np.clip(q + j.T @ np.linalg.solve(j @ j.T + damping * damping * np.eye(3), e), -LIMIT, LIMIT)
    return q, float(np.linalg.norm(target - fk(q)[0]))


def rpy(r):
    """Angles of a rotation as URDF writes them."""
    if abs(r[2, 0]) > 1 - 1e-9:
        s = -np.sign(r[2, 0])
        return math.atan2(s * r[0, 1], r[1, 1]), s * math.pi / 2, 0.0
    return math.atan2(r[2, 1], r[2, 2]), math.asin(-r[2, 0]), math.atan2(r[1, 0], r[0, 0])


def text(numbers):
    return " ".join(f"{v:.10g}" for v in numbers)


def urdf():
    mass = '<inertial><origin xyz="0 0 0"/><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>'
    x = '<robot name="so101"><link name="l0"/>'
    for i, t in enumerate(LINKS):
        x += (f'<link name="l{i + 1}">{mass}</link><joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
              f'<origin xyz="{text(t[:3, 3])}" rpy="{text(rpy(t[:3, :3]))}"/><axis xyz="0 0 1"/>'
              f'<limit lower="{-LIMIT[i]}" upper="{LIMIT[i]}" effort="10" velocity="10"/></joint>')
    return x + f'<link name="tip"/><joint name="fixed" type="fixed"><parent link="l5"/><child link="tip"/><origin xyz="{text(TIP)}" rpy="0 0 0"/></joint></robot>'


def mjcf():
    x = '<mujoco><compiler angle="radian"/><worldbody>'
    for i, (p, q) in enumerate(zip(POS, QUAT)):
        x += (f'<body pos="{text(p)}" quat="{text(q)}"><inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'
              f'<joint name="j{i}" axis="0 0 1" range="{-LIMIT[i]} {LIMIT[i]}"/>')
    return x + f'<site name="tip" pos="{text(TIP)}"/>' + "</body>" * 5 + "</worldbody></mujoco>"


def spread(us):
    us = sorted(us)
    n = len(us)
    return {"n": n, "min_us": us[0], "median_us": us[n // 2], "p99_us": us[n * 99 // 100], "max_us": us[-1], "mean_us": sum(us) / n}


def timed(do, n):
    """Runs do n times after a tenth to warm up, each run timed by itself."""
    for _ in range(n // 10 + 1):
        do()
    us, now = [], time.perf_counter_ns
    for _ in range(n):
        start = now()
        do()
        us.append((now() - start) / 1000)
    return spread(us)


def emit(part, peer, version, work, **numbers):
    """Appends one JSON line to the file named by PEERS_OUT."""
    with open(os.environ["PEERS_OUT"], "a") as out:
        out.write(json.dumps({"part": part, "peer": peer, "version": version, "work": work, **numbers}) + "\n")
