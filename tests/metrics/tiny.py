"""Small random networks in folders, as metrics load them: characters as tokens, no download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEXTS = [
    "小规模纳税人按季申报增值税。",
    "企业应当在年度终了后办理汇算清缴，多退少补。",
    "出口货物适用零税率",
    "逾期未申报的，自滞纳之日起按日加收滞纳金；情节严重的移送处理。",
    "合同印花税",
]
ALPHABET = sorted({character for text in TEXTS for character in text} | set("甲乙丙丁戊己庚辛的了是在有应"))


def save_tokenizer(folder: Path, single: str, longest: int | None) -> Any:
    """A tokenizer of single characters whose texts are framed as ``single`` says (``[CLS] $A [SEP]``)."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {token: number for number, token in enumerate([*special, *ALPHABET])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    frame = [(token, vocabulary[token]) for token in special if token in single]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=frame)
    limits = {} if longest is None else {"model_max_length": longest}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        **limits,
    )
    fast.save_pretrained(folder)
    return fast


def save_bert(folder: Path, longest: int | None = 64) -> Path:
    """A random BERT of three layers."""
    import torch
    from transformers import BertConfig, BertModel

    size = len(save_tokenizer(folder, "[CLS] $A [SEP]", longest))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=size,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=longest or 64,
    )
    _spread(BertModel(config)).save_pretrained(folder)
    return folder


def save_albert(folder: Path) -> Path:
    """A random ALBERT: one layer, run three times."""
    import torch
    from transformers import AlbertConfig, AlbertModel

    size = len(save_tokenizer(folder, "[CLS] $A [SEP]", 64))
    torch.manual_seed(11)
    config = AlbertConfig(
        vocab_size=size,
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    _spread(AlbertModel(config)).save_pretrained(folder)
    return folder


def save_xlnet(folder: Path) -> Path:
    """A random XLNet of two layers, which frames texts at their end."""
    import torch
    from transformers import XLNetConfig, XLNetModel

    size = len(save_tokenizer(folder, "$A [SEP] [CLS]", 512))
    torch.manual_seed(8)
    config = XLNetConfig(vocab_size=size, d_model=32, n_layer=2, n_head=4, d_inner=64)
    _spread(XLNetModel(config)).save_pretrained(folder)
    return folder


def save_bart(folder: Path) -> Path:
    """A random BART of two and two layers."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    size = len(save_tokenizer(folder, "[CLS] $A [SEP]", 64))
    torch.manual_seed(9)
    config = BartConfig(
        vocab_size=size,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=3,
    )
    _spread(BartForConditionalGeneration(config)).save_pretrained(folder)
    return folder


def save_causal(folder: Path) -> Path:
    """A random GPT-2 of two layers."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    size = len(save_tokenizer(folder, "$A", 64))
    torch.manual_seed(10)
    config = GPT2Config(
        vocab_size=size, n_positions=128, n_embd=32, n_layer=2, n_head=4, bos_token_id=None, eos_token_id=None
    )
    _spread(GPT2LMHeadModel(config)).save_pretrained(folder)
    return folder


def _spread(network: Any) -> Any:
    """Larger weights than a fresh network has, so that texts differ in more than rounding."""
    import torch

    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1:
                weight.mul_(4.0)
    return network.eval()
