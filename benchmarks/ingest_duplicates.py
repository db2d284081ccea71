"""Near-duplicates among many short documents: time, peak memory, and whether the planted ones were found.

One in ten documents repeats an earlier one with other punctuation and a word of thanks. The reference is datasketch
used plainly: MinHash and LSH alone, without the exact comparison.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stages.ingest.near_duplicates import drop_duplicates
from stages.ingest.outcome import Place, new_document
from taxpraben.records.document import Document, DocumentPart
from taxpraben.text.shingles import shingles

_WORDS = re.findall(
    r"\S+",
    "纳税人 增值税 申报 发票 企业 所得税 应当 可以 抵扣 进项 税额 规定 期限 办理 登记 优惠 政策 备案 小规模 "
    "一般 计税 销售额 免征 减按 征收率 财产 租赁 合同 印花税 土地 房产 扣除 专项 附加 子女 教育 继续 住房 "
    "贷款 利息 赡养 老人 汇算 清缴 补税 退税 电子 税务局 窗口 提交 资料 证明 复印件 单位 个人 收入 劳务 报酬",
)
LEAST = 0.85


def make_documents(count: int) -> tuple[list[Document], int]:
    """Board posts of some 120 characters by seed, one in ten a near-duplicate; and how many of these there are."""
    draw = random.Random(1)
    texts: list[str] = []
    planted = 0
    for number in range(count):
        if number % 10 == 9:
            text = texts[draw.randrange(len(texts))].replace("，", "、", 1) + "谢谢"
            planted += 1
        else:
            clauses = ("".join(draw.choices(_WORDS, k=draw.randint(2, 5))) for _ in range(draw.randint(8, 16)))
            text = "，".join(clauses) + f"，共{draw.randint(1, 99999)}元。"
        texts.append(text)
    return [
        new_document(
            Place("s", "sites", f"{number:06}.html"), "board", "题", text,
            [DocumentPart(kind="body", label="正文", text=text)],
        )
        for number, text in enumerate(texts)
    ], planted  # fmt: skip


def ours(documents: list[Document]) -> int:
    """How many our cleaning drops."""
    return len(drop_duplicates(documents, LEAST)[1])


def plain(documents: list[Document]) -> int:
    """How many have an earlier candidate in datasketch's index as its manual shows it."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=LEAST, num_perm=128)
    repeated = 0
    for document in documents:
        sketch = MinHash(num_perm=128)
        for shingle in shingles(document.text, 3):
            sketch.update(shingle.encode())
        if index.query(sketch):
            repeated += 1
        else:
            index.insert(document.document_id, sketch)
    return repeated


def main() -> None:
    """Run each side in a process of its own, so that each has its own peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--side", choices=["ours", "plain"], help="run one side here")
    options = parser.parse_args()
    if options.side:
        documents, planted = make_documents(options.documents)
        made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        dropped = {"ours": ours, "plain": plain}[options.side](documents)
        took = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        memory = f"{peak / 2**20:.2f} GiB | {(peak - made) / 2**20:.2f} GiB"
        print(
            f"| {options.side} | {took:.1f} s | {len(documents) / took:,.0f} | {memory} | {dropped:,} ({planted:,}) |"
        )
        return
    print(f"{options.documents:,} documents of some 120 characters\n")
    print("| side | time | documents a second | peak | above the documents | dropped (planted) |")
    print("|---|---:|---:|---:|---:|---:|")
    for side in ("ours", "plain"):
        command = [sys.executable, __file__, "--documents", str(options.documents), "--side", side]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
