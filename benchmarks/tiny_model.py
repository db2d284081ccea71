"""Makes a small Qwen2 with random weights and the embedded model's tokenizer: an engine's speed, without its sense.

python benchmarks/tiny_model.py FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

TOKENIZER = Path("weights/qwen2.5-coder-0.5b-instruct")
"""Made by `taxpraben models fetch`."""

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "special_tokens_map.json")


def make_tiny_model(folder: Path, tokenizer: Path = TOKENIZER, seed: int = 7) -> Path:
    """Write about 23 million random parameters, the same for the same seed; a folder that is there already is kept.

    Returns:
        The folder.
    """
    if (folder / "model.safetensors").exists():
        return folder
    import torch
    from transformers import AutoConfig, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    given = AutoConfig.from_pretrained(tokenizer)
    config = Qwen2Config(
        vocab_size=given.vocab_size,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=12,
        num_attention_heads=4,  # heads of 32: vLLM's smallest on a CPU
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=0.3,  # enough for answers that differ from prompt to prompt
        eos_token_id=given.eos_token_id,
        bos_token_id=given.bos_token_id,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    for name in TOKENIZER_FILES:
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder / name)
    return folder


if __name__ == "__main__":
    print(make_tiny_model(Path(sys.argv[1])))
