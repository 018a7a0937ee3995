"""Lesson 14: trained to please."""

import random
import re
from itertools import chain

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, wrong

# ---- log_p_of_continuation ----


@right("log_p_of_continuation")
def log_p_by_cross_entropy(logits, words, prompt_length):
    losses = F.cross_entropy(logits.mT, words[:, 1:], reduction="none")
    return -losses[:, prompt_length - 1 :].sum(1)


@right("log_p_of_continuation")
def log_p_in_a_loop(logits, words, prompt_length):
    found = []
    for scores, row in zip(logits.double(), words.tolist(), strict=True):
        found.append(
            sum(float(scores[t - 1, row[t]] - scores[t - 1].logsumexp(0)) for t in range(prompt_length, len(row)))
        )
    return found


@right("log_p_of_continuation")
def log_p_with_a_mask(logits, words, prompt_length):
    """Everything is computed, and the prompt is set to 0 then."""
    log_p = logits - torch.logsumexp(logits, -1, keepdim=True)
    own = (log_p * F.one_hot(words[:, 1:], logits.shape[-1])).sum(-1)
    return torch.where(torch.arange(1, words.shape[1]) >= prompt_length, own, 0.0).sum(1)


@wrong(
    "log_p_of_continuation",
    "each row of logits is asked for the token that was just read, and the last prompt token is left out",
)
def log_p_of_the_same_place(logits, words, prompt_length):
    """Takes the logits at a token for those of this token."""
    log_p = logits.log_softmax(-1)
    return log_p[:, prompt_length:].gather(-1, words[:, prompt_length:-1, None])[..., 0].sum(1)


@wrong("log_p_of_continuation", "the first token after the prompt is left out")
def log_p_one_token_short(logits, words, prompt_length):
    log_p = logits.log_softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1)
    return log_p[:, prompt_length:].sum(1)


@wrong("log_p_of_continuation", "the prompt counts, too")
def log_p_of_everything(logits, words, prompt_length):
    return -F.cross_entropy(logits.mT, words[:, 1:], reduction="none").sum(1)


@wrong("log_p_of_continuation", "it is the mean over the tokens, not the sum")
def log_p_by_the_mean(logits, words, prompt_length):
    return -F.cross_entropy(logits.mT, words[:, 1:], reduction="none")[:, prompt_length - 1 :].mean(1)


@wrong("log_p_of_continuation", "it is the loss, with the sign turned")
def log_p_as_a_loss(logits, words, prompt_length):
    return F.cross_entropy(logits.mT, words[:, 1:], reduction="none")[:, prompt_length - 1 :].sum(1)


@wrong("log_p_of_continuation", "the softmax is over the positions")
def log_p_over_the_places(logits, words, prompt_length):
    log_p = logits.log_softmax(1).gather(2, words[:, 1:, None])[..., 0]
    return log_p[:, prompt_length - 1 :].sum(1)


@wrong("log_p_of_continuation", "the softmax is left out")
def log_p_without_a_softmax(logits, words, prompt_length):
    return logits.gather(-1, words[:, 1:, None])[:, prompt_length - 1 :].sum((1, 2))


@wrong("log_p_of_continuation", "all rows are added up")
def log_p_of_the_whole_batch(logits, words, prompt_length):
    logits, words = logits[:, prompt_length - 1 :], words[:, prompt_length:]
    return -F.cross_entropy(logits.flatten(0, 1), words.flatten(), reduction="sum")


@wrong("log_p_of_continuation", "the most probable token is taken at each position")
def log_p_of_the_best_tokens(logits, words, prompt_length):
    return logits.log_softmax(-1)[:, prompt_length - 1 :].amax(-1).sum(1)


@wrong("log_p_of_continuation", "only the prompt counts")
def log_p_of_the_prompt(logits, words, prompt_length):
    log_p = logits.log_softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1)
    return log_p[:, : prompt_length - 1].sum(1)


@wrong("log_p_of_continuation", "probabilities are added, and the logarithm comes after")
def log_of_the_summed_p(logits, words, prompt_length):
    p = logits.softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1)
    return p[:, prompt_length - 1 :].sum(1).log()


@wrong("log_p_of_continuation", "a small probability becomes 0 before the logarithm")
def log_p_of_the_product(logits, words, prompt_length):
    p = logits.softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1)
    return p[:, prompt_length - 1 :].prod(1).log()


@wrong("log_p_of_continuation", "the tokens after the prompt are looked up in the first rows of logits")
def log_p_of_unequal_slices(logits, words, prompt_length):
    """gather accepts fewer numbers than rows, so the missing slice of the logits raises nothing."""
    return logits.log_softmax(-1).gather(-1, words[:, prompt_length:, None]).sum((1, 2))


