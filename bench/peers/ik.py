"""Inverse kinematics of the SO-101 by one peer: ik.py PEER position|pose COUNT. Targets are where random joints within
their limits put the tip, the seed is the middle of the limits. Solved is what this file's own kinematics finds within the
limits and within 1 mm of the target (a pose: and within 1 degree)."""
import os
import sys
import tempfile
import time
from importlib.metadata import version

import numpy as np

from so101 import LIMIT, LINKS, TIP, dls, emit, fk, frame, mjcf, spread, urdf

MIDDLE = np.zeros(5)


def numpy_(pose):
    return "damped least squares in numpy", np.__version__, lambda p, r: dls(p, MIDDLE)[0]


def rtb(pose):
    from roboticstoolbox import ET
    chain = None
    for i, (link, limit) in enumerate(zip(LINKS, LIMIT)):
        step = ET.SE3(link) * ET.Rz(jindex=i, qlim=[-limit, limit])
        chain = step if chain is None else chain * step
    chain = chain * ET.SE3(frame(TIP, np.eye(3)))
    weights = np.array([1, 1, 1] + ([0.1] * 3 if pose else [0.0] * 3))
    return "roboticstoolbox ik_LM", version("roboticstoolbox-python"), lambda p, r: chain.ik_LM(frame(p, r), q0=MIDDLE, mask=weights, tol=1e-7).q


def ikpy(pose):
    from ikpy.chain import Chain
    path = os.path.join(tempfile.mkdtemp(), "so101.urdf")
    with open(path, "w") as f:
        f.write(urdf())
    chain = Chain.from_urdf_file(path, base_elements=["l0"])
    moves = [link.joint_type == "revolute" for link in chain.links]
    chain = Chain(chain.links, active_links_mask=moves)
    more = {"orientation_mode": "all"} if pose else {}
    return "ikpy", version("ikpy"), lambda p, r: chain.inverse_kinematics(p, r if pose else None, initial_position=np.zeros(len(moves)), **more)[moves]


def mink(pose):
    import mink
    import mujoco
    model = mujoco.MjModel.from_xml_string(mjcf())
    now = mink.Configuration(model)
    task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=0.1 if pose else 0.0, lm_damping=1e-3)
    limits = [mink.ConfigurationLimit(model)]

    def solve(p, r):
        now.update(MIDDLE.copy())
        task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(r), p))
        for _ in range(100):
            now.integrate_inplace(mink.solve_ik(now, [task], 1.0, "daqp", damping=1e-6, limits=limits), 1.0)
            e = task.compute_error(now)
            if np.linalg.norm(e[:3]) < 5e-4 and (not pose or np.linalg.norm(e[3:]) < 8e-3):
                break
        return now.q.copy()
    return "mink, at most 100 steps", version("mink"), solve


def placo(pose):
    import placo
    path = os.path.join(tempfile.mkdtemp(), "so101.urdf")
    with open(path, "w") as f:
        f.write(urdf())
    robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    solver.enable_joint_limits(True)
    task = solver.add_frame_task("tip", np.eye(4)) if pose else solver.add_position_task("tip", np.zeros(3))
    task.configure("tip", "soft", *([1.0, 0.1] if pose else [1.0]))
    solver.add_regularization_task(1e-5)

    def solve(p, r):
        for i in range(5):
            robot.set_joint(f"j{i}", 0.0)
        robot.update_kinematics()
        if pose:
            task.T_world_frame = frame(p, r)
        else:
            task.target_world = p
        for _ in range(100):
            solver.solve(True)
            robot.update_kinematics()
            at = robot.get_T_world_frame("tip")
            if np.linalg.norm(at[:3, 3] - p) < 5e-4 and (not pose or np.trace(at[:3, :3].T @ r) > 3 - 64e-6):
                break
        return np.array([robot.get_joint(f"j{i}") for i in range(5)])
    return "placo, at most 100 steps", version("placo"), solve


def solved(q, p, r, pose):
    if q.shape != (5,) or not np.isfinite(q).all() or (np.abs(q) > LIMIT + 1e-6).any():
        return False
    tip, rot = fk(q)
    turn = np.degrees(np.arccos(max(-1.0, min(1.0, (np.trace(rot.T @ r) - 1) / 2))))
    return bool(np.linalg.norm(tip - p) < 1e-3 and (not pose or turn < 1))


peer, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
pose = work == "pose"
name, ver, solve = {"numpy": numpy_, "rtb": rtb, "ikpy": ikpy, "mink": mink, "placo": placo}[peer](pose)
rng = np.random.default_rng(7)
targets = [fk(q) for q in rng.uniform(-LIMIT, LIMIT, (count, 5))]
for p, r in targets[:20]:
    solve(p, r)
us, good = [], 0
for p, r in targets:
    start = time.perf_counter_ns()
    try:
        q = np.asarray(solve(p, r), float)
    except Exception:
        q = np.full(5, np.nan)
    us.append((time.perf_counter_ns() - start) / 1000)
    good += solved(q, p, r, pose)
emit("ik", name, ver, work, answer=f"{100 * good / count:.2f} %", **spread(us))
