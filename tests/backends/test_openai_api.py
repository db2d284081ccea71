from __future__ import annotations

import time
from pathlib import Path

import pytest

from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import (
    BackendError,
    Message,
    Reply,
    Request,
    Sampling,
    TerminalBackendError,
    TransientBackendError,
)
from tests.backends.faulty_server import FaultyServer, answer_to

KEY = "sk-very-secret-12345"


def question(text: str, **sampling: object) -> Request:
    return Request(
        model="m",
        revision="r",
        messages=[Message(role="user", content=text)],
        sampling=Sampling.model_validate({"max_tokens": 20, **sampling}),
    )


async def ask(server: FaultyServer, text: str, **options: object) -> Reply:
    body = {"base_url": server.url, "served": "served-name", "timeout_s": 5.0, **options}
    async with OpenAIBackend("m", OpenAIOptions.model_validate(body)) as backend:
        return await backend.answer(question(text))


async def test_a_good_reply_brings_text_reason_and_token_counts(server: FaultyServer) -> None:
    reply = await ask(server, "税率是多少？")
    assert reply == Reply(
        status="ok", text=answer_to("税率是多少？"), finish_reason="stop", prompt_tokens=6, completion_tokens=9
    )


async def test_the_request_carries_name_limit_and_sampling(server: FaultyServer) -> None:
    options = OpenAIOptions(base_url=server.url, served="served-name", extra={"enable_thinking": False})
    async with OpenAIBackend("m", options) as backend:
        await backend.answer(question("问", temperature=0.5, top_p=0.9, seed=7))
    body = server.bodies[0]
    assert body["model"] == "served-name"
    assert (body["max_tokens"], body["temperature"], body["top_p"], body["seed"]) == (20, 0.5, 0.9, 7)
    assert body["enable_thinking"] is False


async def test_no_seed_is_sent_to_a_service_that_takes_none(server: FaultyServer) -> None:
    options = OpenAIOptions(base_url=server.url, send_seed=False, limit_key="max_completion_tokens")
    async with OpenAIBackend("m", options) as backend:
        await backend.answer(question("问", seed=7))
    assert "seed" not in server.bodies[0]
    assert server.bodies[0]["max_completion_tokens"] == 20
    assert "max_tokens" not in server.bodies[0]


@pytest.mark.parametrize(
    ("tag", "status", "text"),
    [
        ("[null]", "length", ""),
        ("[empty]", "empty", ""),
        ("[length]", "length", answer_to("[length]问")),
        ("[filter]", "content_filter", ""),
        ("[cutbyfilter]", "content_filter", "前半"),
        ("[refusal]", "refused", "我不能回答。"),
        ("[toolong]", "too_long", ""),
    ],
)
async def test_each_way_to_say_nothing_useful_has_its_status(
    server: FaultyServer, tag: str, status: str, text: str
) -> None:
    reply = await ask(server, f"{tag}问")
    assert (reply.status, reply.text) == (status, text)


async def test_absent_usage_is_unknown_not_zero(server: FaultyServer) -> None:
    reply = await ask(server, "[nousage]问")
    assert (reply.prompt_tokens, reply.completion_tokens) == (-1, -1)


@pytest.mark.parametrize("tag", ["[429]", "[500]", "[502]", "[503]", "[408]", "[drop]", "[garbage]"])
async def test_what_may_pass_by_itself_is_transient(server: FaultyServer, tag: str) -> None:
    with pytest.raises(TransientBackendError):
        await ask(server, f"{tag}问")


@pytest.mark.parametrize("tag", ["[hang]", "[drip]"])
async def test_a_silent_and_a_dripping_server_count_as_lost_after_the_time_limit(
    server: FaultyServer, tag: str
) -> None:
    begin = time.monotonic()
    with pytest.raises(TransientBackendError, match=r"no answer within 0\.3 s"):
        await ask(server, f"{tag}问", timeout_s=0.3)
    assert time.monotonic() - begin < 0.9


async def test_the_wait_that_a_429_asks_for_is_passed_on(server: FaultyServer) -> None:
    with pytest.raises(TransientBackendError) as caught:
        await ask(server, "[429]问")
    assert caught.value.retry_after == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("tag", "whole_run"),
    [("[401]", True), ("[403]", True), ("[404]", True), ("[402]", True), ("[quota]", True), ("[400]", False)],
)
async def test_a_wrong_key_or_name_ends_the_run_and_a_bad_request_only_its_row(
    server: FaultyServer, tag: str, whole_run: bool
) -> None:
    with pytest.raises(TerminalBackendError) as caught:
        await ask(server, f"{tag}问")
    assert caught.value.whole_run is whole_run


async def test_the_key_comes_from_the_named_variable_and_never_into_a_message(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_SERVICE_KEY", KEY)
    with pytest.raises(TerminalBackendError) as caught:  # the server echoes the key in its refusal
        await ask(server, "[401]问", api_key_env="TEST_SERVICE_KEY")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value)
    assert "TEST_SERVICE_KEY" in str(caught.value)


