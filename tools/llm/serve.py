"""Serves one model over HTTP on the loopback address, with one thread: serve.py GGUF PORT ALIAS.

It ends with the process that started it, so that a killed test leaves no server behind.
"""

import os
import sys
import threading

import xllamacpp


def main(model, port, alias):
    p = xllamacpp.CommonParams()
    p.model.path = model
    p.model_alias = {alias}
    p.n_ctx, p.n_parallel = 4096, 1
    # One thread: more of them spin at barriers and collapse on a busy machine.
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.hostnames, p.port = ["127.0.0.1"], port
    p.ui, p.use_jinja = False, True
    server = xllamacpp.Server(p)
    parent = os.getppid()
    while os.getppid() == parent:
        threading.Event().wait(1)
    del server


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
