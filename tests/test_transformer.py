"""The Transformer against torch's, against itself without padding and word by word, and its promises."""

import copy
import pickle
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import MultiHeadAttention
from course_lib.decoding import greedy
from course_lib.fingerprint import fingerprint
from course_lib.layers import FeedForward, LayerNorm, PostNorm, PreNorm, WithLoss, auxiliary_losses
from course_lib.masks import causal_mask, length_mask
from course_lib.metrics import strongest_links
from course_lib.positions import LearnedPositions, LinearBiases, RotaryPositions, SinusoidalPositions
from course_lib.training import fit
from course_lib.transformer import (
    Decoder,
    DecoderLayer,
    DecoderOnly,
    Encoder,
    EncoderLayer,
    EncoderOnly,
    Settings,
    Transformer,
    WordEmbedding,
    words_in,
)

SOURCE, TARGET, SIZE, HEADS, LAYERS, INNER = 11, 13, 12, 3, 2, 20
LENGTHS = torch.tensor([6, 3, 1])
MASK = length_mask(LENGTHS)


class NoResidual(PreNorm):
    """As a reader would write it in a cell."""

    def after(self, x, y):
        return self.dropout(y)


class NoNorm(nn.Module):
    """A residual connection with nothing but the two methods."""

    def __init__(self, model_size, dropout=0.0):
        super().__init__()

    def before(self, x):
        return x

    def after(self, x, y):
        return x + y


def attending(**parts):
    """Settings whose positions, if any, act within self-attention."""
    return {"positions": None, "self_attention": partial(MultiHeadAttention, **parts)}


MODERN = {
    "rotary": attending(rotation=RotaryPositions),
    "alibi": attending(score_bias=LinearBiases),
    "multi-query": attending(rotation=RotaryPositions, key_value_heads=1),
}
residuals = pytest.mark.parametrize("residual", [PreNorm, PostNorm, NoResidual, NoNorm])
norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
variants = pytest.mark.parametrize(
    "settings",
    [
        {},
        {"residual": PostNorm},
        {"residual": NoNorm},
        {"positions": LearnedPositions},
        {"positions": None},
        {"feed_forward_size": None},
        {"tie": True},
        *MODERN.values(),
    ],
    ids=lambda settings: next((name for name, own in MODERN.items() if own is settings), str(settings)),
)
classes = pytest.mark.parametrize("model_class", [Transformer, EncoderOnly, DecoderOnly])


def randomized(module, seed=0):
    """Draws every parameter at random, since ones and zeros would hide which is which."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 3)
    return module.double()


def make(model_class=Transformer, **settings):
    sizes = (SOURCE, TARGET) if model_class is Transformer else (SOURCE,)
    sizes_inside = {"model_size": SIZE, "heads": HEADS, "layers": LAYERS, "feed_forward_size": INNER}
    return randomized(model_class(*sizes, **sizes_inside | settings)).eval()


def words(*shape, size=SOURCE, seed=0):
    return torch.randint(4, size, shape, generator=torch.Generator().manual_seed(seed))


def vectors(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, SIZE, generator=generator, dtype=torch.float64).requires_grad_()


def run(model, need_weights=False):
    """Returns logits and maps of either kind of model on the sentences below."""
    inputs = (SENTENCES, MASK, WRITTEN) if isinstance(model, Transformer) else (SENTENCES, MASK)
    return model(*inputs, need_weights=need_weights)


SENTENCES, WRITTEN = words(3, 6), words(3, 5, size=TARGET)


# ---- torch's modules ----


def packed(layer):
    """Returns the gradients of each part's parameters, in torch's layout, for a layer of ours or torch's."""
    if not isinstance(layer, EncoderLayer):
        attentions = [layer.self_attn, *([layer.multihead_attn] if hasattr(layer, "multihead_attn") else [])]
        projections = [p for a in attentions for p in (a.in_proj_weight, a.in_proj_bias, *a.out_proj.parameters())]
        rest = [m for name, m in layer.named_children() if name.startswith(("linear", "norm"))]
        return [p.grad for p in (*projections, *(p for m in rest for p in m.parameters()))]
    found = []
    decodes = isinstance(layer, DecoderLayer)
    for attention in (layer.self_attention, *([layer.cross_attention] if decodes else [])):
        three = attention.query_projection, attention.key_projection, attention.value_projection
        found += [torch.cat([getattr(p, part).grad for p in three]) for part in ("weight", "bias")]
        found += [p.grad for p in attention.output_projection.parameters()]
    around = [layer.self_attention_residual, *([layer.cross_attention_residual] if decodes else [])]
    norms = [residual.norm for residual in (*around, layer.feed_forward_residual)]
    return found + [
        p.grad for m in (layer.feed_forward.inner, layer.feed_forward.outer, *norms) for p in m.parameters()
    ]


def assert_same_with_gradients(ours, torchs, run_ours, run_torchs, *shapes):
    results = []
    for module, compute in ((ours, run_ours), (torchs, run_torchs)):
        inputs = [vectors(*shape, seed=seed) for seed, shape in enumerate(shapes)]
        output = compute(module, *inputs)
        upstream = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
        output.backward(upstream)
        layers = [m for m in module.modules() if isinstance(m, EncoderLayer | nn.TransformerEncoderLayer)]
        layers += [m for m in module.modules() if isinstance(m, nn.TransformerDecoderLayer)]
        results.append([output, [x.grad for x in inputs], [packed(layer) for layer in layers]])
    assert_close(*results, atol=1e-8, rtol=1e-8)


def torchs(module_class, **settings):
    sizes = (SIZE, HEADS, INNER) if module_class is not nn.Transformer else (SIZE, HEADS, LAYERS, LAYERS, INNER)
    return randomized(module_class(*sizes, dropout=0.0, batch_first=True, **settings))