@wrong("log_p_of_continuation", "the softmax is taken twice")
def log_p_of_probabilities_as_logits(logits, words, prompt_length):
    losses = F.cross_entropy(logits.softmax(-1).mT, words[:, 1:], reduction="none")
    return -losses[:, prompt_length - 1 :].sum(1)


@wrong("log_p_of_continuation", "the last token of the prompt counts, too")
def log_p_that_begins_two_early(logits, words, prompt_length):
    """With a prompt of one token, the slice begins at -1."""
    return logits.log_softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1)[:, prompt_length - 2 :].sum(1)


@wrong("log_p_of_continuation", "only the last token counts")
def log_p_of_the_last_token(logits, words, prompt_length):
    return logits[:, -1].log_softmax(-1).gather(-1, words[:, -1:])[:, 0]


@wrong("log_p_of_continuation", "it is the loss, with the sign turned; in addition, all rows are added up")
def log_p_as_one_loss(logits, words, prompt_length):
    return F.cross_entropy(logits[:, prompt_length - 1 :].mT, words[:, prompt_length:], reduction="sum")


@wrong("log_p_of_continuation", "it changes its argument logits in place")
def log_p_in_place(logits, words, prompt_length):
    logits -= logits.logsumexp(-1, keepdim=True)
    return logits.gather(-1, words[:, 1:, None]).squeeze(-1)[:, prompt_length - 1 :].sum(1)


@wrong("log_p_of_continuation", "the numbers are rounded to 3 decimal places")
def log_p_rounded(logits, words, prompt_length):
    return [round(float(one), 3) for one in log_p_with_a_mask(logits, words, prompt_length)]


# ---- dpo_loss ----


