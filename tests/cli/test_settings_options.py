from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.settings_options import asking_context, context_of, filters_of
from anabranch.errors import SettingsError


def test_values_are_json_where_they_parse_and_text_where_they_do_not() -> None:
    context = context_of(['retrievers=["bm25"]', "fusion=rrf", "top_k=20", "alpha=0.25", "model=null"])
    assert (context.retrievers, context.fusion, context.top_k, context.alpha) == (("bm25",), "rrf", 20, 0.25)
    assert context.model is None


def test_a_value_may_hold_an_equals_sign_and_spaces() -> None:
    assert context_of(["corpus=my docs/a=b"]).corpus == "my docs/a=b"


@pytest.mark.parametrize("text", ["2024", "true", "1e3", "[1]"])
def test_text_settings_keep_what_was_typed_even_if_it_is_json(text: str) -> None:
    assert context_of([f"corpus={text}"]).corpus == text


def test_a_quoted_json_string_is_its_content() -> None:
    assert context_of(['corpus="a"']).corpus == "a"


@pytest.mark.parametrize("options", [{"top_k": 3}, {"infer_filter": False}, {"base_url": "http://b"}])
def test_an_option_and_set_may_not_disagree(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(SettingsError, match=rf"{name!r} is given twice, with -.*and with --set {name}="):
        context_of([f"{name}=1"], **options)


def test_a_key_is_set_once() -> None:
    with pytest.raises(SettingsError, match=r"'top_k' is given twice, with --set top_k=.*and with --set top_k="):
        context_of(["top_k=1", "alpha=0.5", "top_k=1"])


def test_explicit_beats_the_environment_which_beats_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_TOP_K", "7")
    monkeypatch.setenv("ANABRANCH_ALPHA", "0.1")
    context = context_of(["top_k=3"])
    assert (context.top_k, context.alpha, context.fan_in) == (3, 0.1, 4)


def test_null_overrides_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_MODEL", "openai:gpt-5-mini")
    assert context_of(["model=null"]).model is None


def test_an_unknown_key_names_the_close_ones() -> None:
    with pytest.raises(SettingsError, match=r"'topk'.*Did you mean.*top_k"):
        context_of(["topk=3"])


def test_an_unknown_key_with_nothing_close_lists_all() -> None:
    with pytest.raises(SettingsError, match=r"'zzzzz'.*The settings are corpus, access, .*reduce_prompt"):
        context_of(["zzzzz=3"])


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("top_k=9000", "'top_k' cannot be 9000: input should be less than or equal to 1000"),
        ("fusion=foo", "'fusion' cannot be 'foo'"),
        ("alpha=NaN", "'alpha' cannot be 'NaN'"),
        ("retrievers=[]", "'retrievers'"),
        ("base_url=ftp://x", "'base_url'"),
    ],
)
def test_a_value_out_of_bounds_says_which_and_why(pair: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        context_of([pair])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        context_of(["top_k=0", "fusion=foo"])
    assert "'top_k' cannot be 0" in str(caught.value)
    assert "'fusion' cannot be 'foo'" in str(caught.value)


def test_a_bad_environment_variable_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_RERANK", "best")
    with pytest.raises(SettingsError, match="ANABRANCH_RERANK: there is no such reranker") as caught:
        context_of()
    assert "best" not in str(caught.value)  # on a server the caller reads it, and it is not the caller's


def test_a_list_in_the_environment_has_to_be_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_RETRIEVERS", "bm25")
    with pytest.raises(SettingsError, match=r"ANABRANCH_RETRIEVERS.*written as JSON"):
        context_of()


def test_an_object_in_the_environment_is_json_and_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_MODEL_KWARGS", '{"top_p": 0.5}')
    assert context_of().model_kwargs == {"top_p": 0.5}


@pytest.mark.parametrize("value", ["top_p", '{"api_key": "sk-very-secret"}'])
def test_an_object_in_the_environment_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ANABRANCH_MODEL_KWARGS", value)
    with pytest.raises(SettingsError, match=r"ANABRANCH_MODEL_KWARGS") as raised:
        context_of()
    assert "sk-very-secret" not in str(raised.value)


@pytest.mark.parametrize("pair", ["top_k", "=3", " =3", ""])
def test_a_pair_needs_a_key_and_an_equals_sign(pair: str) -> None:
    with pytest.raises(SettingsError, match="key=value"):
        context_of([pair])


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(SettingsError) as caught:
        context_of([f"fusion={'x' * 10_000}"])
    assert len(str(caught.value)) < 500


def test_filters_are_json_objects() -> None:
    assert filters_of(None) is None
    assert filters_of('{"year": {"gte": 2020}}') == {"year": {"gte": 2020}}
    for text in ("{", "[1]", "source"):
        with pytest.raises(SettingsError, match="--filter"):
            filters_of(text)


def test_a_list_needs_neither_brackets_nor_quotes() -> None:
    assert context_of(["retrievers=bm25"]).retrievers == ("bm25",)
    assert context_of(["retrievers=bm25, dense"]).retrievers == ("bm25", "dense")
    assert context_of(["access=board,10"]).access == ("board", "10")
    # A comma in a text is part of it.
    assert context_of(["corpus=a,b"]).corpus == "a,b"


def test_a_prompt_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Antworte kurz.\nUnd höflich.\n", encoding="utf-8")
    assert context_of([f"create_prompt=@{file}"]).create_prompt == "Antworte kurz.\nUnd höflich."
    # Names of models begin with it elsewhere.
    assert context_of(["model=@cf/meta/llama"]).model == "@cf/meta/llama"
    with pytest.raises(SettingsError, match=r"missing\.txt: the file cannot be read: No such file"):
        context_of([f"create_prompt=@{tmp_path / 'missing.txt'}"])
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        context_of([f"create_prompt=@{file}"])


def test_a_server_without_a_model_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"names the server http://127\.0\.0\.1:1/v1.*Add --model NAME"):
        asking_context(None, base_url="http://127.0.0.1:1/v1")
    assert asking_context(None, base_url="http://127.0.0.1:1/v1", model="llama3").model == "llama3"
    assert asking_context(["model=llama3"], base_url="http://127.0.0.1:1/v1").model == "llama3"


def test_the_model_of_a_server_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_MODEL", "qwen3")
    assert asking_context(None, base_url="http://127.0.0.1:1/v1").model == "qwen3"


def test_k_raises_what_would_be_shorter_and_keeps_what_was_given() -> None:
    context = asking_context(["fusion=rrf"], base_url=None, k=200)
    assert (context.top_k, context.depth, context.rerank_depth, context.fusion) == (200, 200, 200, "rrf")
    assert asking_context(None, base_url=None, k=2).depth == context_of().depth