@norms
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("epsilon", [1e-5, 0.1])
def test_an_encoder_layer_equals_torchs(norm_first, causal, epsilon):
    layer = torchs(nn.TransformerEncoderLayer, norm_first=norm_first, layer_norm_eps=epsilon)
    mask = MASK[:, None, None] & (causal_mask(6) if causal else True)
    hides = ~causal_mask(6)[0, 0] if causal else None
    assert_same_with_gradients(
        EncoderLayer.from_torch(layer),
        layer,
        lambda ours, x: ours(x, mask)[0],
        lambda theirs, x: theirs(x, hides, ~MASK),
        (3, 6),
    )


@norms
def test_a_decoder_layer_equals_torchs(norm_first):
    layer = torchs(nn.TransformerDecoderLayer, norm_first=norm_first)
    mask, memory_mask = causal_mask(5), MASK[:, None, None]
    assert_same_with_gradients(
        DecoderLayer.from_torch(layer),
        layer,
        lambda ours, x, memory: ours(x, ours.cross_attention.project_memory(memory), mask, memory_mask)[0],
        lambda theirs, x, memory: theirs(x, memory, ~mask[0, 0], memory_key_padding_mask=~MASK),
        (3, 5),
        (3, 6),
    )


class Both(nn.Module):
    """Our encoder and decoder with nn.Transformer's weights."""

    def __init__(self, whole):
        super().__init__()
        self.encoder, self.decoder = Encoder.from_torch(whole.encoder), Decoder.from_torch(whole.decoder)

    def forward(self, source, target, mask):
        states, _, _ = self.encoder(source, mask)
        return self.decoder(target, self.decoder.project_memory(states), mask)[0]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch's remark on its own fast path
@norms
def test_encoder_and_decoder_equal_torchs_whole_transformer(norm_first):
    whole = torchs(nn.Transformer, norm_first=norm_first)
    assert whole.encoder.norm is not None  # it has one even behind post-norm
    assert_same_with_gradients(
        Both(whole),
        whole,
        lambda ours, x, y: ours(x, y, MASK[:, None, None]),
        lambda theirs, x, y: theirs(
            x, y, tgt_mask=~causal_mask(5)[0, 0], src_key_padding_mask=~MASK, memory_key_padding_mask=~MASK
        ),
        (3, 6),
        (3, 5),
    )


@norms
def test_a_stack_without_a_last_norm_can_be_copied(norm_first):
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, INNER, dropout=0.0, batch_first=True, norm_first=norm_first)
    stack = randomized(nn.TransformerEncoder(layer, 3, enable_nested_tensor=False))
    x = vectors(2, 4)
    assert_close(Encoder.from_torch(stack)(x)[0], stack(x), atol=1e-10, rtol=0)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch's remark on its own fast path
def test_a_copy_keeps_type_mode_and_dropout_and_shares_nothing():
    whole = nn.Transformer(SIZE, HEADS, LAYERS, LAYERS, INNER, dropout=0.25, batch_first=True).eval()
    ours = Both(whole).eval()
    before = copy.deepcopy(ours.state_dict())
    drops = [m.p for m in ours.modules() if isinstance(m, nn.Dropout)]
    assert len(drops) == LAYERS * (3 + 4) and set(drops) == {0.25}
    assert {m.self_attention.dropout for m in ours.modules() if isinstance(m, EncoderLayer)} == {0.25}
    copies = Encoder.from_torch(whole.encoder), Decoder.from_torch(whole.decoder)
    assert not any(m.training for stack in copies for m in stack.modules())
    assert all(m.training for m in Decoder.from_torch(whole.decoder.train()).modules())
    assert {p.dtype for p in Encoder.from_torch(copy.deepcopy(whole.encoder).double()).parameters()} == {torch.float64}
    randomized(whole)
    assert all(torch.equal(tensor, before[name]) for name, tensor in ours.state_dict().items())


def test_a_layer_with_other_parts_is_refused():
    for theirs, ours in ((nn.TransformerEncoderLayer, EncoderLayer), (nn.TransformerDecoderLayer, DecoderLayer)):
        with pytest.raises(ValueError, match="with bias"):
            ours.from_torch(theirs(SIZE, HEADS, INNER, batch_first=True, bias=False))


@pytest.mark.parametrize("activation", [F.relu, nn.ReLU(), "gelu", nn.SiLU()], ids=["F.relu", "ReLU", "gelu", "SiLU"])
def test_the_activation_may_be_any_and_a_function_or_a_module(activation):
    layer = torchs(nn.TransformerEncoderLayer, activation=activation)
    x = vectors(2, 4)
    assert_close(EncoderLayer.from_torch(layer)(x)[0], layer(x), atol=1e-10, rtol=0)


# ---- what it computes ----


@variants
def test_the_whole_is_its_parts_put_together(settings):
    model = make(**settings)

    def enter(embedding, words):
        x = SIZE**0.5 * embedding.weight[words]
        return embedding.positions(x) if embedding.positions else x

    def part(x, residual, attend):
        return residual.after(x, attend(residual.before(x)))

    def feed(layer, x):
        return part(x, layer.feed_forward_residual, layer.feed_forward) if layer.feed_forward else x

    x, y = enter(model.source_embedding, SENTENCES), enter(model.target_embedding, WRITTEN)
    mask = MASK[:, None, None]
    for layer in model.encoder.layers:
        x = part(x, layer.self_attention_residual, lambda v, layer=layer: layer.self_attention(v, None, mask)[0])
        x = feed(layer, x)
    memory = model.encoder.last(x)
    for layer in model.decoder.layers:
        own, cross = layer.self_attention, layer.cross_attention
        y = part(y, layer.self_attention_residual, lambda v, own=own: own(v, None, causal_mask(5))[0])
        y = part(y, layer.cross_attention_residual, lambda v, cross=cross: cross(v, memory, mask)[0])
        y = feed(layer, y)
    wanted = model.decoder.last(y) @ model.output.weight.T + model.output.bias
    assert_close(run(model)[0], wanted)


