"""Prints what peers and product measured in one run as tables, each row with its median over the product's:
report.py PEERS.jsonl DECIDE.jsonl IK.jsonl"""
import json
import sys


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


peers, decide, ik = (lines(p) for p in sys.argv[1:4])
ours = {"shape": {}, "decide": {}, "ik": {}}
for r in decide:
    name = r["case"].removeprefix("reading and shape, ")
    ours["decide" if name == r["case"] else "shape"][name] = r
for r in ik:
    work = {"best": "position", "best pose": "pose"}.get(r["solver"])
    if work:
        ours["ik"][work] = r | {"answer": f"{r['success_pct']:.2f} %"}

TIMES = ("min_us", "median_us", "p99_us")
TITLES = {
    "shape": "One 90-byte call read and its shape checked",
    "decide": "From raw text to the verdict (Interlock: with conditions over facts, plan and path sweep; the tool layer: reach alone)",
    "ik": "Inverse kinematics of the SO-101, random reachable targets, within 1 mm (pose: and 1 degree)",
}


def number(v):
    return f"{v:,.0f}" if v >= 1000 else f"{v:.1f}" if v >= 100 else f"{v:.2f}"


def print_table(head, rows, left=4):
    table = [head, *rows]
    wide = [max(len(r[i]) for r in table) for i in range(len(head))]
    for k, r in enumerate(table):
        print("  ".join(c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(r, wide))).rstrip())
        if k == 0:
            print("  ".join("─" * w for w in wide))


for part, title in TITLES.items():
    rows = []
    for work, own in ours[part].items():
        theirs = [r for r in peers if r["part"] == part and r["work"] == work]
        if not theirs:
            continue
        for r in [own | {"peer": "Interlock", "version": ""}, *sorted(theirs, key=lambda r: r["median_us"])]:
            times = [number(r[k]) for k in TIMES]
            rows.append([work if r["peer"] == "Interlock" else "", r["peer"], r["version"], r["answer"], *times, f"× {number(r['median_us'] / own['median_us'])}"])
    print(f"{title}\n")
    print_table(["work", "by", "version", "solved" if part == "ik" else "answer", "min µs", "median µs", "p99 µs", "median ÷ ours"], rows)
    print()

print("All of Interlock; a limit is what the median promises to stay under\n")
rows = [[r["case"], r["answer"], str(r.get("limit_us", "")), *(number(r[k]) for k in TIMES), f"{r['allocs']:.0f}"] for r in decide]
rows += [[f"kinematics: {r['solver']}", f"{r['success_pct']:.2f} %", "", *(number(r[k]) for k in TIMES), f"{r['allocs']:.0f}"] for r in ik]
print_table(["case", "answer", "limit µs", "min µs", "median µs", "p99 µs", "allocs"], rows, left=2)
crowd = [r["median_us"] for r in decide if r["case"].startswith("one of ")]
print(f"\nFrom the fewest to the most capabilities the median of a call changes by a factor of {crowd[-1] / crowd[0]:.2f}.")
print("The times of ajv are those of a hundred calls, divided.\n")