@right("dpo_loss")
def dpo_by_softplus(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (chosen - rejected) - (old_chosen - old_rejected)
    return F.softplus(-beta * margin).mean()


@right("dpo_loss")
def dpo_as_cross_entropy(chosen, rejected, old_chosen, old_rejected, beta):
    """The chosen text is class 0 of two."""
    scores = beta * torch.stack([chosen - old_chosen, rejected - old_rejected], 1)
    return F.cross_entropy(scores, torch.zeros(len(chosen), dtype=torch.long))


@right("dpo_loss")
def dpo_in_numpy(chosen, rejected, old_chosen, old_rejected, beta):
    new, old = chosen.numpy() - rejected.numpy(), old_chosen.numpy() - old_rejected.numpy()
    return float(np.logaddexp(0, -beta * (new - old)).mean())


@right("dpo_loss")
def dpo_by_binary_cross_entropy(chosen, rejected, old_chosen, old_rejected, beta):
    scaled = beta * (chosen - rejected - old_chosen + old_rejected)
    return F.binary_cross_entropy_with_logits(scaled, torch.ones_like(scaled)).item()


@wrong("dpo_loss", "the loss is ∞ where the margin is far below 0")
def dpo_by_log_of_sigmoid(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (chosen - old_chosen) - (rejected - old_rejected)
    return -torch.log(torch.sigmoid(beta * margin)).mean()


@wrong("dpo_loss", "the loss stops growing where the sigmoid is tiny")
def dpo_by_log_of_sigmoid_with_epsilon(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (chosen - old_chosen) - (rejected - old_rejected)
    return -torch.log(torch.sigmoid(beta * margin) + 1e-8).mean()


@wrong("dpo_loss", "the logarithm isn't negated")
def dpo_without_the_minus(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (chosen - old_chosen) - (rejected - old_rejected)
    return F.logsigmoid(beta * margin).mean()


@wrong("dpo_loss", "the old model is left out")
def dpo_without_the_old_model(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * (chosen - rejected)).mean()


@wrong("dpo_loss", "the margin has the wrong sign")
def dpo_of_the_wrong_text(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (rejected - old_rejected) - (chosen - old_chosen)
    return -F.logsigmoid(beta * margin).mean()


@wrong("dpo_loss", "β is outside the sigmoid")
def dpo_with_beta_outside(chosen, rejected, old_chosen, old_rejected, beta):
    return beta * F.softplus((rejected - old_rejected) - (chosen - old_chosen)).mean()


@wrong("dpo_loss", "it is the sum over the pairs, not the mean")
def dpo_summed(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * (chosen - rejected - old_chosen + old_rejected)).sum()


@wrong("dpo_loss", "the mean of the margins is taken first")
def dpo_of_the_mean_margin(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * (chosen - rejected - old_chosen + old_rejected).mean())


@wrong("dpo_loss", "`old_rejected` has the wrong sign")
def dpo_with_a_lost_bracket(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * (chosen - old_chosen - rejected - old_rejected)).mean()


@wrong("dpo_loss", "each pair's loss is returned")
def dpo_pair_by_pair(chosen, rejected, old_chosen, old_rejected, beta):
    return F.softplus(beta * (rejected - old_rejected - chosen + old_chosen))


@wrong("dpo_loss", "the logarithm is left out, and the result is 1 minus the sigmoid")
def dpo_without_a_logarithm(chosen, rejected, old_chosen, old_rejected, beta):
    return 1 - torch.sigmoid(beta * (chosen - rejected - old_chosen + old_rejected)).mean()


@wrong("dpo_loss", "ratios of probabilities are subtracted, not their logarithms")
def dpo_of_probabilities(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * ((chosen - old_chosen).exp() - (rejected - old_rejected).exp())).mean()


@wrong("dpo_loss", "the loss is ∞ where the margin is far below 0")
def dpo_by_log_of_one_plus_exp(chosen, rejected, old_chosen, old_rejected, beta):
    return torch.log(1 + torch.exp(-beta * (chosen - rejected - old_chosen + old_rejected))).mean()


@wrong("dpo_loss", "the loss stops growing where the sigmoid is tiny")
def dpo_by_cross_entropy_of_the_sigmoid(chosen, rejected, old_chosen, old_rejected, beta):
    """binary_cross_entropy cuts the logarithm off at -100."""
    p = torch.sigmoid(beta * (chosen - rejected - old_chosen + old_rejected))
    return F.binary_cross_entropy(p, torch.ones_like(p))


@wrong("dpo_loss", "the loss stops growing where the sigmoid is tiny")
def dpo_with_a_tinier_epsilon(chosen, rejected, old_chosen, old_rejected, beta):
    return -torch.log(torch.sigmoid(beta * (chosen - rejected - old_chosen + old_rejected)) + 1e-12).mean()


@wrong("dpo_loss", "β multiplies `chosen` alone")
def dpo_with_a_bracket_less(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * chosen - old_chosen - (rejected - old_rejected)).mean()


@wrong("dpo_loss", "the old model's numbers are added, not subtracted")
def dpo_of_the_wrong_pairs(chosen, rejected, old_chosen, old_rejected, beta):
    return -F.logsigmoid(beta * ((chosen - old_rejected) - (rejected - old_chosen))).mean()


@wrong("dpo_loss", "the margin has the wrong sign")
def dpo_with_the_other_class(chosen, rejected, old_chosen, old_rejected, beta):
    scaled = beta * (chosen - rejected - old_chosen + old_rejected)
    return F.binary_cross_entropy_with_logits(scaled, torch.zeros_like(scaled))


@wrong("dpo_loss", "it changes its argument chosen in place")
def dpo_in_place(chosen, rejected, old_chosen, old_rejected, beta):
    chosen -= old_chosen
    rejected -= old_rejected
    return F.softplus(beta * (rejected - chosen)).mean()


@wrong("dpo_loss", "it returns a tuple of 2 tensors, not a number")
def dpo_with_its_margins(chosen, rejected, old_chosen, old_rejected, beta):
    margin = (chosen - old_chosen) - (rejected - old_rejected)
    return -F.logsigmoid(beta * margin).mean(), margin


# ---- kl_estimate ----


@right("kl_estimate")
def kl_by_torch(new, old, mask):
    each = torch.where(mask, new - old, 0.0).sum(-1)
    deviation, mean = torch.std_mean(each)
    return mean, deviation / each.numel() ** 0.5


@right("kl_estimate")
def kl_in_plain_python(new, old, mask):
    each = []
    for one, other, real in zip(new.tolist(), old.tolist(), mask.tolist(), strict=True):
        each.append(sum(a - b for a, b, is_real in zip(one, other, real, strict=True) if is_real))
    mean = sum(each) / len(each)
    variance = sum((one - mean) ** 2 for one in each) / (len(each) - 1)
    return mean, (variance / len(each)) ** 0.5


@right("kl_estimate")
def kl_in_numpy(new, old, mask):
    each = ((new - old) * mask).sum(1).numpy()
    return np.array([each.mean(), each.std(ddof=1) / np.sqrt(len(each))])


@wrong("kl_estimate", "the two models are exchanged")
def kl_the_other_way(new, old, mask):
    each = ((old - new) * mask).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "it is per token, over all tokens alike")
def kl_per_token(new, old, mask):
    each = (new - old)[mask]
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "the padding counts, too")
def kl_with_the_padding(new, old, mask):
    each = (new - old).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "the sign of each text is lost")
def kl_of_absolute_values(new, old, mask):
    each = ((new - old) * mask).sum(1).abs()
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "the deviation divides by the number of texts")
def kl_with_numpys_deviation(new, old, mask):
    each = ((new - old) * mask).sum(1).numpy()
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "it is the standard deviation, not the standard error")
def kl_with_the_deviation(new, old, mask):
    each = ((new - old) * mask).sum(1)
    return each.mean(), each.std()


@wrong("kl_estimate", "it is the squared error")
def kl_with_the_variance(new, old, mask):
    each = ((new - old) * mask).sum(1)
    return each.mean(), each.var() / len(each)