@variants
@classes
def test_asking_for_maps_changes_no_logit(model_class, settings):
    model = make(model_class, **settings)
    logits, nothing = run(model)
    again, maps = run(model, need_weights=True)
    assert nothing is None and maps is not None
    assert_close(again, logits)


@classes
def test_unless_maps_are_asked_for_every_attention_takes_the_fused_path(model_class, monkeypatch):
    model = make(model_class)
    monkeypatch.delattr("course_lib.attention.scaled_dot_product_attention")
    run(model)
    with pytest.raises(NameError):
        run(model, need_weights=True)


def test_shapes_of_the_maps():
    _, maps = run(make(), need_weights=True)
    assert maps.encoder.shape == (3, LAYERS, HEADS, 6, 6)
    assert maps.decoder.shape == (3, LAYERS, HEADS, 5, 5)
    assert maps.cross.shape == (3, LAYERS, HEADS, 5, 6)


def test_a_map_belongs_to_its_layer_and_head():
    model, seen = make(), []
    layer = model.decoder.layers[1]
    layer.register_forward_hook(lambda module, inputs, outputs: seen.append(outputs[1:3]))
    _, maps = run(model, need_weights=True)
    own, cross = seen[0]
    assert torch.equal(maps.decoder[:, 1], own) and torch.equal(maps.cross[:, 1], cross)
    assert not torch.equal(maps.cross[:, 0], cross) and not torch.equal(maps.cross[:, 1, 0], maps.cross[:, 1, 1])


@variants
def test_rows_of_every_map_sum_to_one_and_every_layer_and_head_sees_the_masks(settings):
    _, maps = run(make(**settings), need_weights=True)
    source = MASK[:, None, None, None]
    for weights, mask in zip(maps, (source, causal_mask(5)[None], source), strict=True):
        assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
        assert torch.equal(weights > 0, mask.expand_as(weights))


@pytest.mark.parametrize("mask", [None, MASK], ids=["no padding", "padding"])
def test_encoder_only_and_decoder_only_are_the_same_layers_with_another_mask(mask):
    reads, writes = make(EncoderOnly), make(DecoderOnly)
    writes.load_state_dict(reads.state_dict())
    everyone = torch.ones(1, 1, 6, 6, dtype=torch.bool) if mask is None else mask[:, None, None]
    x = reads.embedding(SENTENCES)
    for model, allowed in ((reads, everyone), (writes, everyone & causal_mask(6))):
        logits, maps = model(SENTENCES, mask, need_weights=True)
        assert_close(logits, reads.output(reads.encoder(x, allowed)[0]))
        assert torch.equal(maps > 0, allowed[:, None].expand_as(maps))
        assert_close(maps.sum(-1), torch.ones_like(maps[..., 0]))


# ---- what it does not see ----


def outputs_of_layers(stack, compute):
    """Returns the output of each layer of a stack, and the logits that `compute` returns."""
    seen = []
    hooks = [layer.register_forward_hook(lambda *call: seen.append(call[-1][0])) for layer in stack.layers]
    logits, _ = compute()
    for hook in hooks:
        hook.remove()
    assert len(seen) == LAYERS
    return [*seen, logits]


def changed_at(words, step, size):
    """Returns the same words, with one of each sentence changed."""
    changed = words.clone()
    changed[:, step] = 4 + (words[:, step] - 3) % (size - 4)
    assert changed.ne(words).all(0).tolist() == [t == step for t in range(words.shape[1])]
    return changed


@variants
@pytest.mark.parametrize("step", [1, 4])
def test_a_later_word_changes_nothing_before_it_in_any_layer_of_the_decoder(settings, step):
    model = make(**settings)
    before, after = (
        outputs_of_layers(model.decoder, partial(model, SENTENCES, MASK, target))
        for target in (WRITTEN, changed_at(WRITTEN, step, TARGET))
    )
    for one, two in zip(before, after, strict=True):
        assert torch.equal(one[:, :step], two[:, :step])
        assert one[:, step:].ne(two[:, step:]).any(-1).all()


@pytest.mark.parametrize("step", [1, 3, 5])
@pytest.mark.parametrize("model_class", [DecoderOnly, EncoderOnly])
def test_a_later_word_changes_what_stands_before_it_with_the_encoder_only(model_class, step):
    model = make(model_class)
    before, after = (
        outputs_of_layers(model.encoder, partial(model, sentences))
        for sentences in (SENTENCES, changed_at(SENTENCES, step, SOURCE))
    )
    for one, two in zip(before, after, strict=True):
        assert torch.equal(one[:, :step], two[:, :step]) == (model_class is DecoderOnly)
        assert one[:, step:].ne(two[:, step:]).any(-1).all()


@variants
@pytest.mark.parametrize("more", [0, 3])
def test_padding_changes_nothing(settings, more):
    model = make(**settings)
    source, mask = F.pad(SENTENCES, (0, more)), F.pad(MASK, (0, more))
    logits, maps = model(source, mask, WRITTEN, need_weights=True)
    for row, length in enumerate(LENGTHS.tolist()):
        alone, own = model(source[row : row + 1, :length], None, WRITTEN[row : row + 1], need_weights=True)
        assert_close(logits[row], alone[0], atol=1e-9, rtol=0)
        assert_close(maps.encoder[row, ..., :length, :length], own.encoder[0], atol=1e-9, rtol=0)
        assert_close(maps.cross[row, ..., :length], own.cross[0], atol=1e-9, rtol=0)


