#!/usr/bin/env python3
"""Times public operators of sequence models on a GPU beside ours.

usage: mixers_gpu.py --peers FOLDER [--ours JSON ...] [--json FILE] [--limit SECONDS] [--only WORD]

FOLDER is what pack_mixers_gpu.sh packs, unpacked. JSON files are what the GPU benchmarks of the same
run wrote with --json (bench_ssd, bench_selective_scan, bench_conv1d, bench_gated_norm). torch and triton must be there already.

Two times of a peer: device time in a captured CUDA graph, and from event to event around a call that
Python makes. Both are medians of 20. All operands are in bf16, each larger than the second-level cache.
Errors are largest errors over largest numbers, against the definition in float64 with the same operands
rounded to bf16: 1024 tokens of one sequence; the worst of the value and of all gradients.
"""
import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

beginning = time.monotonic()
parser = argparse.ArgumentParser()
parser.add_argument("--peers", required=True)
parser.add_argument("--ours", nargs="*", default=[])
parser.add_argument("--json")
parser.add_argument("--limit", type=float, default=85, help="no row is begun after so many seconds")
parser.add_argument("--only", default="")
parser.add_argument("--compile", nargs=3, metavar=("GROUP", "PART", "PARTS"),
                    help="compile kernels of a group of rows only, a part of their configurations")
options = parser.parse_args()

