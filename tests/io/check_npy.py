#!/usr/bin/python3
"""Exchanges files with NumPy: check_npy.py TEST_IO (the test program).

Fails, and does not skip, without NumPy.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def run(program, test, folder):
    env = dict(os.environ, STRUCTMAT_NUMPY_FOLDER=folder)
    subprocess.run([program, test], env=env, check=True)


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    dtypes = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}
    arrays = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        array = np.frombuffer(data[begin:end], dtypes[info["dtype"]]).reshape(info["shape"])
        kind = metadata.get("structmat.dtype." + name)
        arrays[name] = array.view(kind)[..., 0] if kind else array
    return arrays, metadata


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_npy(program, folder):
    rng = np.random.default_rng(1)
    arrays = {}
    for dtype in "f4 f8 c8 c16 ?1 i1 i2 i4 i8 u1 u2 u4 u8".split():
        for order in "<>":
            for layout in "CF":
                values = rng.integers(0, 100, (5, 3)) + (0.25 if dtype[0] in "fc" else 0)
                kind = "?" if dtype == "?1" else order + dtype
                arrays[f"{dtype.strip('?')}_{'le' if order == '<' else 'be'}_{layout}"] = np.array(
                    values * (1 + 2j) if dtype[0] == "c" else values, dtype=kind, order=layout)
    arrays["special"] = np.array([[np.inf, -0.0, np.nan, 5e-324]])
    arrays["empty"] = np.zeros((0, 4), np.float32)
    arrays["vector"] = np.arange(5.0)
    for name, array in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), array)
    run(program, "exchange with NumPy", folder)
    for name, array in arrays.items():
        keeps = array.dtype.kind in "fc"
        expected = array.astype(array.dtype.newbyteorder("<") if keeps else "<f8")
        expected = expected.reshape(array.shape if array.ndim == 2 else (-1, 1))
        assert same(np.load(os.path.join(folder, f"out_{name}.npy")), expected), name
    return len(arrays)


def check_safetensors(program, folder):
    run(program, "a file for NumPy", folder)
    arrays, metadata = read_safetensors(os.path.join(folder, "samples.safetensors"))
    assert metadata["made by"] == "structmat"
    count = lambda shape, dtype: np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    expected = {
        "f": count((2, 3), "<f4") / np.float32(3),
        "d": count((4,), "<f8") / 3,
        "i": np.arange(7) // 3,
        "c": (count((2, 2), "<f4") - 0.5j).astype("<c8"),
        "z": count((1, 2, 3), "<f8") - 0.5j,
    }
    assert sorted(arrays) == sorted(expected)
    for name, array in expected.items():
        assert same(arrays[name], array), name


with tempfile.TemporaryDirectory() as npy_folder:
    print("arrays exchanged:", check_npy(sys.argv[1], npy_folder))
with tempfile.TemporaryDirectory() as tensor_folder:
    check_safetensors(sys.argv[1], tensor_folder)