@pytest.mark.parametrize("model_class", [EncoderOnly, DecoderOnly])
def test_padding_changes_nothing_at_the_words_of_one_stack(model_class):
    model = make(model_class)
    logits, _ = model(F.pad(SENTENCES, (0, 2)), F.pad(MASK, (0, 2)))
    for row, length in enumerate(LENGTHS.tolist()):
        assert_close(logits[row, :length], model(SENTENCES[row : row + 1, :length])[0][0], atol=1e-9, rtol=0)


@pytest.mark.parametrize("number", [4, SOURCE - 1])
def test_what_stands_in_the_padding_does_not_matter_and_has_no_gradient(number):
    model = make()
    changed = SENTENCES.masked_fill(~MASK, number)
    assert torch.equal(model(SENTENCES, MASK, WRITTEN)[0], model(changed, MASK, WRITTEN)[0])
    padded = SENTENCES.masked_fill(~MASK, 0)
    model.zero_grad()
    model(padded, MASK, WRITTEN)[0].square().sum().backward()
    gradient = model.source_embedding.weight.grad
    assert not gradient[0].any() and gradient[padded[MASK]].any(-1).all()


def test_a_mask_that_hides_nothing_is_no_mask():
    model = make()
    everything = torch.ones_like(MASK)
    assert model.encode(SENTENCES, everything).mask is None
    assert torch.equal(model(SENTENCES, everything, WRITTEN)[0], model(SENTENCES, None, WRITTEN)[0])


@pytest.mark.parametrize("order", [[5, 4, 3, 2, 1, 0], [1, 0, 2, 3, 4, 5], [2, 4, 0, 5, 1, 3]], ids=str)
def test_without_positions_the_encoder_moves_with_its_words(order):
    for model in (make(EncoderOnly, positions=None), make(EncoderOnly)):
        logits, maps = model(SENTENCES, need_weights=True)
        again, moved = model(SENTENCES[:, order], need_weights=True)
        if model.embedding.positions is None:
            assert_close(again, logits[:, order])
            assert_close(moved, maps[..., order, :][..., order])
        else:
            assert not torch.allclose(again, logits[:, order])


@pytest.mark.parametrize("order", [[5, 4, 3, 2, 1, 0], [1, 0, 2, 3, 4, 5], [2, 4, 0, 5, 1, 3]], ids=str)
def test_without_positions_the_translation_does_not_know_the_order_of_the_source(order):
    model = make(positions=None)
    assert_close(model(SENTENCES[:, order], MASK[:, order], WRITTEN), model(SENTENCES, MASK, WRITTEN))


# ---- word by word ----


@variants
@pytest.mark.parametrize("mask", [None, MASK], ids=["no padding", "padding"])
def test_word_by_word_equals_all_at_once(settings, mask):
    model = make(**settings)
    logits, maps = model(SENTENCES, mask, WRITTEN, need_weights=True)
    memory = model.encode(SENTENCES, mask)
    state = model.start(memory)
    for t in range(5):
        assert words_in(state) == t
        step_logits, state, weights = model.step(WRITTEN[:, t], state, memory)
        assert_close(step_logits, logits[:, t])
        assert_close(weights, maps.cross[:, -1, :, t].mean(1))


@variants
def test_word_by_word_equals_all_at_once_in_decoder_only(settings):
    model = make(DecoderOnly, **settings)
    logits, _ = model(SENTENCES)
    state = model.start(None)
    for t in range(6):
        step_logits, state, weights = model.step(SENTENCES[:, t], state, None)
        assert_close(step_logits, logits[:, t])
        assert weights is None


@variants
@pytest.mark.parametrize("cut", [1, 2, 4])
def test_several_words_may_follow_the_past_at_once(settings, cut):
    model = make(**settings)
    memory = model.encode(SENTENCES, MASK)
    first, _, _, past = model.decode(WRITTEN[:, :cut], None, memory)
    second, own, _, _ = model.decode(WRITTEN[:, cut:], past, memory, need_weights=True)
    assert_close(torch.cat([first, second], 1), run(model)[0])
    assert_close(own, run(model, need_weights=True)[1].decoder[..., cut:, :])
    read, state, _ = model.read(WRITTEN[:, :cut], model.start(memory), memory)
    assert_close(read, first[:, -1])
    assert words_in(state) == cut


@variants
@pytest.mark.parametrize("cut", [1, 2, 5])
def test_several_words_may_follow_the_past_at_once_in_decoder_only(settings, cut):
    model = make(DecoderOnly, **settings)
    logits, maps = model(SENTENCES, need_weights=True)
    first, nothing, past = model.decode(SENTENCES[:, :cut])
    second, own, past = model.decode(SENTENCES[:, cut:], past, need_weights=True)
    assert nothing is None and words_in(past) == 6
    assert_close(torch.cat([first, second], 1), logits)
    assert_close(own, maps[..., cut:, :])
    read, state, _ = model.read(SENTENCES[:, :cut], model.start(None), None)
    assert_close(read, first[:, -1])
    assert_close(model.step(SENTENCES[:, cut], state, None)[0], logits[:, cut])


def test_a_row_that_follows_the_past_asks_for_no_square_of_a_mask(monkeypatch):
    model, shapes = make(), []
    real = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *shape, **how: shapes.append(shape) or real(*shape, **how))
    memory = model.encode(SENTENCES, None)
    state = model.start(memory)
    for t in range(5):
        _, state, _ = model.step(WRITTEN[:, t], state, memory)
    assert shapes == [(1, t + 1) for t in range(5)]


