"""The translators in the page, without a browser: their rounded weights, their script, their still picture."""

import json

import pytest
import torch

from course_lib import decoding
from course_lib.corpus import toy_french
from course_lib.tools import web
from course_lib.trained import FOLDER
from course_lib.widgets import Translator
from course_lib.widgets.translator import MODELS


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_rounded_weights_change_no_translation_of_a_trained_length(name):
    corpus = toy_french()
    sentences = [pair.source for (_, longest), pairs in corpus.test.items() if longest <= 20 for pair in pairs[:100]]
    model = MODELS[name].load()
    rounded = [written.tokens for written in decoding.greedy(model, corpus, sentences)]
    model.load_state_dict(torch.load(FOLDER / f"{name}.pt", weights_only=True)["weights"])
    assert rounded == [written.tokens for written in decoding.greedy(model, corpus, sentences)]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_script_has_all_that_the_page_needs_and_is_small(name):
    corpus = toy_french()
    script = MODELS[name].script
    assert script.startswith(MODELS[name].stamp())
    assert len(script) < 700_000
    model = json.loads(script.partition(" = ")[2].rstrip(";\n"))
    assert model["source"] == list(corpus.source_vocabulary.words)
    assert model["target"] == list(corpus.target_vocabulary.words)
    assert set(model["follows"][""]) <= {pair.source[0] for pair in corpus.train}
    numbers = sum(torch.Size(shape).numel() for shape in model["shapes"].values())
    assert numbers == sum(parameter.numel() for parameter in MODELS[name].load().parameters())


@pytest.mark.slow
def test_a_script_is_written_once_and_again_when_it_is_of_other_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(web, "SCRIPTS", tmp_path / "models")
    web.write_models()
    file = tmp_path / "models" / "trained_transformer.js"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole + "// as it was\n", encoding="utf-8")
    web.write_models()
    assert file.read_text(encoding="utf-8").endswith("// as it was\n")
    file.write_text("// of other weights\n", encoding="utf-8")
    web.write_models()
    assert file.read_text(encoding="utf-8") == whole


@pytest.mark.slow
def test_its_picture_says_what_it_writes():
    shown = Translator("trained_transformer", ["the black cat"])
    assert "the black cat becomes le chat noir" in shown.still()
    assert shown.still().count("<path") >= 3
    assert "the black cat" in shown.summary()


@pytest.mark.parametrize(
    ("name", "examples", "said"),
    [
        ("gpt", ["the cat"], "no translator 'gpt'.*trained_transformer"),
        ("trained_transformer", [], "no example"),
        ("trained_transformer", ["the zebra"], "'zebra' is none of the 83 words"),
    ],
)
def test_what_cannot_be_shown_is_refused(name, examples, said):
    with pytest.raises(ValueError, match=said):
        Translator(name, examples)
