"""A Qwen2 GGUF file becomes a Hugging Face folder, for what needs log-probabilities or transformers itself.

Tensors are dequantised to float16 (finer than bfloat16 for weights this small; the config asks for float32 when
loaded). The tokenizer is rebuilt from the vocabulary, merges and chat template that the file carries.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output.weight": "lm_head.weight",
    "output_norm.weight": "model.norm.weight",
}
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2 cuts text before its byte-level merges (from the model's published tokenizer)."""

NORMAL, CONTROL = 1, 3
"""GGUF token types."""


def make_qwen2_folder(source: Path, folder: Path) -> None:
    """Write config, generation config, weights and tokenizer.

    Raises:
        ValueError: the file's architecture is not qwen2.
    """
    from gguf import GGUFReader
    from safetensors.numpy import save_file

    reader = GGUFReader(str(source))

    def value(key: str) -> Any:
        return reader.fields[key].contents()

    if value("general.architecture") != "qwen2":
        raise ValueError(
            f"{source}: architecture {value('general.architecture')!r}; the step gguf-to-qwen2 wants qwen2"
        )
    tensors = _tensors(reader)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    end = int(value("tokenizer.ggml.eos_token_id"))
    tokens: list[str] = value("tokenizer.ggml.tokens")
    pad = tokens.index("<|endoftext|>")
    _write_json(
        folder / "config.json",
        {
            "architectures": ["Qwen2ForCausalLM"],
            "model_type": "qwen2",
            "hidden_act": "silu",
            "attention_dropout": 0.0,
            "use_cache": True,
            "use_sliding_window": False,
            "hidden_size": value("qwen2.embedding_length"),
            "intermediate_size": value("qwen2.feed_forward_length"),
            "num_hidden_layers": value("qwen2.block_count"),
            "num_attention_heads": value("qwen2.attention.head_count"),
            "num_key_value_heads": value("qwen2.attention.head_count_kv"),
            "max_position_embeddings": value("qwen2.context_length"),
            "rope_theta": float(value("qwen2.rope.freq_base")),
            "rms_norm_eps": round(float(value("qwen2.attention.layer_norm_rms_epsilon")), 9),
            "vocab_size": len(tokens),
            "tie_word_embeddings": "lm_head.weight" not in tensors,
            "eos_token_id": end,
            "dtype": "float32",
        },
    )
    _write_json(
        folder / "generation_config.json",
        {"eos_token_id": [end, pad], "pad_token_id": pad, "do_sample": False},
    )
    _write_tokenizer(tokens, value("tokenizer.ggml.token_type"), value("tokenizer.ggml.merges"), folder)
    _write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": value("qwen2.context_length"),
            "bos_token": None,
            "eos_token": tokens[end],
            "pad_token": tokens[pad],
            "clean_up_tokenization_spaces": False,
            "chat_template": value("tokenizer.chat_template"),
        },
    )


def _tensors(reader: Any) -> dict[str, NDArray[np.float16]]:
    import numpy as np
    from gguf.quants import dequantize

    tensors = {}
    for tensor in reader.tensors:
        shape = [int(side) for side in reversed(tensor.shape)]
        floats = dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        tensors[_name(tensor.name)] = np.ascontiguousarray(floats, dtype=np.float16)
    return tensors


def _name(gguf: str) -> str:
    layer = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", gguf)
    if layer:
        return f"model.layers.{layer[1]}.{LAYER[layer[2]]}.{layer[3]}"
    return OUTSIDE[gguf]


def _write_tokenizer(tokens: list[str], types: list[int], merges: list[str], folder: Path) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    words = {token: number for number, token in enumerate(tokens) if types[number] == NORMAL}
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=pairs, fuse_unk=False, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_tokens(
        [
            AddedToken(token, special=types[number] == CONTROL, normalized=False)
            for number, token in enumerate(tokens)
            if types[number] != NORMAL and not token.startswith("[PAD")
        ]
    )
    special = [number for number, kind in enumerate(types) if kind == CONTROL]
    misplaced = [tokens[number] for number in special if tokenizer.token_to_id(tokens[number]) != number]
    if misplaced:
        raise ValueError(f"special tokens lost their places: {misplaced[:3]}")
    tokenizer.save(str(folder / "tokenizer.json"))


def _write_json(path: Path, body: dict[str, Any]) -> None:
    path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