def test_the_past_of_shared_keys_and_values_is_as_much_smaller():
    model = make(DecoderOnly, **MODERN["multi-query"])
    _, state, _ = model.read(SENTENCES, model.start(None), None)
    assert all(tensor.shape == (3, 1, 6, SIZE // HEADS) for past in state for tensor in past)


def test_each_word_is_projected_once():
    model, own, cross = make(), [], []
    for layer in model.decoder.layers:
        layer.self_attention.key_projection.register_forward_hook(lambda _, inputs, __: own.append(inputs[0].shape[1]))
        layer.cross_attention.key_projection.register_forward_hook(lambda *_: cross.append(1))
    memory = model.encode(SENTENCES, MASK)
    state = model.start(memory)
    for t in range(5):
        _, state, _ = model.step(WRITTEN[:, t], state, memory)
    assert own == [1] * (5 * LAYERS) and len(cross) == LAYERS


def rows(parts, order):
    """Every tensor of a state or memory, however deep, with its sentences in another order: as beam search does."""
    if parts is None or isinstance(parts, torch.Tensor):
        return None if parts is None else parts[order]
    moved = [rows(part, order) for part in parts]
    return type(parts)(*moved) if hasattr(parts, "_fields") else tuple(moved)


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 1, 0, 2, 2], [2]], ids=str)
def test_sentences_can_be_reordered_repeated_and_dropped_between_steps(order):
    model = make()
    memory = model.encode(SENTENCES, MASK, need_weights=True)
    _, state, _ = model.step(WRITTEN[:, 0], model.start(memory), memory)
    wanted = model.step(WRITTEN[:, 1], state, memory)
    moved = model.step(WRITTEN[order, 1], rows(state, order), rows(memory, order))
    assert_close(moved, rows(wanted, order))
    unread = rows(model.start(memory), order)
    again, _, _ = model.step(WRITTEN[order, 0], unread, rows(memory, order))
    assert_close(again, model.step(WRITTEN[:, 0], model.start(memory), memory)[0][order])


def test_a_step_leaves_the_state_it_was_given_as_it_was():
    model = make()
    memory = model.encode(SENTENCES, MASK)
    _, state, _ = model.step(WRITTEN[:, 0], model.start(memory), memory)
    before = [[tensor.clone() for tensor in past] for past in state]
    model.step(WRITTEN[:, 1], state, memory)
    assert all(map(torch.equal, sum(map(list, state), []), sum(before, [])))


# ---- where positions act ----

RELATIVE = pytest.mark.parametrize("name", ["rotary", "alibi"])


@RELATIVE
def test_positions_within_attention_tell_the_order_of_words(name):
    order = [1, 0, 2, 3, 4, 5]
    model = make(EncoderOnly, **MODERN[name])
    assert not torch.allclose(model(SENTENCES[:, order])[0], model(SENTENCES)[0][:, order])


@RELATIVE
def test_positions_within_attention_depend_on_distance_only(name):
    """The words behind others that may not be seen: as if they stood at the beginning."""
    model = make(EncoderOnly, **MODERN[name])
    hidden = torch.ones(3, 9, dtype=torch.bool)
    hidden[:, :3] = False
    moved, _ = model(torch.cat([words(3, 3, seed=1), SENTENCES], 1), hidden)
    assert_close(moved[:, 3:], model(SENTENCES)[0])


@RELATIVE
def test_cross_attention_gets_no_positions(name):
    model = make(**MODERN[name])
    attentions = {name: m for name, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
    within = {name for name, m in attentions.items() if m.rotation is not None or m.score_bias is not None}
    assert within == {name for name in attentions if name.endswith("self_attention")}
    assert len(within) == 2 * LAYERS


# ---- parts put in ----


class RootMeanSquare(nn.Module):
    """x / √(mean x² + ε) · gain: Zhang & Sennrich 2019, equation 4."""

    def __init__(self, model_size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(model_size))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class RootMeanSquarePreNorm(PreNorm):
    make_norm = last = RootMeanSquare


class Gated(nn.Module):
    """SwiGLU: Shazeer 2020, equation 6."""

    def __init__(self, model_size, inner_size, dropout):
        super().__init__()
        self.gate, self.inner = (nn.Linear(model_size, inner_size, bias=False) for _ in range(2))
        self.outer = nn.Linear(inner_size, model_size, bias=False)

    def forward(self, x):
        return self.outer(F.silu(self.gate(x)) * self.inner(x))


class Experts(nn.Module):
    """The best of a few feed-forward parts for each word, and the loss that balances them: Fedus et al. 2022, 2.2."""

    def __init__(self, model_size, inner_size, dropout, experts=3):
        super().__init__()
        self.router = nn.Linear(model_size, experts)
        self.experts = nn.ModuleList(FeedForward(model_size, inner_size, dropout) for _ in range(experts))

    def forward(self, x):
        shares = self.router(x).softmax(-1)
        best = F.one_hot(shares.argmax(-1), len(self.experts)).to(x)
        gates = (shares * best).unbind(-1)
        y = sum(gate[..., None] * expert(x) for gate, expert in zip(gates, self.experts, strict=True))
        balance = len(self.experts) * (best.flatten(0, -2).mean(0) * shares.flatten(0, -2).mean(0)).sum()
        return WithLoss(y, balance)


LLAMA = {
    "residual": RootMeanSquarePreNorm,
    "feed_forward": Gated,
    "positions": None,
    "self_attention": partial(MultiHeadAttention, rotation=RotaryPositions, key_value_heads=1, projection_bias=False),
    "cross_attention": partial(MultiHeadAttention, projection_bias=False),
    "embedding": partial(WordEmbedding, scale=1.0),
}


@classes
def test_a_whole_model_of_other_parts_needs_no_other_layer(model_class):
    model = make(model_class, **LLAMA)
    assert not any(isinstance(m, LayerNorm | FeedForward) for m in model.modules())
    named = {name.rsplit(".", 1)[1] for name, _ in model.named_parameters() if ".layers." in name}
    assert named == {"weight"}
    logits, _ = run(model)
    logits.square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in model.parameters())
    if model_class is not EncoderOnly:
        inputs, memory = (WRITTEN, model.encode(SENTENCES, MASK)) if model_class is Transformer else (SENTENCES, None)
        state, wanted = model.start(memory), logits if memory else model(SENTENCES)[0]
        for t in range(inputs.shape[1]):
            step, state, _ = model.step(inputs[:, t], state, memory)
            assert_close(step, wanted[:, t])


