"""Lesson 1: the RNN bottleneck."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from wrong_answers import right, right_value, wrong, wrong_value

# ---- rnn_step ----


@wrong("rnn_step", "the tanh is missing")
def linear(x, state, W_x, W_h, b):
    return F.linear(x, W_x) + F.linear(state, W_h, b)


@wrong("rnn_step", "W_x is transposed")
def word_matrix_as_it_stands(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x + torch.einsum("hk,bk->bh", W_h, state) + b)


@wrong("rnn_step", "W_h is transposed")
def state_matrix_as_it_stands(x, state, W_x, W_h, b):
    return torch.tanh(torch.mm(x, W_x.t()) + torch.mm(state, W_h) + b)


@wrong("rnn_step", "both matrices are transposed")
def both_as_they_stand(x, state, W_x, W_h, b):
    total = np.matmul(x.numpy(), W_x.numpy()) + np.matmul(state.numpy(), W_h.numpy())
    return torch.from_numpy(np.tanh(total + b.numpy()))


@wrong("rnn_step", "the old state is not used")
def only_the_word(x, state, W_x, W_h, b):
    return nn.functional.linear(x, W_x, b).tanh()


@wrong("rnn_step", "the bias is missing")
def two_terms(x, state, W_x, W_h, b):
    from_word = torch.einsum("bi,hi->bh", x, W_x)
    from_state = torch.einsum("bk,hk->bh", state, W_h)
    return (from_word + from_state).tanh()


@wrong("rnn_step", "the tanh does not cover the whole sum")
def brackets_closed_early(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T) + state @ W_h.T + b


@wrong("rnn_step", "the tanh does not cover the whole sum")
def state_outside(x, state, W_x, W_h, b):
    new = np.tanh(x.numpy() @ W_x.numpy().T + b.numpy())
    return torch.as_tensor(new + state.numpy() @ W_h.numpy().T)


@wrong("rnn_step", "the bias comes after the tanh")
def bias_outside(x, state, W_x, W_h, b):
    both, matrix = torch.cat([x, state], 1), torch.cat([W_x, W_h], 1)
    return b + (both @ matrix.mT).tanh()


@wrong("rnn_step", "the logistic function stands in place of tanh")
def squeezed_to_one(x, state, W_x, W_h, b):
    return 1 / (1 + torch.exp(-(F.linear(x, W_x, b) + F.linear(state, W_h))))


@wrong("rnn_step", "word and state have changed places")
def mixed_up(x, state, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_h) + F.linear(state, W_x) + b)


@wrong("rnn_step", "the old state is added to the new one")
def shortcut(x, state, W_x, W_h, b):
    new = torch.tanh(F.linear(x, W_x) + F.linear(state, W_h) + b)
    return new.add(state)


@wrong("rnn_step", "the bias is added along the batch")
def bias_as_a_column(x, state, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x) + F.linear(state, W_h) + b.reshape(-1, 1))


@wrong("rnn_step", "the result is (d_h, batch), not (batch, d_h)")
def columns(x, state, W_x, W_h, b):
    return torch.tanh(W_x @ x.T + W_h @ state.T + b[:, None])


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


@wrong("rnn_step", "it returns a NumPy array, not a tensor")
def stays_in_numpy(x, state, W_x, W_h, b):
    x, state, W_x, W_h, b = map(np.asarray, (x, state, W_x, W_h, b))
    return np.tanh(x.dot(W_x.T) + state.dot(W_h.T) + b)


@wrong("rnn_step", "it returns a list, not a tensor")
def nested_lists(x, state, W_x, W_h, b):
    rows = []
    for word, old in zip(x, state, strict=True):
        rows.append([math.tanh(W_x[i] @ word + W_h[i] @ old + b[i]) for i in range(len(b))])
    return rows


@wrong("rnn_step", "it returns a list, not a tensor")
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


@wrong("read_batch", "the state goes on changing at padding")
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


@wrong("read_batch", "the mask is the wrong way round")
def stays_at_words(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        state = step(x[:, j], state, W_x, W_h, b).where(~mask[:, j : j + 1], state)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "only the last state is returned")
def one_state(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    for j in range(x.shape[1]):
        on = mask[:, j, None].to(x.dtype)
        state = on * step(x[:, j], state, W_x, W_h, b) + (1 - on) * state
    return state


@wrong("read_batch", "the axes are words × batch")
def stacked_in_front(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for x_j, on in zip(x.unbind(1), mask.unbind(1), strict=True):
        state = torch.where(on.unsqueeze(-1), step(x_j, state, W_x, W_h, b), state)
        states.append(state)
    return torch.stack(states)


@wrong("read_batch", "the state before the first word is returned too")
def one_too_many(x, mask, W_x, W_h, b):
    states = np.zeros((len(x), x.shape[1] + 1, len(b)))
    for row in range(len(x)):
        for j in range(x.shape[1]):
            states[row, j + 1] = states[row, j]
            if mask[row, j]:
                total = W_x.numpy() @ x[row, j].numpy() + W_h.numpy() @ states[row, j] + b.numpy()
                states[row, j + 1] = np.tanh(total)
    return torch.from_numpy(states)


@wrong("read_batch", "each place holds the state before its word")
def stored_too_early(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        states.append(state)
        state = torch.where(mask[:, j, None], step(x[:, j], state, W_x, W_h, b), state)
    return torch.stack(states, 1)


@wrong("read_batch", "each word is read from a state of zeros")
def fresh_each_time(x, mask, W_x, W_h, b):
    states = []
    for j in range(x.shape[1]):
        states.append(step(x[:, j], x.new_zeros(len(x), len(b)), W_x, W_h, b))
    return torch.stack(states, 1)


@wrong("read_batch", "each word is read from a state of zeros")
def start_never_replaced(x, mask, W_x, W_h, b):
    start, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        new = step(x[:, j], start, W_x, W_h, b)
        states.append(torch.where(mask[:, j, None], new, start))
    return torch.stack(states, 1)


@wrong("read_batch", "each word is read from a state of zeros")
def forgotten_but_kept_at_padding(x, mask, W_x, W_h, b):
    fresh = (x @ W_x.T + b).tanh()
    last = (mask.sum(1) - 1).tolist()
    return torch.stack([
        torch.stack([states[min(j, n)] if n >= 0 else 0 * b for j in range(x.shape[1])])
        for states, n in zip(fresh, last, strict=True)
    ])  # fmt: skip


@wrong("read_batch", "the sentence is read from right to left")
def last_word_first(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), [None] * x.shape[1]
    for j in reversed(range(x.shape[1])):
        state = torch.where(mask[:, j, None], step(x[:, j], state, W_x, W_h, b), state)
        states[j] = state
    return torch.stack(states, 1)


@wrong("read_batch", "the sentence is read from right to left")
def last_word_first_appended(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1] - 1, -1, -1):
        state = torch.where(mask[:, j, None], step(x[:, j], state, W_x, W_h, b), state)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "every place holds the last state")
def one_tensor_in_the_list(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        for row in mask[:, j].nonzero().flatten().tolist():
            state[row] = torch.tanh(W_x @ x[row, j] + W_h @ state[row] + b)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "padding in one sentence stops them all")
def asks_the_whole_batch(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(b))
    states = x.new_zeros(len(x), x.shape[1], len(b))
    for j in range(x.shape[1]):
        if not (~mask[:, j]).any():
            state = step(x[:, j], state, W_x, W_h, b)
        states[:, j] = state
    return states


@wrong("read_batch", "the state does not start from zeros")
def starts_anywhere(x, mask, W_x, W_h, b):
    state, states = torch.ones_like(x[:, 0] @ W_x.T), []
    for j in range(x.shape[1]):
        state = torch.where(mask[:, j, None], step(x[:, j], state, W_x, W_h, b), state)
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


@wrong("read_batch", "the first state has another type of number")
def zeros_of_float32(x, mask, W_x, W_h, b):
    state, states = torch.zeros(x.size(0), b.size(0)), []
    for j in range(x.size(1)):
        new = step(x[:, j], state, W_x, W_h, b)
        state = torch.where(mask[:, j].unsqueeze(1), new, state)
        states.append(state)
    return torch.stack(states, 1)


@wrong("read_batch", "it changes its argument x in place")
def clears_the_caller_s_padding(x, mask, W_x, W_h, b):
    x[~mask] = 0
    return torch_without_packing(x, mask, W_x, W_h, b)


@wrong("read_batch", "at padding the new state is stored, though the old one is kept")
def appends_the_wrong_one(x, mask, W_x, W_h, b):
    state, states = x.new_zeros(len(x), len(b)), []
    for j in range(x.shape[1]):
        new = step(x[:, j], state, W_x, W_h, b)
        states.append(new)
        state = torch.where(mask[:, j, None], new, state)
    return torch.stack(states, 1)


@wrong("read_batch", "the state of one sentence is carried into the next")
def zeros_outside_the_loop(x, mask, W_x, W_h, b):
    states, state = x.new_zeros(*x.shape[:2], len(b)), x.new_zeros(len(b))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if mask[i, j]:
                state = torch.tanh(W_x @ x[i, j] + W_h @ state + b)
            states[i, j] = state
    return states


def reader_with(one_step):
    def answer(x, mask, W_x, W_h, b):
        state, states = x.new_zeros(len(x), len(b)), []
        for j in range(x.shape[1]):
            state = torch.where(mask[:, j, None], one_step(x[:, j], state, W_x, W_h, b), state)
            states.append(state)
        return torch.stack(states, 1)

    answer.__name__ = f"reader_with_{one_step.__name__}"
    return answer


for faulty in (linear, state_matrix_as_it_stands, squeezed_to_one, two_terms, bias_outside, shortcut):
    wrong("read_batch", "one step is not that of exercise 1")(reader_with(faulty))


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
    places = mask.cumsum(1)[..., None].expand(-1, -1, len(b))
    return states.gather(1, places)


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
    return [[int(place) for place in row] for row in text.split()]


wrong_value("feels", torch.tensor(square("11111 01111 00111 00000 00000")), "rows and columns have changed places")
wrong_value("feels", np.triu(np.ones((5, 5), int)), "rows and columns have changed places")
wrong_value("feels", square("10000 11000 11100"), "the places of padding are missing")
wrong_value("feels", square("100 110 111 111 111"), "each row needs five numbers")
wrong_value("feels", np.tril(np.ones((5, 5), int)), "padding is felt")
wrong_value("feels", square("10000 11000 11100 00000 00000"), "the states at padding feel nothing")
wrong_value("feels", square("11100 11100 11100 11100 11100"), "states feel words that they have not read")
wrong_value("feels", torch.ones(5, 5), "states feel words that they have not read")
wrong_value("feels", np.eye(5), "a state feels its own word only")
wrong_value("feels", square("10000 01000 00100 00000 00000"), "a state feels its own word only")
wrong_value("feels", square("10000 01000 00100 00100 00100"), "a state feels its own word only")
wrong_value("feels", square("00000 10000 11000 11000 11000"), "a state does not feel its own word")
wrong_value("feels", square("00000 10000 11000 11100 11100"), "a state does not feel its own word")
wrong_value("feels", torch.ones(5, 5).tril(-1), "a state does not feel its own word")
wrong_value("feels", [[1, 0, 0], [1, 1, 0], [1, 1, 1]], "the places of padding are missing")
wrong_value("feels", square("01111 00111 00011 00011 00011"), "1 and 0 are the wrong way round")
wrong_value("feels", torch.tensor(square("10000 11000 11100 11100 11100")) == 1, "the square holds True and False")
right_value("feels", square("10000 11000 11100 11100 11100"))
right_value("feels", [(1.0, 0, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 1, 1, 0, 0), (1, 1, 1, 0, 0)])


# ---- teacher_forcing ----


def rows_of(words):
    return [[word for word in row if word != 0] for row in words.tolist()]


def filled(rows, size):
    return torch.tensor([[*row, *[0] * (size - len(row))] for row in rows])


@wrong("teacher_forcing", "the end mark stands behind the padding")
def columns_glued(words):
    ones = words.new_ones(words.shape[0], 1)
    return torch.cat((ones, words), dim=1), torch.cat((words, 2 * ones), dim=1)


@wrong("teacher_forcing", "the end mark is missing")
def nothing_to_stop_at(words):
    return F.pad(words, (1, 0), value=1), F.pad(words, (0, 1))


@wrong("teacher_forcing", "input and target are one word short")
def shifted_right(words):
    shifted = torch.zeros_like(words)
    shifted[:, 1:] = words[:, :-1].clone()
    shifted[:, 0] = 1
    return shifted, words


@wrong("teacher_forcing", "input and target are the same")
def both_with_both_marks(words):
    size = words.shape[1] + 2
    whole = filled([[1, *row, 2] for row in rows_of(words)], size)
    return whole, whole.clone()


@wrong("teacher_forcing", "input and target are the same")
def both_with_begin(words):
    given = F.pad(words, (1, 0), value=1)
    return given, given


@wrong("teacher_forcing", "input and target are the same")
def both_with_end(words):
    wanted = filled([[*row, 2] for row in rows_of(words)], words.shape[1] + 1)
    return wanted, wanted


@wrong("teacher_forcing", "the two have changed places")
def target_first(words):
    given, wanted = by_rows(words)
    return wanted, given


@wrong("teacher_forcing", "the target holds the begin mark")
def begin_to_be_written(words):
    size = words.shape[1]
    return filled([[1, *row] for row in rows_of(words)], size + 1), filled(
        [[1, *r, 2] for r in rows_of(words)], size + 2
    )


@wrong("teacher_forcing", "the input of a shorter sentence holds its end mark")
def last_column_cut(words):
    whole = torch.zeros(len(words), words.shape[1] + 2, dtype=torch.long)
    for row, sentence in zip(whole, rows_of(words), strict=True):
        row[: len(sentence) + 2] = torch.tensor([1, *sentence, 2])
    return whole[:, :-1], whole[:, 1:]


@wrong("teacher_forcing", "the input holds the end mark")
def end_to_be_read(words):
    size = words.shape[1]
    return filled([[1, *row, 2] for row in rows_of(words)], size + 2), filled(
        [[*r, 2] for r in rows_of(words)], size + 1
    )


@wrong("teacher_forcing", "the input has no begin mark")
def starts_with_the_first_word(words):
    whole = filled([[*row, 2] for row in rows_of(words)], words.shape[1] + 1)
    return words, whole[:, 1:]


@wrong("teacher_forcing", "the input has no begin mark")
def words_as_they_are(words):
    return words, by_rows(words)[1]


@wrong("teacher_forcing", "the input has no begin mark")
def words_filled_up(words):
    return F.pad(words, (0, 1)), by_rows(words)[1]


@wrong("teacher_forcing", "begin and end mark have changed places")
def two_before_one_behind(words):
    size = words.shape[1] + 1
    return filled([[2, *row] for row in rows_of(words)], size), filled([[*row, 1] for row in rows_of(words)], size)


@wrong("teacher_forcing", "the end mark stands one place too far")
def index_past_the_end(words):
    wanted = torch.cat([words, words.new_zeros(len(words), 1)], dim=1)
    wanted[range(len(words)), 1 + torch.count_nonzero(words, dim=1)] = 2
    return F.pad(words, (1, 0), value=1), wanted


@wrong("teacher_forcing", "the end mark stands one place too far")
def cut_to_fit(words):
    size = words.shape[1] + 1
    rows = [[*row, 0, 2][:size] for row in rows_of(words)]
    return F.pad(words, (1, 0), value=1), filled(rows, size)


@wrong("teacher_forcing", "each row has the end marks of all rows")
def colon_for_the_rows(words):
    lengths = (words != 0).sum(1)
    wanted = F.pad(words, (0, 1))
    for length in lengths:
        wanted[:, length] = 2
    return F.pad(words, (1, 0), value=1), wanted


@wrong("teacher_forcing", "the rows are of unequal length")
def ragged(words):
    return [[1, *row] for row in rows_of(words)], [[*row, 2] for row in rows_of(words)]


@wrong("teacher_forcing", "the rows are of unequal length")
def ragged_tensors(words):
    kept = [row[row != 0] for row in words]
    return [F.pad(row, (1, 0), value=1) for row in kept], [F.pad(row, (0, 1), value=2) for row in kept]


@wrong("teacher_forcing", "the end mark replaces the last word")
def counted_from_one(words):
    given, wanted = F.pad(words, (1, 0), value=1), F.pad(words, (0, 1))
    for row, length in enumerate((words > 0).sum(1).tolist()):
        wanted[row, max(length - 1, 0)] = 2
    return given, wanted


@wrong("teacher_forcing", "the end mark fills the padding")
def every_zero_becomes_an_end(words):
    wanted = F.pad(words, (0, 1))
    wanted[wanted == 0] = 2
    return F.pad(words, (1, 0), value=1), wanted


@wrong("teacher_forcing", "the word numbers are not whole numbers")
def made_with_zeros(words):
    given, wanted = torch.ones(len(words), words.shape[1] + 1), torch.zeros(len(words), words.shape[1] + 1)
    given[:, 1:] = words
    for row, sentence in enumerate(rows_of(words)):
        wanted[row, : len(sentence) + 1] = torch.tensor([*sentence, 2])
    return given, wanted


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


@wrong("loss_per_word", "the places of padding are counted in the average")
def as_given(logits, words, mask):
    probability = logits.softmax(-1)
    of_right_word = probability.gather(-1, words[:, :, None])[:, :, 0]
    return (-of_right_word.log() * mask).mean()


@wrong("loss_per_word", "the places of padding are counted in the average")
def zeroed_and_averaged(logits, words, mask):
    losses = F.cross_entropy(logits.transpose(1, 2), words, reduction="none")
    return losses.masked_fill(~mask, 0).sum() / mask.numel()


@wrong("loss_per_word", "the places of padding are counted in the average")
def unshifted_and_counted(logits, words, mask):
    scores = torch.exp(logits)
    total = 0.0
    for row in range(len(words)):
        for j in range(words.shape[1]):
            p = scores[row, j, words[row, j]] / scores[row, j].sum()
            total = total - p.log() * mask[row, j]
    return total / (words.shape[0] * words.shape[1])


@wrong("loss_per_word", "the padding is not left out")
def default_ignore_index(logits, words, mask):
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), words.reshape(-1))


@wrong("loss_per_word", "the log is taken of a probability that rounds to 0 or is NaN")
def one_fault_mended(logits, words, mask):
    chances = torch.softmax(logits, dim=2)
    losses = [-chances[i, j, words[i, j]].log() for i, j in mask.nonzero().tolist()]
    return sum(losses) / len(losses)


@wrong("loss_per_word", "the log is taken of a probability that rounds to 0 or is NaN")
def exponentials_first(logits, words, mask):
    p = torch.exp(logits) / torch.exp(logits).sum(2, keepdim=True)
    picked = (F.one_hot(words, logits.shape[-1]) * torch.log(p)).sum(2)
    return -(picked * mask).sum() / mask.sum()


@wrong("loss_per_word", "the padding is not left out")
def exponentials_of_all(logits, words, mask):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return -p.gather(2, words.unsqueeze(2)).squeeze(2).log().mean()


@wrong("loss_per_word", "a small number hides that a probability rounds to 0")
def epsilon_in_the_log(logits, words, mask):
    p = F.softmax(logits, 2)[mask]
    return -torch.log(p[torch.arange(len(p)), words[mask]] + 1e-9).mean()


@wrong("loss_per_word", "a small number hides that a probability rounds to 0")
def clamped(logits, words, mask):
    losses = -(F.one_hot(words, logits.shape[2]) * logits.softmax(2).clamp_min(1e-12).log()).sum(2)
    return (losses * mask).sum() / mask.sum()


@wrong("loss_per_word", "it raises RuntimeError: Expected target size [1, 3], got [1, 2]")
def scores_in_the_last_axis(logits, words, mask):
    return F.cross_entropy(logits, words, ignore_index=0)


@wrong("loss_per_word", "each sentence is averaged alone")
def mean_of_means(logits, words, mask):
    means = [F.cross_entropy(s[m], w[m]) for s, w, m in zip(logits, words, mask, strict=True) if m.any()]
    return torch.stack(means).sum() / len(logits)


@wrong("loss_per_word", "each sentence is averaged alone")
def mean_of_means_by_length(logits, words, mask):
    losses = F.cross_entropy(logits.mT, words, reduction="none") * mask
    return (losses.sum(dim=1) / mask.sum(dim=1)).mean()


@wrong("loss_per_word", "the sum is divided by the number of sentences")
def batch_average(logits, words, mask):
    return F.cross_entropy(logits[mask], words[mask], reduction="sum") / logits.size(0)


@wrong("loss_per_word", "the losses are summed, not averaged")
def never_divided(logits, words, mask):
    return F.nll_loss(F.log_softmax(logits, -1)[mask], words[mask], reduction="sum")


@wrong("loss_per_word", "the mask is the wrong way round")
def keeps_the_padding(logits, words, mask):
    return F.cross_entropy(logits[mask == 0], words[mask == 0])


@wrong("loss_per_word", "the softmax is taken twice")
def probabilities_into_cross_entropy(logits, words, mask):
    return F.cross_entropy(F.softmax(logits, dim=-1).transpose(1, 2), words, ignore_index=0)


@wrong("loss_per_word", "the softmax runs over the places of the sentence")
def middle_axis(logits, words, mask):
    return F.nll_loss(F.log_softmax(logits, dim=1)[mask], words[mask])


@wrong("loss_per_word", "the sign is wrong")
def a_negative_loss(logits, words, mask):
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return log_p[mask].gather(1, words[mask][:, None]).mean()


@wrong("loss_per_word", "padding is told by the number 0, not by the mask")
def by_its_number(logits, words, mask):
    return F.cross_entropy(logits.transpose(1, 2), words, ignore_index=0)


@wrong("loss_per_word", "padding is told by the number 0, not by the mask")
def own_mask(logits, words, mask):
    on = (words != 0).float()
    return -(logits.log_softmax(2).gather(2, words.unsqueeze(2)).squeeze(2) * on).sum() / on.sum()


@wrong("loss_per_word", "the log is taken of a probability that rounds to 0 or is NaN")
def more_digits(logits, words, mask):
    p = logits.double().softmax(-1)[mask]
    return -p[torch.arange(len(p)), words[mask]].log().mean()


@wrong("loss_per_word", "exp of a large score is infinite")
def sum_of_powers(logits, words, mask):
    scores, right = logits[mask], words[mask]
    return (torch.log(torch.exp(scores).sum(1)) - scores[torch.arange(len(right)), right]).mean()


@wrong("loss_per_word", "exp of a large score is infinite")
def sum_of_powers_masked(logits, words, mask):
    losses = torch.log(torch.exp(logits).sum(2)) - (F.one_hot(words, logits.shape[2]) * logits).sum(2)
    return (losses * mask).sum() / mask.sum()


@wrong("loss_per_word", "the scores are taken for log-probabilities")
def nll_of_scores(logits, words, mask):
    return F.nll_loss(logits[mask], words[mask])


@wrong("loss_per_word", "the log is not the natural one")
def in_bits(logits, words, mask):
    log_p = logits[mask].log_softmax(-1) * math.log2(math.e)
    return -log_p[range(len(log_p)), words[mask]].mean()


@wrong("loss_per_word", "the log is not the natural one")
def in_tens(logits, words, mask):
    return F.cross_entropy(logits[mask], words[mask]) / 2.302585


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

wrong_value("words_held_64", 64, "that is the number of numbers in the state")
wrong_value("words_held_64", 13, "that is the curve of 256 numbers")
wrong_value("words_held_64", 6, "perhaps the count starts at 0")
wrong_value("words_held_64", 8, "perhaps the first word below one half is counted too")
wrong_value("words_held_64", 18, "that is about where the curve meets the dotted line")
wrong_value("words_held_64", 4, "4 is not right")
wrong_value("words_held_256", 28, "four times the words were expected, and were not measured")
wrong_value("words_held_256", 7, "that is the curve of 64 numbers")
wrong_value("words_held_256", 12, "perhaps the count starts at 0")
wrong_value("words_held_256", 14, "perhaps the first word below one half is counted too")
wrong_value("words_held_256", 20, "those are all words of the sentence")
wrong_value("words_held_256", 10, "10 is not right")
wrong_value("words_held_softly", 20, "the sentence ends before the curve reaches one half")
wrong_value("words_held_softly", 13, "that is the count with the scale of 0.3")
wrong_value("words_held_softly", 9, "that is a state of 64 numbers")
wrong_value("words_held_softly", 5, "that is the count with a scale of 1")
wrong_value("words_held_softly", 40, "40 is not right")
right_value("words_held_64", 7)
right_value("words_held_256", 13.0)
right_value("words_held_softly", 24)
right_value("words_held_softly", 26)


# ---- what readers of their own gave ----


@wrong(
    "read_batch",
    "its arguments stand in another order: (mask, x, W_x, W_h, b), and the text has (x, mask, W_x, W_h, b)",
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


@wrong("rnn_step", "what it has returned changes when it is called again")
def one_buffer(x, state, W_x, W_h, b, kept={}):  # noqa: B006
    out = kept.setdefault((len(x), len(b), x.dtype), torch.empty(len(x), len(b), dtype=x.dtype))
    return torch.tanh(x @ W_x.T + state @ W_h.T + b, out=out)


@wrong("rnn_step", "it returns a list of 2 tensors, not a tensor of shape (1, 2)")
def output_and_state(x, state, W_x, W_h, b):
    new = torch.tanh(x @ W_x.T + state @ W_h.T + b)
    return new, new


@wrong("rnn_step", "the result holds True and False, not numbers")
def compares(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T + b) > 0


@wrong("loss_per_word", "the largest score is that of the whole batch, not of the place")
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


@wrong("teacher_forcing", "in result 1 of 2, only some entries are off, 38% of those in the inputs that fail")
def in_bytes(words):
    target = F.pad(words, (0, 1))
    target[torch.arange(len(words)), (words != 0).sum(1)] = 2
    return F.pad(words, (1, 0), value=1).to(torch.uint8), target.to(torch.uint8)


@wrong("rnn_step", "the result holds NaN in 1 of 4 places")
def tanh_of_exponentials(x, state, W_x, W_h, b):
    powers = (2 * (x @ W_x.T + state @ W_h.T + b)).exp()
    return (powers - 1) / (powers + 1)


@wrong("read_batch", "the numbers are right, but in the shape (2, 3) in place of (2, 3, 1)")
def squeezes(x, mask, W_x, W_h, b):
    return sentence_by_sentence(x, mask, W_x, W_h, b).squeeze(-1)


@wrong("read_batch", "it returns a list of 3 tensors, not a tensor of shape (3, 3, 3)")
def a_list_of_states(x, mask, W_x, W_h, b):
    return [*sentence_by_sentence(x, mask, W_x, W_h, b)]


@wrong("teacher_forcing", "in result 1 of 2, along the last axis but one the entries are right, in another order")
def sorted_by_length(words):
    words = words[(words != 0).sum(1).argsort(descending=True, stable=True)]
    target = F.pad(words, (0, 1))
    target[torch.arange(len(words)), (words != 0).sum(1)] = 2
    return F.pad(words, (1, 0), value=1), target


wrong_value("words_held_softly", 21, "21 is not right")
wrong_value("words_held_softly", 14, "14 is not right")
wrong_value("feels", [["1", "0", "0", "0", "0"]] * 5, "['1', '0', '0', '0', '0'] is text")
wrong_value("feels", [[1], [1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]], "entry 1, [1], has 1 of 5 numbers")
