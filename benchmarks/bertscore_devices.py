"""BERTScore of the same pairs on the CPU and on the GPU: the largest difference, and pairs a second.

.venv/bin/python benchmarks/bertscore_devices.py --device cuda
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

OWN = "纳税人应当在规定的期限内办理申报，并按照核定的税额缴纳税款，逾期的加收滞纳金。"
OTHER = "纳税人须于期限届满前申报，税款按核定数缴纳，逾期缴纳的要加收滞纳金。"


def main() -> int:
    """Score, print a table; 1 where the devices differ by more than a thousandth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", type=Path, default=Path("weights/multilingual-e5-small"))
    parser.add_argument("--layer", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=256)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    chosen = parser.parse_args()
    import torch
    from bert_score import BERTScorer

    torch.set_num_threads(1)
    references = [f"第{at}条。{OWN * (1 + at % 4)}" for at in range(chosen.pairs)]
    candidates = [f"第{at}条。{OTHER * (1 + at % 3)}" for at in range(chosen.pairs)]
    found = {}
    print("| device | pairs a second |\n|---|---:|")
    for device in dict.fromkeys(("cpu", chosen.device)):
        scorer = BERTScorer(model_type=str(chosen.encoder), num_layers=chosen.layer, device=device)
        scorer.score(candidates[:8], references[:8])
        begin = time.monotonic()
        found[device] = scorer.score(candidates, references)[2]
        print(f"| {device} | {chosen.pairs / (time.monotonic() - begin):.1f} |")
    furthest = max(float((scores - found["cpu"]).abs().max()) for scores in found.values())
    print(f"\nLargest difference of F between devices: {furthest:.6f}")
    return 0 if furthest < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