@classes
def test_a_part_with_a_loss_reaches_the_caller_and_changes_no_shape(model_class):
    model, plain = make(model_class, feed_forward=Experts), make(model_class)
    with auxiliary_losses(model) as losses:
        logits, maps = run(model)
    assert len(losses) == (2 * LAYERS if model_class is Transformer else LAYERS)
    assert (logits.shape, maps) == (run(plain)[0].shape, None) and torch.equal(logits, run(model)[0])
    (gradient,) = torch.autograd.grad(sum(losses), model.get_submodule("encoder.layers.0.feed_forward.router").weight)
    assert gradient.any()
    with auxiliary_losses(plain) as none:
        run(plain)
    assert none == []


def test_a_core_without_weights_reads_and_writes_and_has_no_maps():
    def blurred(query, key, value, mask=None, bias=None, *, dropout=0.0, need_weights=False):
        return value.cumsum(2)[:, :, -query.shape[2] :], None

    model = make(self_attention=partial(MultiHeadAttention, core=blurred))
    logits, maps = run(model, need_weights=True)
    assert maps.encoder is None and maps.decoder is None and maps.cross is not None
    memory = model.encode(SENTENCES, MASK)
    state = model.start(memory)
    for t in range(5):
        step, state, weights = model.step(WRITTEN[:, t], state, memory)
        assert_close(step, logits[:, t])
    assert weights.shape == (3, 6)


@pytest.mark.parametrize("model_class", [EncoderOnly, DecoderOnly])
@pytest.mark.parametrize("residual", [PreNorm, PostNorm])
def test_the_states_of_every_layer(model_class, residual):
    model = make(model_class, residual=residual)
    states = model.states(SENTENCES, MASK)
    *seen, logits = outputs_of_layers(model.encoder, partial(run, model))
    assert_close(states, torch.stack([model.embedding(SENTENCES), *seen], 1))
    assert_close(model.output(model.encoder.last(states[:, -1])), logits)


def test_an_embedding_of_other_parts():
    """As BERT's: words, positions and types summed, unscaled; then a norm."""
    make_embedding = partial(WordEmbedding, scale=1.0, norm=partial(LayerNorm, epsilon=1e-12), types=2)
    model = make(EncoderOnly, embedding=make_embedding, positions=LearnedPositions)
    embed, types = model.embedding, (SENTENCES > 6).long()
    x = embed.weight[SENTENCES] + embed.positions.weight[:6] + embed.types.weight[types]
    wanted = embed.norm(x)
    assert_close(embed(SENTENCES, types=types), wanted)
    assert_close(embed(SENTENCES), embed(SENTENCES, types=torch.zeros_like(types)))
    assert_close(model(SENTENCES, MASK, types=types)[0], model.output(model.encoder(wanted, MASK[:, None, None])[0]))
    assert_close(model.states(SENTENCES, MASK, types=types)[:, 0], wanted)
    with pytest.raises(ValueError, match="types were given, and this embedding has none"):
        make(EncoderOnly)(SENTENCES, types=types)


def test_settings_are_one_frozen_object_and_a_wrong_name_is_refused():
    assert Settings(heads=2) == Settings(heads=2) != Settings()
    with pytest.raises(AttributeError):
        Settings().heads = 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'head'"):
        Transformer(9, 9, head=2)


# ---- parts chosen and left out ----


@residuals
@classes
def test_a_residual_of_ones_own_stands_around_every_part(model_class, residual):
    model = make(model_class, residual=residual)
    layers = [m for m in model.modules() if isinstance(m, EncoderLayer)]
    around = [m for layer in layers for name, m in layer.named_children() if name.endswith("_residual")]
    assert len(around) == (LAYERS * (2 + 3) if model_class is Transformer else LAYERS * 2)
    assert all(type(m) is residual for m in around)
    stacks = [m for m in model.modules() if isinstance(m, Encoder)]
    ends = LayerNorm if residual in (PreNorm, NoResidual) else nn.Identity
    assert all(type(stack.last) is ends for stack in stacks)


def test_with_pre_norm_the_sum_runs_through_and_without_residual_it_does_not():
    """All parts silent: what comes out of the layers is what went in, or nothing."""
    for residual, through in ((PreNorm, True), (NoNorm, True), (NoResidual, False)):
        model = make(EncoderOnly, residual=residual)
        for layer in model.encoder.layers:
            for silent in (layer.self_attention.output_projection, layer.feed_forward.outer):
                nn.init.zeros_(silent.weight)
                nn.init.zeros_(silent.bias)
        x = vectors(2, 4)
        model.encoder.last = nn.Identity()
        assert_close(model.encoder(x)[0], x if through else torch.zeros_like(x))


