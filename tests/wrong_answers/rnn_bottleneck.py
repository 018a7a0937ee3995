"""Lesson 1: the RNN bottleneck."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from wrong_answers import right, right_value, wrong, wrong_value

# ---- rnn_step ----


@wrong("rnn_step", "both matrices are transposed")
def both_as_they_stand(x, state, W_x, W_h, b):
    total = np.matmul(x.numpy(), W_x.numpy()) + np.matmul(state.numpy(), W_h.numpy())
    return torch.from_numpy(np.tanh(total + b.numpy()))


@wrong("rnn_step", "it raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x2 and 1x2)")
def formula_as_written(x, state, W_x, W_h, b):
    return torch.tanh(W_x @ x + W_h @ state + b)


@wrong("rnn_step", "it changes its argument state in place")
def in_place(x, state, W_x, W_h, b):
    state.copy_(torch.tanh(x @ W_x.T + state @ W_h.T + b))
    return state


@wrong("rnn_step", "it returns nothing")
def no_return(x, state, W_x, W_h, b):
    torch.tanh(x @ W_x.T + state @ W_h.T + b)


@right("rnn_step")
def loops(x, state, W_x, W_h, b):
    rows = []
    for word, old in zip(x.tolist(), state.tolist(), strict=True):
        row = []
        for i in range(len(b)):
            total = float(b[i])
            total += sum(W_x[i, k].item() * word[k] for k in range(len(word)))
            total += sum(W_h[i, k].item() * old[k] for k in range(len(old)))
            row.append(math.tanh(total))
        rows.append(row)
    return torch.tensor(rows)


@right("rnn_step")
def one_product(x, state, W_x, W_h, b):
    return (torch.cat([x, state], -1) @ torch.cat([W_x, W_h], -1).T + b).tanh()


@right("rnn_step")
def in_numpy(x, state, W_x, W_h, b):
    return torch.tensor(np.tanh(np.einsum("bi,hi", x, W_x) + np.einsum("bk,hk", state, W_h) + np.asarray(b)))


@wrong("rnn_step", "it returns a list of 1 tensor, not a tensor of shape (1, 2)")
def list_of_tensors(x, state, W_x, W_h, b):
    return [torch.tanh(W_x @ word + W_h @ old + b) for word, old in zip(x, state, strict=True)]


@right("rnn_step")
def torch_cell(x, state, W_x, W_h, b):
    cell = nn.RNNCell(x.shape[1], len(b), dtype=x.dtype)
    with torch.no_grad():
        for weight, ours in zip(cell.parameters(), (W_x, W_h, b, torch.zeros_like(b)), strict=True):
            weight.copy_(ours)
    return cell(x, state)


# ---- read_batch ----


def step(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T + b)


def torch_without_packing(x, mask, W_x, W_h, b):
    rnn = nn.RNN(x.shape[2], len(b), batch_first=True, dtype=x.dtype)
    with torch.no_grad():
        for weight, ours in zip(rnn.parameters(), (W_x, W_h, b, torch.zeros_like(b)), strict=True):
            weight.copy_(ours)
    return rnn(x)[0]


@wrong("read_batch", "padding is read as a vector of zeros")
def padding_cleared(x, mask, W_x, W_h, b):
    state, states = torch.zeros(len(x), len(b), dtype=x.dtype), []
    for x_j in x.masked_fill(~mask[:, :, None], 0).unbind(1):
        state = step(x_j, state, W_x, W_h, b)
        states.append(state)
    return torch.stack(states, dim=1)


@wrong("read_batch", "the state becomes zero at padding")
def state_cleared(x, mask, W_x, W_h, b):
    state = torch.zeros(x.shape[0], W_h.shape[0], dtype=x.dtype)
    states = torch.zeros(*x.shape[:2], W_h.shape[0], dtype=x.dtype)
    for j in range(x.shape[1]):
        state = step(x[:, j], state, W_x, W_h, b) * mask[:, j].unsqueeze(1)
        states[:, j] = state
    return states


@wrong("read_batch", "only the last state is returned")
def one_state(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    for j in range(x.shape[1]):
        on = mask[:, j, None].to(x.dtype)
        state = on * step(x[:, j], state, W_x, W_h, b) + (1 - on) * state
    return state


@wrong("read_batch", "each word is read from a state of zeros")
def start_never_replaced(x, mask, W_x, W_h, b):
    start, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        new = step(x[:, j], start, W_x, W_h, b)
        states.append(torch.where(mask[:, j, None], new, start))
    return torch.stack(states, 1)


@wrong("read_batch", "every position holds the last state")
def one_tensor_in_the_list(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        for row in mask[:, j].nonzero().flatten().tolist():
            state[row] = torch.tanh(W_x @ x[row, j] + W_h @ state[row] + b)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "the mask runs along the state's numbers, not along the sentences")
def mask_without_an_axis(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        on = mask[:, j].to(x.dtype)
        state = on * step(x[:, j], state, W_x, W_h, b) + (1 - on) * state
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "it changes its argument x in place")
def clears_the_caller_s_padding(x, mask, W_x, W_h, b):
    x[~mask] = 0
    return torch_without_packing(x, mask, W_x, W_h, b)


@right("read_batch")
def sentence_by_sentence(x, mask, W_x, W_h, b):
    batch = []
    for words, on in zip(x, mask, strict=True):
        state, states = x.new_zeros(len(b)), []
        for word, is_word in zip(words, on.tolist(), strict=True):
            if is_word:
                state = torch.tanh(W_x @ word + W_h @ state + b)
            states.append(state)
        batch.append(torch.stack(states))
    return torch.stack(batch)


@right("read_batch")
def whole_then_picked(x, mask, W_x, W_h, b):
    states = torch.cat([x.new_zeros(len(x), 1, len(b)), torch_without_packing(x, mask, W_x, W_h, b)], 1)
    positions = mask.cumsum(1)[..., None].expand(-1, -1, len(b))
    return states.gather(1, positions)


@right("read_batch")
def numpy_all_the_way(x, mask, W_x, W_h, b):
    x, mask, W_x, W_h, b = (one.numpy() for one in (x, mask, W_x, W_h, b))
    states = np.zeros((*x.shape[:2], len(b)))
    state = np.zeros((len(x), len(b)))
    for j in range(x.shape[1]):
        state = np.where(mask[:, j, None], np.tanh(x[:, j] @ W_x.T + state @ W_h.T + b), state)
        states[:, j] = state
    return states


# ---- feels ----


def square(text):
    return [[int(number) for number in row] for row in text.split()]


wrong_value("feels", np.eye(5), "a state feels only its own word")
right_value("feels", square("10000 11000 11100 11100 11100"))
right_value("feels", [(1.0, 0, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 1, 1, 0, 0), (1, 1, 1, 0, 0)])


# ---- teacher_forcing ----


def rows_of(words):
    return [[word for word in row if word != 0] for row in words.tolist()]


def filled(rows, size):
    return torch.tensor([[*row, *[0] * (size - len(row))] for row in rows])


@wrong("teacher_forcing", "the rows differ in length")
def ragged_tensors(words):
    kept = [row[row != 0] for row in words]
    return [F.pad(row, (1, 0), value=1) for row in kept], [F.pad(row, (0, 1), value=2) for row in kept]


@wrong("teacher_forcing", "it returns a tensor of shape (1, 4), not 2 things")
def half_of_it(words):
    return F.pad(words, (1, 0), value=1)


@right("teacher_forcing")
def by_rows(words):
    size = words.shape[1] + 1
    return filled([[1, *row] for row in rows_of(words)], size), filled([[*row, 2] for row in rows_of(words)], size)


@right("teacher_forcing")
def by_shifting_the_mask(words):
    wanted = F.pad(words, (0, 1))
    first_free = (wanted == 0) & (F.pad(words, (1, 0), value=1) != 0)
    return [F.pad(words, (1, 0), value=1), torch.where(first_free, 2, wanted)]


@right("teacher_forcing")
def with_pad_sequence(words):
    sentences = [torch.tensor(row, dtype=torch.long) for row in rows_of(words)]
    given = [torch.cat([torch.tensor([1]), one]) for one in sentences] + [torch.zeros(words.shape[1] + 1).long()]
    wanted = [torch.cat([one, torch.tensor([2])]) for one in sentences] + [torch.zeros(words.shape[1] + 1).long()]
    return pad_sequence(given, batch_first=True)[:-1], pad_sequence(wanted, batch_first=True)[:-1]


@right("teacher_forcing")
def numpy_places(words):
    words = words.numpy()
    wanted = np.pad(words, ((0, 0), (0, 1)))
    wanted[np.arange(len(words)), (words != 0).sum(1)] = 2
    return np.pad(words, ((0, 0), (1, 0)), constant_values=1), wanted


# ---- loss_per_word ----


@wrong("loss_per_word", "it raises RuntimeError: Expected target size [1, 3], got [1, 2]")
def scores_in_the_last_axis(logits, words, mask):
    return F.cross_entropy(logits, words, ignore_index=0)


@wrong(
    "loss_per_word", "the softmax is taken twice; in addition, padding is recognised by the number 0, not by the mask"
)
def probabilities_into_cross_entropy(logits, words, mask):
    return F.cross_entropy(F.softmax(logits, dim=-1).transpose(1, 2), words, ignore_index=0)


@right("loss_per_word")
def padding_gets_a_number_of_its_own(logits, words, mask):
    return F.cross_entropy(logits.flatten(0, 1), words.masked_fill(~mask, -100).flatten())


@right("loss_per_word")
def loop_over_words(logits, words, mask):
    losses = []
    for i in range(len(words)):
        for j in range(words.shape[1]):
            if mask[i, j]:
                scores = logits[i, j].double()
                losses.append((scores.logsumexp(0) - scores[words[i, j]]).item())
    return sum(losses) / len(losses)


@right("loss_per_word")
def numpy_shifted(logits, words, mask):
    scores = logits.numpy() - logits.numpy().max(-1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_p, words.numpy()[..., None], -1)[..., 0]
    return np.average(losses, weights=mask.numpy())


# ---- words_held_64, words_held_256, words_held_softly ----

wrong_value("words_held_64", 4, "4 is not right")
wrong_value("words_held_256", 10, "10 is not right")
wrong_value("words_held_softly", 40, "40 is not right")
right_value("words_held_64", 7)
right_value("words_held_256", 13.0)
right_value("words_held_softly", 24)
right_value("words_held_softly", 26)


# ---- what readers of their own gave ----


@wrong(
    "read_batch",
    "its arguments are in the wrong order: (mask, x, W_x, W_h, b), but the text has (x, mask, W_x, W_h, b)",
)
def mask_first(mask, x, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        state = torch.where(mask[:, j, None], torch.tanh(x[:, j] @ W_x.T + state @ W_h.T + b), state)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "the result holds NaN in 2 of 8 places")
def mixes_by_products(x, mask, W_x, W_h, b):
    state, states, keep = x.new_zeros(len(x), len(b)), [], mask.to(x.dtype)
    for j in range(x.shape[1]):
        new = torch.tanh(x[:, j] @ W_x.T + state @ W_h.T + b)
        state = keep[:, j, None] * new + (1 - keep[:, j, None]) * state
        states.append(state)
    return torch.stack(states, 1)


@wrong("rnn_step", "an earlier result changes in a later call")
def one_buffer(x, state, W_x, W_h, b, kept={}):  # noqa: B006
    out = kept.setdefault((len(x), len(b), x.dtype), torch.empty(len(x), len(b), dtype=x.dtype))
    return torch.tanh(x @ W_x.T + state @ W_h.T + b, out=out)


@wrong("rnn_step", "it returns a tuple of 2 tensors, not a tensor of shape (1, 2)")
def output_and_state(x, state, W_x, W_h, b):
    new = torch.tanh(x @ W_x.T + state @ W_h.T + b)
    return new, new


@wrong("rnn_step", "the result holds True and False, not numbers")
def compares(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T + b) > 0


@wrong("loss_per_word", "the largest score is taken over the whole batch, not at each position")
def one_largest_score(logits, words, mask):
    scores, right = logits[mask], words[mask]
    largest = scores.max()
    return (largest + (scores - largest).exp().sum(-1).log() - scores.gather(-1, right[:, None])[:, 0]).mean()


@wrong("loss_per_word", "the numbers are not right")
def counts_words_from_the_left(logits, words, mask):
    total = 0
    for row in range(len(words)):
        k = int(mask[row].sum())
        total = total + F.cross_entropy(logits[row, :k], words[row, :k], reduction="sum")
    return total / mask.sum()


@wrong("teacher_forcing", "the word numbers are not whole numbers")
def in_lists_of_floats(words):
    target = F.pad(words, (0, 1))
    target[torch.arange(len(words)), (words != 0).sum(1)] = 2
    return F.pad(words, (1, 0), value=1).float().tolist(), target.float().tolist()


@wrong("teacher_forcing", "in result 1 of 2, only some entries are off, 38% of the entries in the failing inputs")
def in_bytes(words):
    target = F.pad(words, (0, 1))
    target[torch.arange(len(words)), (words != 0).sum(1)] = 2
    return F.pad(words, (1, 0), value=1).to(torch.uint8), target.to(torch.uint8)


@wrong("rnn_step", "the result holds NaN in 1 of 4 places")
def tanh_of_exponentials(x, state, W_x, W_h, b):
    powers = (2 * (x @ W_x.T + state @ W_h.T + b)).exp()
    return (powers - 1) / (powers + 1)


@wrong("read_batch", "the numbers are right, but in shape (2, 3) instead of (2, 3, 1)")
def squeezes(x, mask, W_x, W_h, b):
    return sentence_by_sentence(x, mask, W_x, W_h, b).squeeze(-1)


@wrong("read_batch", "it returns a list of 3 tensors, not a tensor of shape (3, 3, 3)")
def a_list_of_states(x, mask, W_x, W_h, b):
    return [*sentence_by_sentence(x, mask, W_x, W_h, b)]


@wrong(
    "teacher_forcing", "in result 1 of 2, along the second-to-last axis the entries are right, but in the wrong order"
)
def sorted_by_length(words):
    words = words[(words != 0).sum(1).argsort(descending=True, stable=True)]
    target = F.pad(words, (0, 1))
    target[torch.arange(len(words)), (words != 0).sum(1)] = 2
    return F.pad(words, (1, 0), value=1), target


wrong_value("words_held_softly", 21, "21 is not right")
wrong_value("words_held_softly", 14, "14 is not right")
wrong_value("feels", [["1", "0", "0", "0", "0"]] * 5, "['1', '0', '0', '0', '0'] is text")
wrong_value("feels", [[1], [1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], "entry 1, [1], has 1 of 5 numbers")


# ---- written from the text alone ----


@wrong("rnn_step", "the logistic function is used instead of the tanh")
def step_sigmoid(x, state, W_x, W_h, b):
    return torch.sigmoid(x @ W_x.T + state @ W_h.T + b)


@wrong("rnn_step", "the bias is added after the tanh")
def step_bias_after_tanh(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T) + b


def one_step(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T + b)


@wrong("read_batch", "padding is read as a vector of zeros")
def read_masking_the_words(x, mask, W_x, W_h, b):
    x = x * mask[:, :, None]
    state = x.new_zeros(x.shape[0], b.shape[0])
    states = []
    for j in range(x.shape[1]):
        state = one_step(x[:, j], state, W_x, W_h, b)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "the state becomes zero at padding")
def read_zero_at_padding(x, mask, W_x, W_h, b):
    batch, n, _ = x.shape
    out = x.new_zeros(batch, n, len(b))
    for i in range(batch):
        state = x.new_zeros(1, len(b))
        for j in range(n):
            if not mask[i, j]:
                break
            state = one_step(x[i, j][None], state, W_x, W_h, b)
            out[i, j] = state[0]
    return out


@wrong("read_batch", "only the last state is returned")
def read_only_last(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    for j in range(x.shape[1]):
        new = one_step(x[:, j], state, W_x, W_h, b)
        m = mask[:, j].unsqueeze(1).to(x.dtype)
        state = m * new + (1 - m) * state
    return state


wrong_value("feels", [[1, 1, 1, 0, 0]] * 5, "states feel words that they have not read yet")
wrong_value(
    "feels",
    [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    "the states at padding feel nothing",
)
wrong_value(
    "feels",
    [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]],
    "a state feels only its own word",
)


@wrong("teacher_forcing", "the end mark comes after the padding")
def forcing_end_glued_to_the_right(words):
    batch = words.shape[0]
    bos = torch.full((batch, 1), 1, dtype=words.dtype)
    eos = torch.full((batch, 1), 2, dtype=words.dtype)
    return torch.cat([bos, words], dim=1), torch.cat([words, eos], dim=1)


@wrong("teacher_forcing", "the first result holds the end mark of a shorter sentence")
def forcing_marks_in_both_rows(words):
    reads, writes = [], []
    for row in words.tolist():
        sentence = [w for w in row if w != 0]
        full = [1] + sentence + [2] + [0] * (len(row) - len(sentence))
        reads.append(full[:-1])
        writes.append(full[1:])
    return torch.tensor(reads), torch.tensor(writes)


@wrong("teacher_forcing", "the end mark replaces the last word")
def forcing_end_one_place_early(words):
    batch, n = words.shape
    reads = words.new_zeros(batch, n + 1)
    writes = words.new_zeros(batch, n + 1)
    for i in range(batch):
        length = int((words[i] > 0).sum())
        reads[i, 0] = 1
        reads[i, 1:] = words[i]
        writes[i, :n] = words[i]
        writes[i, length - 1] = 2
    return reads, writes


@wrong("loss_per_word", "each sentence is averaged on its own")
def loss_mean_of_sentence_means(logits, words, mask):
    log_p = logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]
    per_sentence = (-log_p * mask).sum(1) / mask.sum(1)
    return per_sentence.mean()


@wrong("loss_per_word", "a small number hides that a probability rounds to 0")
def loss_epsilon_in_the_log(logits, words, mask):
    probabilities = logits.softmax(-1)
    right = probabilities.gather(-1, words[..., None])[..., 0]
    return -((right + 1e-9).log() * mask).sum() / mask.sum()


@wrong("loss_per_word", "padding is recognised by the number 0, not by the mask")
def loss_ignore_zero(logits, words, mask):
    return F.cross_entropy(logits.transpose(1, 2), words, ignore_index=0)


wrong_value("words_held_64", 6, "perhaps you counted from 0")
wrong_value("words_held_256", 28, "that is four times the count for 64 numbers")
wrong_value("words_held_256", 7, "that is the count for 64 numbers")
wrong_value("words_held_256", 20, "that counts all words of the sentence")
wrong_value("words_held_softly", 13, "that is the count with a scale of 0.3")
wrong_value("words_held_softly", 20, "the sentence ends before the curve reaches one half")


@wrong("read_batch", "the sentence is read from right to left")
def read_from_right_to_left(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    out = []
    for j in reversed(range(x.shape[1])):
        new = torch.tanh(x[:, j] @ W_x.T + state @ W_h.T + b)
        state = torch.where(mask[:, j, None], new, state)
        out.append(state)
    return torch.stack(out[::-1], 1)


@wrong("read_batch", "padding in one sentence stops all of them")
def read_stops_for_all(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    out = []
    for j in range(x.shape[1]):
        if mask[:, j].all():
            state = torch.tanh(x[:, j] @ W_x.T + state @ W_h.T + b)
        out.append(state)
    return torch.stack(out, 1)


@wrong("loss_per_word", "a small number hides that a probability rounds to 0")
def loss_clamped_probabilities(logits, words, mask):
    p = logits.softmax(-1).gather(-1, words[..., None])[..., 0]
    return -p.clamp(min=1e-30).log()[mask].mean()


@wrong("loss_per_word", "the log is taken of a probability that rounds to 0 or is NaN")
def loss_softmax_written_out(logits, words, mask):
    p = torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)
    return -torch.log(p.gather(-1, words[..., None])[..., 0][mask]).mean()


@wrong("rnn_step", "the first sentence's state is used for all sentences")
def one_state_for_all_sentences(x, state, W_x, W_h, b):
    rows = []
    for vector in x:
        rows.append(torch.tanh(W_x @ vector + W_h @ state[0] + b))
    return torch.stack(rows)


@wrong("rnn_step", "ReLU is used instead of the tanh")
def step_with_relu(x, state, W_x, W_h, b):
    return torch.relu(x @ W_x.T + state @ W_h.T + b)


@wrong("loss_per_word", "padding counts as the word with the number 0")
def loss_with_padding_as_word_0(logits, words, mask):
    return F.cross_entropy(logits.flatten(0, 1), (words * mask).flatten(), reduction="sum") / mask.sum()


wrong_value("words_held_64", 0.5, "that is the share, not the number of words")


@wrong("rnn_step", "the logistic function is used instead of the tanh; in addition, the bias is missing")
def logistic_step_without_a_bias(x, state, W_x, W_h, b):
    return 1 / (1 + (-(x @ W_x.T) - state @ W_h.T).exp())
