"""BERTScore over the paper's protocol: this project's scoring against bert-score called plainly, in one run.

Several models answer the same items in two settings and five runs. Plain: ``bert_score.score`` once a model, setting
and run, as its users do. Ours: what ``python -m stages.score`` does for one model after the other, each with a metric
of its own that takes the references from disk. Two cases: the five runs of a model gave equal answers (temperature 0),
and every answer differs. Each side runs in a process of its own; the clock starts after the imports and includes
loading the encoder; memory is the process's largest resident size.

Ends with status 1 where the values differ by 1e-5 or more, our memory is higher, or we are not as fast as claimed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.scoring_texts import Answered, make_answers  # noqa: E402

CLAIMS = {"equal": 8.0, "differ": 2.0}
TITLES = {"equal": "the five runs gave equal answers", "differ": "every answer differs"}
CLOSE = 1e-5


def plain(calls: list[Answered], encoder: Path, layer: int) -> list[float]:
    """F of every pair by the package, one call a model, setting and run."""
    import bert_score

    values: list[float] = []
    for call in calls:
        references, candidates = zip(*call.pairs, strict=True)
        found = bert_score.score(list(candidates), list(references), model_type=str(encoder), num_layers=layer)
        values.extend(float(value) for value in found[2])
    return values


def ours(calls: list[Answered], encoder: Path, layer: int) -> list[float]:
    """F of every pair by this project: one metric a model under test, references kept on disk between them."""
    from stages.score.keep import ScoreKeep
    from stages.score.values import values_of
    from taxpraben.metrics import Pair, find_metric

    values: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for model in sorted({call.model for call in calls}):
            metric = find_metric("bertscore", {"model": str(encoder), "layer": layer})
            metric.prepare(Path(folder))
            pairs = [
                Pair(reference=reference, candidate=candidate, compared="text")
                for call in calls
                if call.model == model
                for reference, candidate in call.pairs
            ]
            with ScoreKeep(Path(folder) / "scores.sqlite") as keep:
                scores = values_of(metric, pairs, keep, lambda _: None).scores
            values.extend(scores[pair].value or 0.0 for pair in pairs)
    return values


def one_side(args: argparse.Namespace) -> None:
    """What the child process does: score, and print time, memory and values as JSON."""
    import bert_score
    import torch
    from transformers.utils import logging

    import stages.score.values  # noqa: F401  the clock starts after the imports

    del bert_score
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(args.threads)
    calls = _calls(args, args.case)
    started, busy = time.perf_counter(), time.process_time()
    values = (plain if args.side == "plain" else ours)(calls, args.encoder, args.layer)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "busy": busy, "peak": peak, "values": values}))


def _calls(args: argparse.Namespace, case: str) -> list[Answered]:
    items = -(-args.pairs // (args.models * args.settings * args.runs))
    return make_answers(args.models, args.settings, args.runs, items, differ=case == "differ")


def _child(args: argparse.Namespace, case: str, side: str) -> dict[str, float | list[float]]:
    given = [
        f"--{name}={getattr(args, name)}"
        for name in ("pairs", "models", "settings", "runs", "threads", "encoder", "layer")
    ]
    command = [sys.executable, __file__, f"--side={side}", f"--case={case}", *given]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float | list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Run both cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2000, help="pairs of a case, rounded up to whole calls")
    parser.add_argument("--models", type=int, default=3, help="models under test")
    parser.add_argument("--settings", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="torch threads of both sides")
    parser.add_argument("--encoder", type=Path, default=ROOT / "weights" / "multilingual-e5-small")
    parser.add_argument("--layer", type=int, default=7)
    parser.add_argument("--side", choices=("plain", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--case", choices=tuple(CLAIMS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        one_side(args)
        return 0
    broken: list[str] = []
    print("| case | pairs | distinct | bert-score | ours | times faster | by CPU time | largest difference | peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for case, claim in CLAIMS.items():
        pairs = [pair for call in _calls(args, case) for pair in call.pairs]
        theirs, mine = _child(args, case, "plain"), _child(args, case, "ours")
        apart = max(abs(a - b) for a, b in zip(theirs["values"], mine["values"], strict=True))  # type: ignore[arg-type]
        faster = theirs["seconds"] / mine["seconds"]  # type: ignore[operator]
        busy = theirs["busy"] / mine["busy"]  # type: ignore[operator]
        sides = f"{theirs['seconds']:.1f} s | {mine['seconds']:.1f} s"
        print(
            f"| {TITLES[case]} | {len(pairs)} | {len(set(pairs))} | {sides} "
            f"| {faster:.1f} | {busy:.1f} | {apart:.1e} | {theirs['peak']:.0f} against {mine['peak']:.0f} MiB |",
            flush=True,
        )
        if apart >= CLOSE:
            broken.append(f"{case}: values differ by {apart:.1e}")
        if mine["peak"] > theirs["peak"]:  # type: ignore[operator]
            broken.append(f"{case}: our memory is higher")
        if faster < claim:
            broken.append(f"{case}: {faster:.1f} times faster, claimed {claim:.0f}")
    print("\n" + ("; ".join(broken) if broken else "equal results, memory no higher, as fast as claimed"))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