def test_post_norm_leaves_every_layer_normalised_and_pre_norm_only_the_stack():
    for residual, inside in ((PostNorm, True), (PreNorm, False)):
        torch.manual_seed(0)
        model = EncoderOnly(SOURCE, model_size=SIZE, heads=HEADS, residual=residual)
        *layers, _ = outputs_of_layers(model.encoder, partial(model, SENTENCES))
        ended = model.encoder(model.embedding(SENTENCES))[0]
        assert all((x.var(-1, correction=0) - 1).abs().max().item() < 1e-3 for x in layers) == inside
        assert (ended.var(-1, correction=0) - 1).abs().max().item() < 1e-3


def test_a_residual_of_a_trained_model_can_be_cut_and_put_back():
    model = make()
    layer, x = model.encoder.layers[1], vectors(2, 4)
    kept, wanted = layer.self_attention_residual, run(model)[0]
    layer.self_attention_residual = NoResidual(SIZE).double()
    layer.self_attention_residual.load_state_dict(kept.state_dict())
    y, _ = layer.self_attention(kept.norm(x))
    assert_close(layer(x)[0], layer.feed(y))
    assert not torch.allclose(run(model)[0], wanted)
    layer.self_attention_residual = kept
    assert torch.equal(run(model)[0], wanted)


@pytest.mark.parametrize("size", [None, 0])
@classes
def test_feed_forward_can_be_left_out(model_class, size):
    model = make(model_class, feed_forward_size=size)
    assert not any(isinstance(m, FeedForward) for m in model.modules())
    without = sum(p.numel() for p in model.parameters())
    layers = 2 * LAYERS if model_class is Transformer else LAYERS
    feed_forward = 2 * SIZE * INNER + INNER + SIZE + 2 * SIZE  # and its norm
    assert sum(p.numel() for p in make(model_class).parameters()) == without + layers * feed_forward
    assert run(model)[0].isfinite().all()


def test_the_number_of_parameters():
    attention, norm, feed_forward = 4 * (64 * 64 + 64), 2 * 64, 2 * 64 * 256 + 256 + 64
    layers = 2 * (attention + feed_forward + 2 * norm) + 2 * (2 * attention + feed_forward + 3 * norm) + 2 * norm
    assert sum(p.numel() for p in Transformer(83, 113).parameters()) == 83 * 64 + layers + 2 * 113 * 64 + 113


@classes
def test_tie_is_one_parameter_for_the_table_and_the_output(model_class):
    tied, free = make(model_class, tie=True), make(model_class)
    embedding = tied.target_embedding if model_class is Transformer else tied.embedding
    assert tied.output.weight is embedding.weight
    counts = [sum(p.numel() for p in model.parameters()) for model in (free, tied)]
    assert counts[0] - counts[1] == embedding.weight.numel()
    for again in (copy.deepcopy(tied), pickle.loads(pickle.dumps(tied))):
        table = again.target_embedding if model_class is Transformer else again.embedding
        assert again.output.weight is table.weight and table.weight is not embedding.weight


def test_tie_leaves_the_source_with_words_of_its_own():
    assert make(tie=True).source_embedding.weight.shape == (SOURCE, SIZE)


def test_a_stack_without_layers_is_refused():
    with pytest.raises(ValueError, match="no layer was given"):
        Transformer(9, 9, layers=0)


# ---- how it starts ----


@pytest.mark.parametrize("tie", [False, True])
def test_it_starts_with_words_as_large_as_positions_and_small_logits(tie):
    torch.manual_seed(0)
    model = Transformer(200, 200, model_size=128, positions=None, tie=tie)
    for embedding in (model.source_embedding, model.target_embedding):
        assert 0.95 < embedding(torch.arange(200)[None]).var().item() < 1.05
    logits, _ = model(torch.arange(4, 44)[None], None, torch.arange(60, 100)[None])
    assert 0.5 < logits.var().item() < 1.5
    linear = [m for m in model.modules() if isinstance(m, nn.Linear)]
    assert not any(m.bias.any() for m in linear)
    for m in linear[: len(linear) - tie]:
        bound = (6 / sum(m.weight.shape)) ** 0.5
        assert 0.98 * bound < m.weight.abs().max() <= bound


@variants
def test_every_parameter_has_a_gradient(settings):
    model = make(**settings)
    run(model)[0].square().sum().backward()
    silent = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert silent == []


# ---- dropout ----


@classes
def test_dropout_acts_in_training_only(model_class):
    model = make(model_class, dropout=0.5)
    wanted, _ = run(make(model_class))
    assert torch.equal(run(model)[0], run(model)[0])
    assert_close(run(model)[0], wanted)
    model.train()
    torch.manual_seed(0)
    once, again = run(model)[0], run(model)[0]
    assert not torch.allclose(once, again) and not torch.allclose(once, wanted)
    torch.manual_seed(0)
    assert torch.equal(run(model)[0], once)


def test_dropout_has_every_place_that_the_docstrings_name():
    model = Transformer(9, 9, dropout=0.3)
    assert sorted(name for name, m in model.named_modules() if isinstance(m, nn.Dropout) and m.p == 0.3) == sorted(
        ["source_embedding.dropout", "target_embedding.dropout"]
        + [
            f"{stack}.layers.{number}.{part}.dropout"
            for stack, parts in (
                ("encoder", ["self_attention_residual", "feed_forward", "feed_forward_residual"]),
                (
                    "decoder",
                    ["self_attention_residual", "cross_attention_residual", "feed_forward", "feed_forward_residual"],
                ),
            )
            for number in range(2)
            for part in parts
        ]
    )
    attentions = [m for m in model.modules() if hasattr(m, "query_projection")]
    assert len(attentions) == 6 and {m.dropout for m in attentions} == {0.3}


def test_embeddings_drop_the_sum_of_word_and_position():
    embedding = make(dropout=1.0).train().source_embedding
    assert not embedding(SENTENCES).any()


