"""Rewards, pairs and losses of lesson 14: compared with sums by hand, torch's own losses and exact expectations."""

import itertools
from functools import partial

import pytest
import torch
from torch.distributions import Categorical, kl_divergence
from torch.nn import functional as F

from course_lib import preferences
from course_lib.language_models import RecurrentLanguageModel, TransformerLanguageModel

BUILDS = [
    partial(TransformerLanguageModel, 5, trained_length=12, model_size=8, heads=2, feed_forward_size=8, layers=1),
    partial(RecurrentLanguageModel, 5, trained_length=12, hidden_size=8, embedding_size=4),
]


def built(build, seed=0):
    torch.manual_seed(seed)
    return build().eval()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One two three.", 1),
        ("one two three.", 0),
        ("One two.", 0),
        ("One two three", 0),
        ("A b c! D e f? G h i.", 3),
        ("A b c.D e f.", 1),  # no white space, so no end
        ("A b c.\n\nD e\nf.", 2),
        ("Yes. No. ... .", 0),
        ("and so on. This is one.", 1),
    ],
)
def test_a_finished_sentence_has_three_words_a_capital_and_an_end(text, count):
    assert preferences.finished_sentences(text) == count


@pytest.mark.parametrize("build", BUILDS)
def test_log_p_is_the_sum_over_the_continuation_word_by_word(build):
    model, words = built(build), torch.randint(5, (4, 9), generator=torch.Generator().manual_seed(1))
    found = preferences.log_p_of(model, words[:, :3], words[:, 3:])
    by_hand = torch.zeros(4)
    with torch.no_grad():
        for end in range(3, 9):
            log_p = model(words[:, :end])[0][:, -1].log_softmax(-1)  # (4, 5)
            by_hand += log_p[range(4), words[:, end]]
    torch.testing.assert_close(found, by_hand, atol=1e-5, rtol=0)


@pytest.mark.parametrize("build", BUILDS)
def test_continuations_are_drawn_with_the_probabilities_that_log_p_gives(build):
    model, prompts = built(build), torch.tensor([[1, 2]])
    texts = torch.tensor(list(itertools.product(range(5), repeat=2)))  # all continuations of two tokens
    p = preferences.log_p_of(model, prompts.expand(25, 2), texts).exp()
    assert float(p.sum()) == pytest.approx(1, abs=1e-5)
    drawn = preferences.continued(model, prompts.expand(20_000, 2), 2, torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn[:, 0] * 5 + drawn[:, 1], minlength=25) / 20_000
    assert (shares - p).abs().max() < 0.02


def test_pairs_have_the_higher_reward_first_and_no_ties():
    prompts, one, other = torch.arange(4)[:, None], torch.zeros(4, 2).long(), torch.ones(4, 2).long()
    pairs = preferences.compared(prompts, one, other, torch.tensor([2.0, 1, 0, 3]), torch.tensor([1.0, 1, 5, 0]))
    assert pairs.prompts.tolist() == [[0], [2], [3]]
    assert pairs.better[:, 0].tolist() == [0, 1, 0] and pairs.worse[:, 0].tolist() == [1, 0, 1]
    assert pairs.of(torch.tensor([1])).prompts.tolist() == [[2]]


def test_dpo_is_the_binary_cross_entropy_of_the_margin_and_stays_finite():
    generator = torch.Generator().manual_seed(0)
    better, worse, old_better, old_worse = (50 * torch.randn(7, generator=generator) for _ in range(4))
    for beta in (0.01, 0.3, 2.0):
        margin = beta * ((better - old_better) - (worse - old_worse))
        wanted = F.binary_cross_entropy_with_logits(margin, torch.ones(7))
        torch.testing.assert_close(preferences.dpo_loss(better, worse, old_better, old_worse, beta), wanted)
    far = torch.tensor([-1e4], requires_grad=True)
    loss = preferences.dpo_loss(far, torch.zeros(1), torch.zeros(1), torch.zeros(1), 1.0)
    loss.backward()
    assert float(loss) == 1e4 and float(far.grad) == -1


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_the_policy_gradient_is_that_of_the_reward_and_the_penalty(beta):
    """With many draws, the mean gradient must be the exact one."""
    scores = torch.tensor([0.3, -0.2, 0.9], requires_grad=True)
    old, rewards = torch.tensor([0.5, 0.3, 0.2]).log(), torch.tensor([1.0, 0.0, 2.0])
    now = Categorical(logits=scores)
    exact = -(now.probs * rewards).sum() + beta * kl_divergence(now, Categorical(logits=old))
    (wanted,) = torch.autograd.grad(exact, scores, retain_graph=True)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(now.probs.detach(), 400_000, True, generator=generator)
    loss = preferences.policy_gradient_loss(now.log_prob(drawn), old[drawn], rewards[drawn], beta)
    (found,) = torch.autograd.grad(loss, scores)
    torch.testing.assert_close(found, wanted, atol=5e-3, rtol=0)


def test_each_step_follows_a_call_of_the_loss_and_is_clipped():
    number = torch.nn.Parameter(torch.tensor([5.0]))
    calls = []

    def loss():
        calls.append(float(number.detach()))
        return 1000 * (number**2).sum()

    steps = [(step, len(calls)) for step in preferences.taught([number], loss, 5, 0.1)]
    assert steps == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
    assert calls == sorted(calls, reverse=True) and calls[0] - float(number.detach()) == pytest.approx(0.5, abs=1e-3)