# Compiled kernels are kept for the processes that compile them side by side, and for later runs.
for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
    os.environ.setdefault(name, str(Path(tempfile.gettempdir()) / f"mixers_gpu_{name}"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import triton  # noqa: E402
from triton.runtime.autotuner import Autotuner  # noqa: E402

sys.path.insert(0, options.peers)
# Packages whose own beginning imports whole models: only the modules asked for.
for name in ("mamba_ssm", "mamba_ssm.ops", "fla.ops", "fla.modules"):
    package = types.ModuleType(name)
    package.__path__ = [str(Path(options.peers, *name.split(".")))]
    sys.modules[name] = package

device = torch.device("cuda")


def initialise_tuner(initialise):
    def changed(self, fn, arg_names, configs, *rest, **keywords):
        if options.compile and configs:
            part, parts = int(options.compile[1]), int(options.compile[2])
            configs = configs[part::parts] or [configs[part % len(configs)]]
        initialise(self, fn, arg_names, configs, *rest, **keywords)
        if options.compile:
            self._do_bench = lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1]
        elif self._do_bench is None:
            self._do_bench = lambda call, quantiles: triton.testing.do_bench(
                call, warmup=5, rep=20, quantiles=quantiles)
    return changed


Autotuner.__init__ = initialise_tuner(Autotuner.__init__)


def graph_ms(call):
    """Device time of a call."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return eager_ms(graph.replay)


def eager_ms(call):
    times = []
    for _ in range(23):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


def uniform(*shape, dtype=torch.bfloat16, centre=0.0, seed=[0]):
    seed[0] += 1
    generator = torch.Generator(device).manual_seed(seed[0])
    values = torch.rand(*shape, device=device, generator=generator) - 0.5 + centre
    return values.to(dtype).requires_grad_(dtype.is_floating_point)


def error(values, expected):
    """The worst of several arrays, each relative to its largest number."""
    with torch.no_grad():
        return max(float((v.double() - e).abs().max() / e.abs().max()) for v, e in zip(values, expected))


def forward_and_gradients(function, operands, y_bar):
    y = function(*operands)
    wanted = [o for o in operands if o.requires_grad]
    return [y, *torch.autograd.grad(y, wanted, y_bar)]


def doubles(operands):
    return [o.detach().double().requires_grad_(o.requires_grad) for o in operands]


class Operator:
    """A public operator, `function(*operands())`, and its definition in float64 on fewer tokens."""

    def __init__(self, name, function, operands, checked, definition, gradients=True):
        self.name, self.function, self.operands = name, function, operands
        self.checked, self.definition, self.gradients = checked, definition, gradients

    def measure(self):
        operands = self.operands()
        with torch.no_grad():
            y = self.function(*operands)
            forward = graph_ms(lambda: self.function(*operands)), eager_ms(lambda: self.function(*operands))
        both = None
        if self.gradients:
            y_bar = torch.randn_like(y)
            call = lambda: forward_and_gradients(self.function, operands, y_bar)  # noqa: E731
            call()
            both = graph_ms(call), eager_ms(call)
        del operands, y
        operands = self.checked()
        if self.gradients:
            y_bar = torch.randn_like(self.function(*operands))
            got = forward_and_gradients(self.function, operands, y_bar)
            expected = forward_and_gradients(self.definition, doubles(operands), y_bar.double())
            errors = error(got[:1], expected[:1]), error(got[1:], expected[1:])
        else:
            with torch.no_grad():
                errors = error([self.function(*operands)], [self.definition(*doubles(operands))]), None
        torch.cuda.empty_cache()
        return forward, both, errors

    def compile(self):
        operands = self.operands()
        y = self.function(*operands)
        if self.gradients:
            torch.autograd.grad(y, [o for o in operands if o.requires_grad], torch.randn_like(y))
        torch.cuda.synchronize()


# SSD and the quasiseparable mixer.

def semiseparable_operands(batch, length, heads, channels, states):
    return (uniform(batch, length, heads, channels), uniform(batch, length, heads),
            uniform(heads, dtype=torch.float32, centre=-1.0), uniform(batch, length, 1, states),
            uniform(batch, length, 1, states), uniform(heads, dtype=torch.float32),
            uniform(heads, dtype=torch.float32))


def mamba_ssd(x, dt, a, b, c, d, bias):
    combined = importlib.import_module("mamba_ssm.ops.triton.ssd_combined")
    return combined.mamba_chunk_scan_combined(x, dt, a, b, c, 256, D=d, dt_bias=bias, dt_softplus=True)


def decays(steps, a):
    """exp(sum of a dt over the tokens after j, to i), for i >= j: (batch, head, i, j)."""
    sums = (steps * a).cumsum(1).transpose(1, 2)
    differences = sums[..., :, None] - sums[..., None, :]
    later = torch.ones(differences.shape[-2:], dtype=torch.bool, device=device).triu(1)
    return differences.masked_fill(later, -torch.inf).exp()


def one_direction(x, dt, a, b, c, bias):
    steps = F.softplus(dt + bias)
    products = torch.einsum("bign,bjgn->bgij", c, b)
    return torch.einsum("bhij,bjhp->bihp", decays(steps, a) * products, x * steps[..., None])


def ssd_definition(x, dt, a, b, c, d, bias):
    return one_direction(x, dt, a, b, c, bias) + x * d[:, None]


def hydra_operands(batch, length, heads, channels, states):
    return (*semiseparable_operands(batch, length, heads, channels, states), uniform(batch, length, heads),
            uniform(batch, length, 1, states), uniform(batch, length, 1, states),
            uniform(batch, length, heads))


def shifted(y):
    y = torch.roll(y, shifts=1, dims=1)
    y[:, 0] = 0
    return y


def hydra_core(x, dt, a, b, c, d, bias, dt2, b2, c2, delta):
    combined = importlib.import_module("mamba_ssm.ops.triton.ssd_combined")
    both = [torch.cat([u, v.flip(1)]) for u, v in ((x, x), (dt, dt2), (b, b2), (c, c2))]
    y = combined.mamba_chunk_scan_combined(both[0], both[1], a, both[2], both[3], 256, dt_bias=bias,
                                           dt_softplus=True)
    forward, backward = shifted(y).chunk(2)
    return forward + backward.flip(1) + x * (delta + d)[..., None].to(x.dtype)


def hydra_definition(x, dt, a, b, c, d, bias, dt2, b2, c2, delta):
    forward = one_direction(x, dt, a, b, c, bias)
    backward = one_direction(x.flip(1), dt2.flip(1), a, b2.flip(1), c2.flip(1), bias)
    return shifted(forward) + shifted(backward).flip(1) + x * (delta + d)[..., None]


def gla_operands(batch, length, heads, channels, states):
    """Keys and queries of each head, and steps in the values, as this operator wants them."""
    return (uniform(batch, length, heads, states), uniform(batch, length, heads, states),
            uniform(batch, length, heads, channels),
            uniform(batch, length, heads, dtype=torch.float32, centre=-0.75))


def simple_gla(c, b, x, g):
    chunk = importlib.import_module("fla.ops.simple_gla.chunk")
    return chunk.chunk_simple_gla(c, b, x, g, scale=1.0)[0]


def gla_definition(c, b, x, g):
    products = torch.einsum("bihn,bjhn->bhij", c, b)
    return torch.einsum("bhij,bjhp->bihp", decays(g, torch.ones_like(g[0, 0])) * products, x)


# Selective scans.

def scan_operands(batch, length, channels, states):
    return (uniform(batch, length, channels), uniform(batch, length, channels),
            uniform(channels, states, dtype=torch.float32, centre=-1.0), uniform(batch, length, states),
            uniform(batch, length, states), uniform(channels, dtype=torch.float32))


def scan_terms(x, dt, a, b):
    steps = F.softplus(dt)
    return (steps[..., None] * a).exp(), (steps * x)[..., None] * b[..., None, :]


@torch.compile
def torch_scan(x, dt, a, b, c, d):
    from torch._higher_order_ops.associative_scan import associative_scan
    factors, inputs = scan_terms(x.float(), dt.float(), a, b.float())
    states = associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (factors, inputs), 1)[1]
    return ((states * c.float()[..., None, :]).sum(-1) + x.float() * d).to(x.dtype)


def scan_definition(x, dt, a, b, c, d):
    factors, inputs = scan_terms(x, dt, a, b)
    state, outputs = torch.zeros_like(inputs[:, 0]), []
    for i in range(x.shape[1]):
        state = factors[:, i] * state + inputs[:, i]
        outputs.append((state * c[:, i, None]).sum(-1))
    return torch.stack(outputs, 1) + x * d


# Short convolutions.

def conv_operands(batch, length, channels, taps):
    return (uniform(batch, length, channels), uniform(channels, taps, dtype=torch.float32),
            uniform(channels, dtype=torch.float32))


def fla_conv(x, w, bias):
    conv = importlib.import_module("fla.modules.causal_conv1d.ops")
    return conv.causal_conv1d(x, w, bias, activation="silu", backend="triton")[0]


def conv_definition(x, w, bias):
    w, bias = w.to(x.dtype), bias.to(x.dtype)
    y = F.conv1d(x.transpose(1, 2), w[:, None], bias, padding=w.shape[1] - 1, groups=w.shape[0])
    return F.silu(y[..., :x.shape[1]]).transpose(1, 2)


# Gated norms.

def norm_operands(rows, channels):
    return uniform(rows, channels), uniform(rows, channels), uniform(channels, dtype=torch.float32, centre=1.0)


def mamba_norm(x, z, w):
    norm = importlib.import_module("mamba_ssm.ops.triton.layernorm_gated")
    return norm.rmsnorm_fn(x, w, None, z=z, eps=1e-5, norm_before_gate=True)


def fla_norm(x, z, w):
    norm = importlib.import_module("fla.modules.norm.fused_norm_gate")
    return norm.rms_norm_gated(x, z, w, None, activation="swish", eps=1e-5)


def norm_definition(x, z, w):
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w * F.silu(z)


first, long = (8, 4096, 32, 64, 128), (1, 131072, 32, 64, 128)
ssd = "mamba-ssm 2.3.2.post1 SSD"
scan = r"selective scan bf16 batch 8 L 4096 D 2048 N 16"
hydra = "Hydra's core on mamba-ssm's SSD"


def operator(name, function, operands, shape, checked, definition, gradients=True):
    return Operator(name, function, lambda: operands(*shape), lambda: operands(*checked), definition, gradients)


# Group of rows, pattern of our rows, work, peer, what must be reached (forward, forward and gradients).
rows = [
    ("ssd", r"SSD bf16 b8 L4096 H32 P64 N128", "SSD b8 L4096 H32 P64 N128",
     operator(ssd, mamba_ssd, semiseparable_operands, first, (1, 1024, *first[2:]), ssd_definition), (0.36, 1.8)),
    ("hydra", r"quasiseparable bf16 b8 L4096 H32 P64 N128", "quasiseparable b8 L4096 H32 P64 N128",
     operator(hydra, hydra_core, hydra_operands, first, (1, 1024, *first[2:]), hydra_definition), (0.9, 3.6)),
    ("conv", r"bf16 b8 L4096 C2304 w4", "conv1d silu w4 b8 L4096 C2304",
     operator("fla-core 0.6.0 Triton", fla_conv, conv_operands, (8, 4096, 2304, 4), (1, 1024, 2304, 4),
              conv_definition), (0.12, 0.5)),
    ("norm", r"bf16 32768 x 2048 gate after", "gated RMSNorm 32768 x 2048",
     operator("mamba-ssm 2.3.2.post1 Triton", mamba_norm, norm_operands, (32768, 2048), (1024, 2048),
              norm_definition), (0.14, 0.45)),
    ("long", r"SSD bf16 b1 L131072 H32 P64 N128", "SSD b1 L131072 H32 P64 N128",
     operator(ssd, mamba_ssd, semiseparable_operands, long, (1, 1024, *long[2:]), ssd_definition), (1.6, 7.0)),
    ("norm", r"bf16 32768 x 2048 gate after", "gated RMSNorm 32768 x 2048",
     operator("fla-core 0.6.0 Triton", fla_norm, norm_operands, (32768, 2048), (1024, 2048), norm_definition),
     (0.14, 0.45)),
    ("torch", r"bf16 b8 L4096 C2304 w4", "conv1d silu w4 b8 L4096 C2304",
     operator("torch depthwise", conv_definition, conv_operands, (8, 4096, 2304, 4), (1, 1024, 2304, 4),
              conv_definition), (0.12, 0.5)),
    ("gla", r"SSD bf16 b8 L4096 H32 P64 N128", "SSD b8 L4096 H32 P64 N128",
     operator("fla-core 0.6.0 simple_gla", simple_gla, gla_operands, first, (1, 1024, *first[2:]), gla_definition),
     (0.36, 1.8)),
    ("scan", scan, "selective scan b8 L4096 D2048 N16",
     operator("torch.compile associative_scan", torch_scan, scan_operands, (8, 4096, 2048, 16),
              (1, 1024, 2048, 16), scan_definition, gradients=False), (0.8, 3.0)),
]
# Parts in which the configurations of a group are compiled side by side.
parts = {"ssd": 6, "hydra": 3, "long": 3, "conv": 2, "norm": 1, "gla": 3, "scan": 1}


def compile_part():
    group = options.compile[0]
    for key, _, _, peer, _ in rows:
        if key == group:
            if group == "long":  # the same kernels: that the batch is 1 is compiled in, not the length
                peer.operands = lambda: semiseparable_operands(1, 4096, *long[2:])
            peer.compile()


def compile_all():
    """Triton compiles one kernel after another, a second each: here, all processors do."""
    command = [sys.executable, __file__, "--peers", options.peers, "--compile"]
    groups = {key for key, *_ in rows if options.only in key}
    running = [(group, subprocess.Popen([*command, group, str(i), str(n)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True))
               for group, n in parts.items() if group in groups for i in range(n)]
    for group, process in running:
        try:
            _, problems = process.communicate(timeout=max(1, 0.6 * options.limit - time.monotonic() + beginning))
        except subprocess.TimeoutExpired:
            process.kill()
            problems = "not ready"
        if process.returncode:
            print(f"# compiling {group}: {problems.strip().splitlines()[-1:]}", file=sys.stderr)
        process.wait()


kinds = {"forward": "forward", "reverse": "reverse", "backward": "reverse", "both": "both",
         "forward and backward": "both"}


def ours(pattern):
    """Our rows of a work: forward, reverse, both."""
    found = {}
    for file in options.ours:
        if not Path(file).exists():
            continue
        for row in json.loads(Path(file).read_text()):
            if re.search(pattern, row["name"]):
                kind = re.search(r"(forward and backward|both|reverse|backward|forward)$", row["name"])
                if kind:
                    found.setdefault(kinds[kind[1]], row)
    if "both" not in found and {"forward", "reverse"} <= found.keys():
        sums = {key: found["forward"][key] + found["reverse"][key] for key in ("ours_ms", "floor_ms")
                if found["forward"][key] and found["reverse"][key]}
        found["both"] = {**found["reverse"], **sums}
    return found


def cell(value, form):
    return "" if value is None else form % value


def main():
    if options.compile:
        compile_part()
        return
    compile_all()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}; kernels ready "
          f"after {time.monotonic() - beginning:.0f} s; all bf16")
    head = ("work", "peer", "ours ms", "peer ms", "(eager)", "peer/ours", "must", "floor", "of floor", "our err",
            "peer err")
    line = "%-38s %-32s %9s %9s %9s %9s %6s %7s %8s %8s %8s"
    print(line % head)
    results = []
    for group, pattern, work, peer, targets in rows:
        if options.only not in group:
            continue
        start = time.monotonic()
        if start - beginning > options.limit:
            print(f"# left out, no time: {work}, {peer.name}")
            continue
        try:
            forward, both, errors = peer.measure()
        except Exception as problem:  # one peer that does not run must not hide the others
            print(f"# {work}, {peer.name}: {type(problem).__name__}: {str(problem)[-300:]}")
            torch.cuda.synchronize()
            continue
        here = ours(pattern)
        for kind, times, target, peer_error in (("forward", forward, targets[0], errors[0]),
                                                ("both", both, targets[1], errors[1])):
            if times is None:
                continue
            row = here.get(kind, {})
            mine, floor = row.get("ours_ms"), row.get("floor_ms")
            own = row.get("error") or (here.get("reverse", {}).get("error") if kind == "both" else None)
            results.append({"work": f"{work} {kind}", "peer": peer.name, "ours_ms": mine, "peer_ms": times[0],
                            "peer_eager_ms": times[1], "floor_ms": floor, "target_ms": target, "error": own,
                            "peer_error": peer_error})
            print(line % (f"{work} {kind}"[:38], peer.name, cell(mine, "%.3f"), cell(times[0], "%.3f"),
                          cell(times[1], "%.3f"), cell(mine and times[0] / mine, "%.2f"), target,
                          cell(floor, "%.3f"), cell(mine and floor and floor / mine, "%.2f"), cell(own, "%.1e"),
                          cell(peer_error, "%.1e")), flush=True)
        print(f"# {time.monotonic() - start:.1f} s", file=sys.stderr)
    # A CUDA extension, not built here: what it took on one H200 before.
    here = ours(scan)
    for kind, ms, target in (("forward", 1.21, 0.8), ("reverse", 4.78, 3.0)):
        row = here.get(kind, {})
        mine, floor = row.get("ours_ms"), row.get("floor_ms")
        print(line % (f"selective scan {kind}", "mamba-ssm CUDA, another run", cell(mine, "%.3f"), ms, "",
                      cell(mine and ms / mine, "%.2f"), target, cell(floor, "%.3f"),
                      cell(mine and floor and floor / mine, "%.2f"), cell(row.get("error"), "%.1e"), ""))
    print(f"in all {time.monotonic() - beginning:.0f} s")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))


main()