async def test_a_missing_key_is_named_before_anything_is_sent(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_SERVICE_KEY", raising=False)
    with pytest.raises(BackendError, match="TEST_SERVICE_KEY is not set"):
        await ask(server, "问", api_key_env="TEST_SERVICE_KEY")
    assert server.bodies == []


async def test_a_server_that_is_not_there_is_transient_and_named() -> None:
    gone = FaultyServer()
    gone.close()
    with pytest.raises(TransientBackendError, match="no connection to http://127"):
        await ask(gone, "问")


async def test_tokens_are_counted_by_the_server_where_it_can(server: FaultyServer) -> None:
    options = OpenAIOptions(base_url=server.url, tokenizer="vllm")
    async with OpenAIBackend("m", options) as backend:
        count = await backend.count_tokens([Message(role="user", content="四个字呀")])
    assert (count.tokens, count.exact) == (4, True)


async def test_tokens_are_estimated_from_above_where_no_tokenizer_is_known(server: FaultyServer) -> None:
    async with OpenAIBackend("m", OpenAIOptions(base_url=server.url)) as backend:
        count = await backend.count_tokens([Message(role="user", content="增值税abcd")])
    assert (count.tokens, count.exact) == (3 + 1 + 8, False)  # three characters, four letters, one turn


@pytest.mark.parametrize("tokenizer", ["vllm", "llama.cpp"])
async def test_a_server_that_wants_a_key_gets_it_for_counting_too(
    monkeypatch: pytest.MonkeyPatch, tokenizer: str
) -> None:
    monkeypatch.setenv("TEST_SERVICE_KEY", KEY)
    guarded = FaultyServer(key=KEY)
    try:
        reply = await ask(guarded, "问", api_key_env="TEST_SERVICE_KEY")
        assert reply.status == "ok"
        options = {"base_url": guarded.url, "tokenizer": tokenizer}
        async with OpenAIBackend(
            "m", OpenAIOptions.model_validate(options | {"api_key_env": "TEST_SERVICE_KEY"})
        ) as one:
            assert (await one.count_tokens([Message(role="user", content="四个字呀")])).exact
        async with OpenAIBackend("m", OpenAIOptions.model_validate(options)) as other:
            with pytest.raises(BackendError, match=r"does not count tokens \(HTTP 401.*set tokenizer: none"):
                await other.count_tokens([Message(role="user", content="四个字呀")])
    finally:
        guarded.close()


async def test_tokens_are_counted_by_the_models_own_tokenizer_in_a_folder(tmp_path: Path) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({word: number for number, word in enumerate(["?", "<s>", "税", "率"])}, unk_token="?"))
    words.pre_tokenizer = Split("", "isolated")
    made = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", unk_token="?")
    made.chat_template = "{{ bos_token }}{% for turn in messages %}{{ turn.content }}{% endfor %}率"
    made.save_pretrained(tmp_path)
    options = OpenAIOptions(base_url="http://127.0.0.1:9/v1", tokenizer="folder", tokenizer_folder=str(tmp_path))
    count = await OpenAIBackend("m", options).count_tokens([Message(role="user", content="税率税率")])
    assert (count.tokens, count.exact) == (1 + 4 + 1, True)  # one beginning, four characters, the template's own
    missing = OpenAIOptions(base_url="http://127.0.0.1:9/v1", tokenizer="folder", tokenizer_folder="nowhere")
    with pytest.raises(BackendError, match="no tokenizer in 'nowhere'"):
        await OpenAIBackend("m", missing).count_tokens([Message(role="user", content="税")])


async def test_a_refusal_inside_a_200_is_a_refusal(server: FaultyServer) -> None:
    with pytest.raises(TransientBackendError, match="busy"):
        await ask(server, "[errorinside]问")


async def test_a_slow_answer_that_ends_in_time_is_an_answer(server: FaultyServer) -> None:
    assert (await ask(server, "[slow]问")).status == "ok"


def test_what_a_service_supports_stands_in_its_entry() -> None:
    plain = OpenAIBackend("m", OpenAIOptions(base_url="http://127.0.0.1:1/v1", send_seed=False))
    rich = OpenAIBackend("m", OpenAIOptions(base_url="http://127.0.0.1:1/v1", logprobs=True, batch_api=True))
    assert plain.capabilities.words == ["chat", "structured"]
    assert rich.capabilities.words == ["chat", "seed", "logprobs", "structured", "batch"]


def test_the_identity_names_what_is_served_and_not_where() -> None:
    here = OpenAIBackend("m", OpenAIOptions(base_url="http://127.0.0.1:1/v1", served="s", revision="2024-05"))
    there = OpenAIBackend("m", OpenAIOptions(base_url="http://127.0.0.1:2/v1", served="s", revision="2024-05"))
    other = OpenAIBackend("m", OpenAIOptions(base_url="http://127.0.0.1:1/v1", served="s", revision="2024-08"))
    assert here.revision == there.revision != other.revision