# ---- keeping and moving ----


@variants
def test_what_is_saved_is_all_there_is(settings):
    model = make(**settings)
    other = randomized(make(**settings), seed=1)
    assert not torch.allclose(run(other)[0], run(model)[0])
    other.load_state_dict(model.state_dict())
    assert torch.equal(run(other)[0], run(model)[0])
    named = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert model.state_dict().keys() == named  # no buffers, no position table


@classes
def test_copies_and_pickles_compute_the_same(model_class):
    model = make(model_class)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(run(again)[0], run(model)[0])


@variants
def test_float32_and_float64_go_through(settings):
    model = make(**settings)
    logits, maps = run(model, need_weights=True)
    assert {logits.dtype, *(weights.dtype for weights in maps)} == {torch.float64}
    single, _ = run(copy.deepcopy(model).float())
    assert single.dtype == torch.float32
    assert_close(single.double(), logits, atol=1e-4 * logits.abs().max().item(), rtol=0)


@classes
def test_everything_is_made_on_the_models_device(model_class):
    model = make(model_class).to("meta")
    sentences, written = SENTENCES.to("meta"), WRITTEN.to("meta")
    inputs = (sentences, None, written) if model_class is Transformer else (sentences,)
    logits, maps = model(*inputs, need_weights=True)
    assert logits.device.type == "meta"
    if model_class is not EncoderOnly:
        memory = model.encode(sentences, None) if model_class is Transformer else None
        words = sentences[:, 0]
        _, state, _ = model.step(words, model.start(memory), memory)
        assert model.step(words, state, memory)[0].device.type == "meta"


@classes
def test_a_batch_of_one_is_the_row_of_a_larger_one(model_class):
    model = make(model_class)
    inputs = (SENTENCES, MASK, WRITTEN) if model_class is Transformer else (SENTENCES, MASK)
    logits, _ = model(*inputs)
    assert_close(model(*(tensor[:1] for tensor in inputs))[0], logits[:1])


@classes
def test_arguments_stay_as_they_are(model_class):
    before = [tensor.clone() for tensor in (SENTENCES, MASK, WRITTEN)]
    run(make(model_class), need_weights=True)
    assert all(map(torch.equal, before, (SENTENCES, MASK, WRITTEN)))


# ---- what is refused ----


def test_an_empty_sentence_is_named():
    mask = MASK.clone()
    mask[1] = False
    empty = pytest.raises(ValueError, match="sentence 1 is empty; every sentence needs a word")
    for call in (
        partial(make().encode, SENTENCES, mask),
        partial(make(), SENTENCES, mask, WRITTEN),
        partial(make(EncoderOnly), SENTENCES, mask),
        partial(make(DecoderOnly), SENTENCES, mask),
    ):
        with empty:
            call()


def test_a_mask_that_does_not_fit_is_refused_even_if_it_hides_nothing(unchecked):
    with pytest.raises(ValueError, match="the mask's key axis looks wrong: 4, wanted 6"):
        make().encode(SENTENCES, torch.ones(3, 4, dtype=torch.bool))
    with pytest.raises(TypeError, match="it must be torch.bool"):
        make().encode(SENTENCES, torch.ones(3, 6))


def test_past_a_learned_table_it_raises_in_training_and_in_writing():
    model = make(positions=partial(LearnedPositions, rows=6))
    run(model)
    with pytest.raises(ValueError, match="position 6 was asked for, and the learned table has 6 rows"):
        model(SENTENCES, MASK, words(3, 7, size=TARGET))
    memory = model.encode(SENTENCES, MASK)
    state = model.start(memory)
    for _ in range(6):
        _, state, _ = model.step(WRITTEN[:, 0], state, memory)
    with pytest.raises(ValueError, match="position 6 was asked for"):
        model.step(WRITTEN[:, 0], state, memory)


def test_heads_that_do_not_divide_and_an_odd_size_are_refused():
    with pytest.raises(ValueError, match="cannot be cut into 5 heads"):
        Transformer(9, 9, heads=5)
    with pytest.raises(ValueError, match="model_size is 9; sines and cosines"):
        Transformer(9, 9, model_size=9, heads=3)


# ---- with the rest of the library ----


@pytest.mark.slow
def test_training_decoding_and_metrics_use_it_as_they_use_the_recurrent_one(tiny):
    sizes = len(tiny.source_vocabulary), len(tiny.target_vocabulary)
    build = partial(Transformer, *sizes, model_size=16, heads=2, layers=1, feed_forward_size=32, dropout=0.1)
    model, history = fit(build, tiny, epochs=2, learning_rate=1e-2)
    assert sum(history.loss[-3:]) < 0.9 * sum(history.loss[:3])
    pairs = tiny.validation[:3]
    for translation, pair in zip(greedy(model, tiny, [pair.source for pair in pairs]), pairs, strict=True):
        assert translation.attention.weights.shape == (len(translation.tokens), len(pair.source))
    batch = tiny.batch(pairs)
    _, maps = model(batch.source, batch.source_mask, batch.target_input, need_weights=True)
    links = strongest_links(maps.cross[:, -1].mean(1), pairs)
    assert [len(found) for found in links] == [len(pair.target) for pair in pairs]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"residual": PostNorm}, {"positions": LearnedPositions}, {"positions": None}, {"layers": 3}, *MODERN.values()],
    ids=lambda settings: ", ".join(settings),
)
def test_each_choice_has_a_fingerprint_of_its_own(settings):
    plain = partial(Transformer, 9, 9, positions=SinusoidalPositions)
    assert fingerprint(partial(plain, **settings)) != fingerprint(plain) == fingerprint(partial(plain))