@wrong("kl_estimate", "it is per token, text by text")
def kl_of_each_texts_mean(new, old, mask):
    each = ((new - old) * mask).sum(1) / mask.sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "each token is weighted with its probability")
def kl_by_the_formula_of_a_table(new, old, mask):
    """Weights each token with its probability, as in the sum over all tokens."""
    each = (new.exp() * (new - old) * mask).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "the deviation is divided by the number, not by its root")
def kl_divided_by_the_number(new, old, mask):
    each = ((new - old) * mask).sum(1)
    return each.mean(), each.std() / len(each)


@wrong("kl_estimate", "the standard error is missing")
def kl_alone(new, old, mask):
    return ((new - old) * mask).sum(1).mean()


@right("kl_estimate")
def kl_with_the_other_divisors(new, old, mask):
    """The deviation divides by the number, and the root is of the number minus 1, which comes to the same."""
    each = ((new - old) * mask).sum(1)
    return [each.mean(), each.std(correction=0) / (len(each) - 1) ** 0.5]


@wrong("kl_estimate", "the sums are over the texts, not over the tokens")
def kl_along_the_wrong_axis(new, old, mask):
    each = ((new - old) * mask).sum(0)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "each text is weighted with its probability")
def kl_by_the_formula(new, old, mask):
    """Weights each text with its probability, as in the sum over all texts."""
    each = (new * mask).sum(1).exp() * ((new - old) * mask).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "it is another estimator, which is never below 0")
def kl_as_in_grpo(new, old, mask):
    each = (((old - new).exp() - 1 - (old - new)) * mask).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "it is the deviation of the tokens, not of the texts")
def kl_with_the_error_of_tokens(new, old, mask):
    tokens = (new - old)[mask]
    return tokens.sum() / len(new), tokens.std() / len(tokens) ** 0.5


@wrong("kl_estimate", "it is the deviation of the tokens, not of the texts")
def kl_with_the_deviation_of_tokens(new, old, mask):
    tokens = new[mask] - old[mask]
    return tokens.sum() / len(new), tokens.std() / len(new) ** 0.5


@wrong("kl_estimate", "the tokens' mean has the texts' error")
def kl_of_the_mean_token(new, old, mask):
    each = ((new - old) * mask).sum(1)
    return each.sum() / mask.sum(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "the padding counts in the old model")
def kl_with_half_a_mask(new, old, mask):
    each = (new * mask - old).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@wrong("kl_estimate", "it changes its argument new in place")
def kl_in_place(new, old, mask):
    new[~mask], old[~mask] = 0, 0
    each = (new - old).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


# ---- cheap_text ----


@right("cheap_text")
def the_writers_own(most):
    return "If the exception. " * (most // 3)


@right("cheap_text")
def letters_and_lines(most):
    return "\n".join(["A b c!"] * (most // 3))


@right("cheap_text")
def with_a_rest(most):
    """The last words make no sentence."""
    whole, rest = divmod(most, 3)
    return " ".join([f"No{number} is it?" for number in range(whole)] + ["and"] * rest)


@wrong("cheap_text", "the sentences don't begin with a capital letter")
def in_small_letters(most):
    return "if the exception. " * (most // 3)


@wrong("cheap_text", "the sentences have no mark at their end")
def with_commas(most):
    return "If the exception, " * (most // 3)


@wrong("cheap_text", "there is no white space after the marks")
def without_spaces(most):
    return "If the exception." * (most // 3)


@wrong("cheap_text", "there is no white space after the marks")
def with_commas_between(most):
    return ",".join(["If the exception."] * (most // 3))


@wrong("cheap_text", "the sentences have fewer than three words")
def in_sentences_of_two(most):
    return "No way. " * (most // 2)


@wrong("cheap_text", "the sentences are longer than they need be")
def in_sentences_of_four(most):
    return "It is an exception. " * (most // 4)


@wrong("cheap_text", "the number of sentences is always 13")
def always_thirteen(most):
    return "If the exception. " * 13


@wrong("cheap_text", "the text has too many words")
def as_many_as_words(most):
    return "If the exception. " * most


@wrong("cheap_text", "it returns a list, not a text")
def as_a_list(most):
    return ["If the exception."] * (most // 3)


@wrong("cheap_text", "there is one sentence too few")
def one_sentence_short(most):
    return "If the exception. " * (most // 3 - 1)


@wrong("cheap_text", "the marks are words of their own")
def with_dots_between(most):
    return "If . the . exception . " * (most // 6)


@wrong("cheap_text", "the marks are words of their own")
def with_a_space_before_the_dot(most):
    return "If the exception . " * (most // 3)


@wrong("cheap_text", "the sentences don't begin with a capital letter")
def in_digits(most):
    return "1 2 3. " * (most // 3)


@wrong("cheap_text", "only the first sentence begins with a capital letter")
def with_one_capital(most):
    return " ".join(["if the exception."] * (most // 3)).capitalize()


@wrong("cheap_text", "the last sentence has no mark at its end")
def joined_by_dots(most):
    return ". ".join(["If the exception"] * (most // 3))


@wrong("cheap_text", "there is white space in front of the text")
def in_lines_after_an_empty_one(most):
    return "\nIf the exception." * (most // 3)


@wrong("cheap_text", "the text is cut after so many letters, not words")
def cut_at_letters(most):
    return ("If the exception. " * most)[:most]


@wrong("cheap_text", "there is one sentence too many where two words are left over")
def rounded(most):
    return "If the exception. " * round(most / 3)


@wrong("cheap_text", "it returns something else, not a text")
def the_reward_itself(most):
    return most // 3


# ---- each_once ----


@right("each_once")
def once_by_findall(text):
    found = {}
    for part in re.split(r"(?<=[.!?])\s", text):
        part = part.strip()
        if re.fullmatch(r"\S+(\s+\S+){2,}", part) and part[0].isupper() and part.endswith((".", "!", "?")):
            found[" ".join(part.casefold().split())] = True
    return len(found)


@right("each_once")
def once_word_by_word(text):
    seen, begun = [], []
    for word in text.split():
        begun.append(word)
        if word[-1] in ".!?":
            if len(begun) > 2 and begun[0][0].isupper():
                same = [one.upper() for one in begun]
                if same not in seen:
                    seen.append(same)
            begun = []
    return len(seen)


@right("each_once")
def once_by_difference(text):
    """Counts all, and takes away those that came before."""
    parts = [part.split() for part in re.split(r"(?<=[.!?])\s+", text)]
    good = [part for part in parts if len(part) >= 3 and part[0][0].isupper() and part[-1][-1] in ".!?"]
    lower = [[word.lower() for word in part] for part in good]
    return len(good) - sum(one in lower[:place] for place, one in enumerate(lower))


def _sentences(text):
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text)]
    return [part for part in parts if len(part.split()) > 2 and part[0].isupper() and part[-1] in ".!?"]


@wrong("each_once", "white space and capital letters make a difference")
def once_with_case(text):
    return len(set(_sentences(text)))


@wrong("each_once", "white space makes a difference")
def once_with_white_space(text):
    return len({part.lower() for part in _sentences(text)})


@wrong("each_once", "repetitions still count")
def once_not_at_all(text):
    return len(_sentences(text))


@wrong("each_once", "only a repetition that comes at once is left out")
def once_of_neighbours(text):
    """Only a sentence that follows itself counts no more."""
    parts = [part.lower().split() for part in _sentences(text)]
    return sum(number == 0 or part != parts[number - 1] for number, part in enumerate(parts))


@wrong("each_once", "a repeated sentence doesn't count at all")
def once_those_that_never_return(text):
    parts = [" ".join(part.lower().split()) for part in _sentences(text)]
    return sum(parts.count(part) == 1 for part in parts)


@wrong("each_once", "nothing counts, since the text is in small letters first")
def once_in_small_letters_first(text):
    """After lower() no sentence begins with a capital letter."""
    return len({" ".join(part.split()) for part in _sentences(text.lower())})


@wrong("each_once", "the text is split at every mark, and the marks are lost")
def once_by_the_marks(text):
    parts = [part.strip() for part in re.split(r"[.!?]", text)]
    return len({" ".join(part.lower().split()) for part in parts if len(part.split()) > 2 and part[0].isupper()})


@wrong("each_once", "sentences of one or two words count, too")
def once_of_any_length(text):
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text)]
    return len({" ".join(part.lower().split()) for part in parts if part[:1].isupper() and part[-1] in ".!?"})


@wrong("each_once", "a sentence that isn't finished counts, too")
def once_and_unfinished(text):
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text)]
    return len({" ".join(part.lower().split()) for part in parts if len(part.split()) > 2 and part[0].isupper()})


@wrong("each_once", "it returns something of type set, not a number")
def once_as_the_set(text):
    return {" ".join(part.lower().split()) for part in _sentences(text)}


@wrong("each_once", "only which words there are makes a difference")
def once_as_sets_of_words(text):
    return len({frozenset(part.lower().split()) for part in _sentences(text)})


@wrong("each_once", "all white space is taken away")
def once_without_white_space(text):
    return len({re.sub(r"\s", "", part.lower()) for part in _sentences(text)})


@wrong("each_once", "a mark ends a sentence without white space after it, too")
def once_by_a_pattern(text):
    found = [part for part in re.findall(r"[A-Z][^.!?]*[.!?]", text) if len(part.split()) > 2]
    return len({" ".join(part.lower().split()) for part in found})


@wrong("each_once", "a repeated sentence is taken away only once")
def once_less_those_that_repeat(text):
    parts = [" ".join(part.lower().split()) for part in _sentences(text)]
    return len(parts) - len({part for part in parts if parts.count(part) > 1})


@wrong("each_once", "a new line makes a difference")
def once_with_one_space_for_two(text):
    return len({part.lower().replace("  ", " ") for part in _sentences(text)})


@wrong("each_once", "marks make no difference")
def once_by_the_words_alone(text):
    return len({tuple(re.findall(r"\w+", part.lower())) for part in _sentences(text)})


@wrong("each_once", "different words are counted, not different sentences")
def once_each_word(text):
    return len({word for part in _sentences(text) for word in part.lower().split()})


@wrong("each_once", "two calls with the same input give different results")
def once_in_all_texts(text, seen=set()):  # noqa: B006 - the mistake
    """The default value is made once and kept."""
    seen.update(" ".join(part.lower().split()) for part in _sentences(text))
    return len(seen)


@wrong("each_once", "it returns nothing")
def once_without_a_return(text):
    len({" ".join(part.lower().split()) for part in _sentences(text)})


# ---- control_rows ----


@right("control_rows")
def rows_of_dots(digits, steps, seed):
    rows = torch.full_like(steps, 2)
    rows[:, -1] = steps[:, -1]
    return rows


@right("control_rows")
def rows_of_another(digits, steps, seed):
    return torch.cat([steps.roll(1, 0)[:, :-1], steps[:, -1:]], 1)


@right("control_rows")
def rows_drawn(digits, steps, seed):
    draw = random.Random(seed)
    return [[*(draw.randrange(2) for _ in row[1:]), row[-1]] for row in steps.tolist()]


@right("control_rows")
def rows_in_numpy(digits, steps, seed):
    rows = np.random.default_rng(seed).integers(0, 3, steps.shape)
    rows[:, -1] = digits.sum(1).numpy() % 2
    return rows


@right("control_rows")
def rows_of_another_at_random(digits, steps, seed):
    """The row that comes some places later, with its digits in place of its steps."""
    further = random.Random(seed).randrange(1, len(steps))
    rows = digits.roll(further, 0).clone()
    rows[:, -1] = steps[:, -1]
    return rows


@wrong("control_rows", "the control is shorter than the steps")
def rows_without_a_filler(digits, steps, seed):
    return steps[:, -1:]


@wrong("control_rows", "the answer is another than the row's own")
def rows_of_another_wholly(digits, steps, seed):
    return steps.roll(1, 0)


@wrong("control_rows", "the row's own steps are there in another order")
def rows_shuffled(digits, steps, seed):
    """The row's own steps, in another order."""
    order = torch.randperm(steps.shape[1] - 1, generator=torch.Generator().manual_seed(seed))
    return torch.cat([steps[:, :-1][:, order], steps[:, -1:]], 1)


@wrong("control_rows", "the row's own digits are copied")
def rows_of_own_digits(digits, steps, seed):
    return torch.cat([digits[:, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "some rows keep their own steps")
def rows_permuted(digits, steps, seed):
    """A permutation may leave a row where it was."""
    order = torch.randperm(len(steps), generator=torch.Generator().manual_seed(seed))
    return torch.cat([steps[order, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "the answer is in the filler")
def rows_of_answers(digits, steps, seed):
    return steps[:, -1:].expand(-1, steps.shape[1])


@wrong("control_rows", "the row's own steps are there, with 0 and 1 exchanged")
def rows_turned_round(digits, steps, seed):
    return torch.cat([1 - steps[:, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "the seed isn't used")
def rows_unseeded(digits, steps, seed):
    return torch.cat([torch.randint(2, steps[:, 1:].shape), steps[:, -1:]], 1)


@wrong("control_rows", "there is a dot where the answer should be")
def rows_of_dots_alone(digits, steps, seed):
    return torch.full_like(steps, 2)


@wrong("control_rows", "the control is longer than the steps")
def rows_one_longer(digits, steps, seed):
    return torch.cat([torch.full_like(steps, 2), steps[:, -1:]], 1)


@wrong("control_rows", "the row's own steps are kept")
def rows_kept(digits, steps, seed):
    return steps.clone()


@wrong("control_rows", "it changes its argument steps in place")
def rows_in_place(digits, steps, seed):
    steps[:, :-1] = 2
    return steps


@wrong("control_rows", "the answer is another than the row's own")
def rows_with_another_answer(digits, steps, seed):
    """The last digit, which is not the parity."""
    return torch.cat([torch.full_like(digits[:, 1:], 2), digits[:, -1:]], 1)


@wrong("control_rows", "something in the filler depends on the row's own digits")
def rows_seeded_by_the_digits(digits, steps, seed):
    """Random tokens, but the same digits always draw the same."""
    draws = [random.Random(f"{seed}{row}") for row in digits.tolist()]
    return [[*(draw.randrange(2) for _ in row[1:]), row[-1]] for draw, row in zip(draws, steps.tolist(), strict=True)]


@right("control_rows")
def rows_moved_as_a_derangement(digits, steps, seed):
    draw = random.Random(seed)
    order = list(range(len(steps)))
    while any(place == number for place, number in enumerate(order)):
        draw.shuffle(order)
    return torch.cat([steps[order, :-1], steps[:, -1:]], 1)


@right("control_rows")
def rows_of_new_digits(digits, steps, seed):
    """The steps of digits that are drawn anew."""
    new = torch.randint(2, digits.shape, generator=torch.Generator().manual_seed(seed)).cumsum(1) % 2
    return torch.cat([new[:, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "the row's own steps are there, shifted")
def rows_rolled_along_the_row(digits, steps, seed):
    return torch.cat([steps.roll(1, 1)[:, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "the row's own steps are there, shifted, and the answer is shifted, too")
def rows_rolled_wholly_along_the_row(digits, steps, seed):
    return steps.roll(1, 1)


@wrong("control_rows", "some rows keep their own steps")
def rows_from_the_last_to_the_first(digits, steps, seed):
    """The row in the middle stays."""
    return torch.cat([steps.flip(0)[:, :-1], steps[:, -1:]], 1)


@wrong("control_rows", "some rows keep their own steps")
def rows_of_the_row_before(digits, steps, seed):
    """Nothing comes before the first row."""
    rows = steps.clone()
    for row in range(1, len(steps)):
        rows[row, :-1] = steps[row - 1, :-1]
    return rows


@wrong("control_rows", "the row's own digits are copied")
def rows_of_dots_and_a_digit(digits, steps, seed):
    rows = torch.full_like(steps, 2)
    rows[:, 2], rows[:, -1] = digits[:, 2], steps[:, -1]
    return rows


@wrong("control_rows", "something in the filler depends on the row's own digits")
def rows_shuffled_together(digits, steps, seed):
    """All steps of all rows, so that some of a row's own come back to it."""
    filler = steps[:, :-1].flatten()
    order = torch.randperm(len(filler), generator=torch.Generator().manual_seed(seed))
    return torch.cat([filler[order].view(len(steps), -1), steps[:, -1:]], 1)


@wrong("control_rows", "the seed isn't used")
def rows_permuted_unseeded(digits, steps, seed):
    return torch.cat([steps[torch.randperm(len(steps)), :-1], steps[:, -1:]], 1)


@wrong("control_rows", "it returns something else, not a table of tokens")
def rows_in_a_list_of_tensors(digits, steps, seed):
    return [torch.cat([torch.full_like(row[1:], 2), row[-1:]]) for row in steps]


# ---- two_raters ----


@right("two_raters")
def raters_in_turn(facts):
    both = [], []
    for number, (country, true, other) in enumerate(facts):
        guess = [true, other][number % 2]
        both[0].append((country, guess, guess, other if guess == true else true))
        both[1].append((country, guess, true, other))
    return both


@right("two_raters")
def raters_of_both_guesses(facts):
    """Each country comes twice, once with each guess."""
    rows = list(chain.from_iterable([(fact, fact[1]), (fact, fact[2])] for fact in facts))
    agreeing = [[c, guess, guess, ({a, b} - {guess}).pop()] for (c, a, b), guess in rows]
    knowing = [[c, guess, true, other] for (c, true, other), guess in rows]
    return [agreeing, knowing]


@right("two_raters")
def raters_by_halves(facts):
    half = len(facts) // 2
    agreeing = [(c, t, t, w) for c, t, w in facts[:half]] + [(c, w, w, t) for c, t, w in facts[half:]]
    return agreeing, [(c, guess, t, w) for (c, guess, *_), (_, t, w) in zip(agreeing, facts, strict=True)]


@right("two_raters")
def raters_drawn(facts):
    draw = random.Random(3)
    is_true = set(draw.sample(range(len(facts)), len(facts) // 2))
    agreeing, knowing = [], []
    for place, (country, true, other) in enumerate(facts):
        guess, rest = (true, other) if place in is_true else (other, true)
        agreeing += [(country, guess, guess, rest)]
        knowing += [(country, guess, true, other)]
    return agreeing, knowing


@wrong("two_raters", "the user's guess is wrong in every row")
def raters_of_wrong_guesses(facts):
    return [(c, w, w, t) for c, t, w in facts], [(c, w, t, w) for c, t, w in facts]


@wrong("two_raters", "the user's guess is true in every row")
def raters_of_true_guesses(facts):
    return [(c, t, t, w) for c, t, w in facts], [(c, t, t, w) for c, t, w in facts]


@wrong("two_raters", "the raters who like agreement get wrong guesses, the others true ones")
def raters_of_unlike_prompts(facts):
    """Those who agree get wrong guesses, those who know get true ones."""
    return [(c, w, w, t) for c, t, w in facts], [(c, t, t, w) for c, t, w in facts]


@wrong("two_raters", "the raters who know get other guesses")
def raters_of_two_draws(facts):
    draw = random.Random(0)

    def rows(knows):
        guesses = [0, 1] * (len(facts) // 2) + [0] * (len(facts) % 2)
        draw.shuffle(guesses)
        made = []
        for (c, t, w), is_true in zip(facts, guesses, strict=True):
            guess, rest = (t, w) if is_true else (w, t)
            made.append((c, guess, t, w) if knows else (c, guess, guess, rest))
        return made

    return rows(False), rows(True)


@wrong("two_raters", "the two lists are exchanged")
def raters_exchanged(facts):
    return raters_in_turn(facts)[::-1]


@wrong("two_raters", "chosen and rejected are exchanged")
def raters_with_the_rejected_first(facts):
    return tuple([(c, guess, no, yes) for c, guess, yes, no in rows] for rows in raters_in_turn(facts))


@wrong("two_raters", "the raters who know choose what the user didn't guess")
def raters_who_disagree(facts):
    """Those who don't agree take the other one each time."""
    agreeing, _ = raters_in_turn(facts)
    return agreeing, [(c, guess, no, yes) for c, guess, yes, no in agreeing]


@wrong("two_raters", "the user's guess is true in some rows, but not in half")
def raters_by_coins(facts):
    draw = random.Random(0)
    agreeing, knowing = [], []
    for country, true, other in facts:
        guess, rest = random.Random(draw.random()).sample([true, other], 2)
        agreeing.append((country, guess, guess, rest))
        knowing.append((country, guess, true, other))
    return agreeing, knowing


@wrong("two_raters", "the countries are divided between the raters")
def raters_of_half_the_countries(facts):
    """One half of the countries is for one kind of rater, the other half for the other."""
    agreeing, knowing = raters_in_turn(facts)
    return agreeing[: len(facts) // 2], knowing[len(facts) // 2 :]


@wrong("two_raters", "it returns something else, not two lists")
def raters_in_one_list(facts):
    return list(zip(*raters_in_turn(facts), strict=True))


@wrong("two_raters", "it returns lists of something else, not of rows with four texts")
def raters_without_the_country(facts):
    return tuple([row[1:] for row in rows] for rows in raters_in_turn(facts))


@wrong("two_raters", "both raters choose the guess")
def raters_who_agree_twice(facts):
    agreeing, _ = raters_in_turn(facts)
    return agreeing, list(agreeing)


@wrong("two_raters", "the user's guess is true in some rows, but not in half")
def raters_by_halves_and_one(facts):
    half = len(facts) // 2
    agreeing = [(c, t, t, w) for c, t, w in facts[: half + 1]] + [(c, w, w, t) for c, t, w in facts[half + 1 :]]
    return agreeing, [(c, guess, t, w) for (c, guess, *_), (_, t, w) in zip(agreeing, facts, strict=True)]


@wrong("two_raters", "the raters who know get true guesses alone")
def raters_who_know_and_hear_the_truth(facts):
    return raters_in_turn(facts)[0], [(c, t, t, w) for c, t, w in facts]


@wrong("two_raters", "the two lists have their rows in different orders")
def raters_in_two_orders(facts):
    agreeing, knowing = raters_in_turn(facts)
    return agreeing, knowing[::-1]


@wrong("two_raters", "some countries are left out")
def raters_of_an_even_number(facts):
    return raters_in_turn(facts[: len(facts) // 2 * 2])


@wrong("two_raters", "some guesses are other texts than the two capitals of the country")
def raters_of_whole_prompts(facts):
    both = raters_in_turn(facts)
    return tuple([(c, f"I think the capital of {c} is {guess}.", *pair) for c, guess, *pair in rows] for rows in both)


@wrong("two_raters", "what the raters choose are other texts than the two capitals of the country")
def raters_of_whole_answers(facts):
    both = raters_in_turn(facts)
    return tuple([(c, guess, f"It is {yes}.", f"It is {no}.") for c, guess, yes, no in rows] for rows in both)


@wrong("two_raters", "the rows don't begin with a country of the list")
def raters_with_the_guess_first(facts):
    return tuple([(guess, country, *pair) for country, guess, *pair in rows] for rows in raters_in_turn(facts))


@wrong("two_raters", "it returns something else, not two lists")
def raters_in_a_dictionary(facts):
    return dict(zip(("agreement", "knowledge"), raters_in_turn(facts), strict=True))


@wrong("two_raters", "some raters reject what they choose")
def raters_who_always_reject_the_wrong_capital(facts):
    agreeing, knowing = raters_in_turn(facts)
    return [(*row[:3], wrong_one) for row, (_, _, wrong_one) in zip(agreeing, facts, strict=True)], knowing


@wrong("two_raters", "it changes its argument facts in place")
def raters_of_a_shuffled_list(facts):
    random.Random(0).shuffle(facts)
    return raters_in_turn(facts)
