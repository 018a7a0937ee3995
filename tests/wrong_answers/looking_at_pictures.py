"""Lesson 10: looking at pictures."""

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, wrong

# ---- patches ----


@wrong("patches", "it returns a list of 6 tensors, not a tensor of shape (2, 6, 4)")
def list_not_stacked(pictures, size):
    _, h, w = pictures.shape
    return [pictures[:, r : r + size, c : c + size].flatten(1) for r in range(0, h, size) for c in range(0, w, size)]


@right("patches")
def torchs_unfold(pictures, size):
    return F.unfold(pictures[:, None], size, stride=size).transpose(1, 2)


@right("patches")
def by_unfolding(pictures, size):
    return pictures.unfold(1, size, size).unfold(2, size, size).flatten(3).flatten(1, 2)


@right("patches")
def five_axes(pictures, size):
    b, h, w = pictures.shape
    parts = pictures.reshape(b, h // size, size, w // size, size)
    return parts.permute(0, 1, 3, 2, 4).reshape(b, -1, size * size)


@right("patches")
def loops_in_numpy(pictures, size):
    pictures = np.asarray(pictures)
    b, h, w = pictures.shape
    found = np.zeros((b, h // size * (w // size), size**2), pictures.dtype)
    for r in range(h // size):
        for c in range(w // size):
            square = pictures[:, r * size : (r + 1) * size, c * size : (c + 1) * size]
            found[:, r * (w // size) + c] = square.reshape(b, -1)
    return found


@right("patches")
def by_chunks(pictures, size):
    parts = [row.split(size, 2) for row in pictures.split(size, 1)]
    return torch.stack([part.flatten(1) for row in parts for part in row], 1)


# ---- picture_of ----


@wrong("picture_of", "it returns nothing")
def return_forgotten(patches, size, height, width):
    patches.reshape(len(patches), height // size, width // size, size, size)


@right("picture_of")
def torchs_fold(patches, size, height, width):
    return F.fold(patches.transpose(1, 2), (height, width), size, stride=size).squeeze(1)


@right("picture_of")
def stitched(patches, size, height, width):
    squares = patches.reshape(patches.shape[0], -1, size, size)
    per_row = width // size
    rows = [torch.cat(list(squares[:, k : k + per_row].unbind(1)), 2) for k in range(0, squares.shape[1], per_row)]
    return torch.cat(rows, 1)


@right("picture_of")
def moved_axes(patches, size, height, width):
    grid = patches.unflatten(2, (size, size)).unflatten(1, (height // size, width // size))
    return grid.transpose(2, 3).reshape(-1, height, width)


@right("picture_of")
def point_by_point(patches, size, height, width):
    r, c = np.mgrid[:height, :width]
    return patches.numpy()[:, r // size * (width // size) + c // size, r % size * size + c % size]


@right("picture_of")
def by_pixel_shuffle(patches, size, height, width):
    points = patches.mT.reshape(-1, size**2, height // size, width // size)
    return F.pixel_shuffle(points, size).squeeze(1)


# ---- context_over_grid ----


@wrong(
    "context_over_grid",
    "it raises RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 3",
)
def no_new_axis(weights, features):
    return (weights * features).sum((1, 2))


@right("context_over_grid")
def einsum_over_grid(weights, features):
    return torch.einsum("brc,brcd->bd", weights, features)


@right("context_over_grid")
def loops_over_grid(weights, features):
    out = features.new_zeros(features.shape[0], features.shape[3])
    for r in range(weights.shape[1]):
        for c in range(weights.shape[2]):
            out += weights[:, r, c, None] * features[:, r, c]
    return out


@right("context_over_grid")
def tensordot_in_numpy(weights, features):
    pairs = zip(weights.numpy(), features.numpy(), strict=True)
    return np.stack([np.tensordot(w, f, axes=2) for w, f in pairs])


@right("context_over_grid")
def divided_by_a_sum_of_one(weights, features):
    weighted = (weights[..., None] * features).sum(1).sum(1)
    return weighted / weights.sum((1, 2))[:, None]


# ---- grid_weights ----


@wrong("grid_weights", "the scores are divided by their sum, without exp")
def shares_of_scores(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores / scores.flatten(1).sum(1)[:, None, None]


@wrong("grid_weights", "it returns a tuple of 2 tensors, not a tensor of shape (2, 2, 3)")
def weights_and_context(queries, keys):
    weights = by_logsumexp(queries, keys)
    return weights, torch.einsum("brc,brcd->bd", weights, keys)


@right("grid_weights")
def by_logsumexp(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return (scores - scores.logsumexp((1, 2), keepdim=True)).exp()


@right("grid_weights")
def flattened(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.flatten(1).softmax(dim=-1).reshape(scores.shape)


@right("grid_weights")
def one_picture_at_a_time(queries, keys):
    found = []
    for query, own in zip(queries.numpy(), keys.numpy(), strict=True):
        scores = own @ query / np.sqrt(len(query))
        e = np.exp(scores - scores.max())
        found.append(e / e.sum())
    return np.stack(found)


@right("grid_weights")
def shifted_by_the_largest(queries, keys):
    scores = (queries[:, None, None] * keys).sum(-1) / queries.shape[1] ** 0.5
    e = (scores - scores.amax((1, 2), keepdim=True)).exp()
    return e / e.sum((1, 2), keepdim=True)


# ---- pointing_accuracy ----


@right("pointing_accuracy")
def counted_and_divided(weights, gold):
    named = gold >= 0
    return ((weights.argmax(-1) == gold) & named).sum() / named.sum()


@right("pointing_accuracy")
def in_loops(weights, gold):
    hits = count = 0
    for own, row in zip(weights.tolist(), gold.tolist(), strict=True):
        for w, g in zip(own, row, strict=True):
            if g != -1:
                count += 1
                hits += w.index(max(w)) == g
    return hits / count


@right("pointing_accuracy")
def in_numpy(weights, gold):
    w, g = weights.numpy(), gold.numpy()
    return np.mean(w[g >= 0].argmax(-1) == g[g >= 0])


@right("pointing_accuracy")
def gold_weight_is_the_largest(weights, gold):
    b, w = (gold >= 0).nonzero(as_tuple=True)
    return (weights[b, w, gold[b, w]] == weights[b, w].amax(-1)).double().mean().item()


# ---- looks_nowhere ----


@right("looks_nowhere")
def one_for_all(query, keys):
    n = keys.shape[1]
    return [[1 / n] * n for _ in keys]


@right("looks_nowhere")
def more_in_the_middle(query, keys):
    """A fixed look needn't be an even one."""
    n = keys.shape[1]
    one = torch.exp(-((torch.arange(n) - n / 2) ** 2) / n)
    return (one / one.sum()).repeat(len(keys), 1)


@right("looks_nowhere")
def drawn_once(query, keys):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(keys.shape[1], generator=generator).softmax(0).expand(keys.shape[:2])


@right("looks_nowhere")
def softmax_of_nothing(query, keys):
    return (0 * (keys @ query[:, :, None])[..., 0]).softmax(-1)


@wrong("looks_nowhere", "the control sees nothing")
def blind(query, keys):
    return keys.new_zeros(keys.shape[:2])


@wrong("looks_nowhere", "some regions are never seen")
def the_middle(query, keys):
    weights = torch.zeros(keys.shape[:2])
    weights[:, keys.shape[1] // 2] = 1.0
    return weights


@wrong("looks_nowhere", "some regions are never seen")
def every_second(query, keys):
    weights = torch.zeros(keys.shape[:2])
    weights[:, ::2] = 1.0
    return weights / weights.sum(1, keepdim=True)


@wrong("looks_nowhere", "the picture decides where it looks")
def where_there_is_ink(query, keys):
    ink = keys.abs().sum(-1)
    return ink / ink.sum(-1, keepdim=True)


@wrong("looks_nowhere", "it still looks where word and picture tell it to")
def nearly_flat(query, keys):
    scores = (keys * query.unsqueeze(1)).sum(-1)
    return torch.softmax(scores / 1000, dim=-1)


@wrong("looks_nowhere", "it still looks where word and picture tell it to")
def shuffled(query, keys):
    """The weights of attention, at other regions."""
    scores = (keys * query.unsqueeze(1)).sum(-1) / keys.shape[-1] ** 0.5
    return scores.softmax(-1).roll(1, 1)


@wrong("looks_nowhere", "a new look is drawn at each call")
def anywhere(query, keys):
    return torch.randn(keys.shape[:2]).softmax(-1)


@wrong("looks_nowhere", "the weights don't sum to 1")
def ones(query, keys):
    return torch.ones_like(keys[..., 0])


@wrong("looks_nowhere", "the axis of the pictures is missing")
def of_one_picture(query, keys):
    return torch.full((keys.shape[1],), 1 / keys.shape[1])


@wrong(
    "looks_nowhere",
    "it raises ValueError: the weights have the shape (2, 2), not (batch, regions), which is (2, 3) here",
)
def the_context(query, keys):
    return keys.mean(1)


# ---- more_often ----


@right("more_often")
def word_by_word(costliest, costliest_control, looked, correct, correct_control):
    ours = theirs = words = 0
    for picture in range(len(looked)):
        for word in range(looked.shape[1]):
            if correct[picture, word] and correct_control[picture, word]:
                words += 1
                ours += int(costliest[picture, word] == looked[picture, word])
                theirs += int(costliest_control[picture, word] == looked[picture, word])
    return (ours - theirs) / words


@right("more_often")
def as_one_sum(costliest, costliest_control, looked, correct, correct_control):
    both = (correct & correct_control).float()
    gain = (costliest == looked).float() - (costliest_control == looked).float()
    return (gain * both).sum() / both.sum()


@wrong("more_often", "all words are counted")
def of_all_words(costliest, costliest_control, looked, correct, correct_control):
    return (costliest == looked).float().mean() - (costliest_control == looked).float().mean()


@wrong("more_often", "each share is over the words that its own captioner gets right")
def each_its_own(costliest, costliest_control, looked, correct, correct_control):
    def share(cells, mask):
        return ((cells == looked) & mask).sum() / mask.sum()

    return share(costliest, correct) - share(costliest_control, correct_control)


@wrong("more_often", "hits are divided by all words")
def masked_and_averaged(costliest, costliest_control, looked, correct, correct_control):
    both = correct & correct_control
    return ((costliest == looked) * both).float().mean() - ((costliest_control == looked) * both).float().mean()


@wrong("more_often", "it is a ratio, not a difference")
def times_as_often(costliest, costliest_control, looked, correct, correct_control):
    both = correct & correct_control
    return (costliest == looked)[both].sum() / (costliest_control == looked)[both].sum()


@wrong("more_often", "every number that is off is too large")
def agree(costliest, costliest_control, looked, correct, correct_control):
    both = correct & correct_control
    return 1 - (costliest == costliest_control)[both].double().mean()


# ---- expected_gradient ----


def eye(logits):
    return torch.eye(len(logits), dtype=logits.dtype)


@right("expected_gradient")
def torchs_gradient_of_the_expected_reward(logits, rewards, baseline):
    x = logits.detach().clone().requires_grad_()
    return torch.autograd.grad(x.softmax(0) @ rewards, x)[0]


@right("expected_gradient")
def sum_over_places(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum(p[i] * (rewards[i] - baseline) * (eye(logits)[i] - p) for i in range(len(p)))


@right("expected_gradient")
def short_form(logits, rewards, baseline):
    p = logits.softmax(0)
    return p * (rewards - p @ rewards)


@right("expected_gradient")
def of_log_p(logits, rewards, baseline):
    x = logits.clone().requires_grad_()
    p = x.softmax(0).detach()
    (p * (rewards - baseline) * x.log_softmax(0)).sum().backward()
    return x.grad


@right("expected_gradient")
def numpy_matrix(logits, rewards, baseline):
    p = np.exp(logits.double().numpy())
    p /= p.sum()
    return (p * (rewards.double().numpy() - baseline)) @ (np.eye(len(p)) - p)


# ---- straight_through ----


@wrong("straight_through", "it changes its argument soft in place")
def data_overwritten(soft, hard):
    soft.data = hard
    return soft


@right("straight_through")
def one_line(soft, hard):
    return soft + (hard - soft).detach()


@right("straight_through")
def other_line(soft, hard):
    return hard + soft - soft.detach()


@right("straight_through")
def own_function(soft, hard):
    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx, one, other):
            return other.clone()

        @staticmethod
        def backward(ctx, arriving):
            return arriving, None

    return Straight.apply(soft, hard)


@right("straight_through")
def by_a_hook(soft, hard):
    value = soft * 1
    value.data = hard
    return value


# ---- written from the text alone ----


@wrong("context_over_grid", "the weighted features are averaged over the regions")
def context_mean_over_the_grid(weights, features):
    return (weights.unsqueeze(-1) * features).mean(dim=(1, 2))


@wrong("context_over_grid", "the axis of the columns is left over")
def context_over_rows_only(weights, features):
    return (weights[..., None] * features).sum(1)


@wrong("context_over_grid", "only the region with the largest weight counts")
def context_largest_region(weights, features):
    flat = features.flatten(1, 2)
    best = weights.flatten(1).argmax(-1)
    return torch.stack([flat[b, best[b]] for b in range(len(flat))])


@wrong("pointing_accuracy", "words that name no region count as misses")
def pointing_all_words(weights, gold):
    return (weights.argmax(-1) == gold).float().mean().item()


@wrong("pointing_accuracy", "each picture counts equally, however many words it has")
def pointing_mean_of_captions(weights, gold):
    shares = []
    for w, g in zip(weights, gold, strict=True):
        named = g >= 0
        if named.any():
            shares.append((w.argmax(-1) == g)[named].float().mean().item())
    return sum(shares) / len(shares)


@wrong("pointing_accuracy", "region 0 is left out, too")
def pointing_region_zero_left_out(weights, gold):
    hits = count = 0
    for b in range(gold.shape[0]):
        for i in range(gold.shape[1]):
            if gold[b, i] > 0:
                count += 1
                hits += int(weights[b, i].argmax() == gold[b, i])
    return hits / count


@wrong("expected_gradient", "the result is the plain mean over the places")
def gradient_without_probability_weights(logits, rewards, baseline):
    p = logits.softmax(0)
    total = torch.zeros_like(logits)
    for i in range(len(p)):
        onehot = torch.zeros_like(p)
        onehot[i] = 1
        total = total + (rewards[i] - baseline) * (onehot - p)
    return total / len(p)


@wrong("expected_gradient", "the − p is missing in the gradient of log p")
def gradient_without_minus_p(logits, rewards, baseline):
    p = torch.softmax(logits, dim=0)
    return p * (rewards - baseline)


@wrong("expected_gradient", "the result has the wrong sign")
def gradient_downhill(logits, rewards, baseline):
    p = torch.softmax(logits, dim=0)
    return -p * (rewards - (p * rewards).sum())


@wrong("straight_through", "hard is returned as it is, and no gradient reaches soft")
def through_plain_hard(soft, hard):
    return hard.detach().clone().requires_grad_()


@wrong("straight_through", "soft is added and subtracted, and so is its gradient")
def through_nothing_detached(soft, hard):
    return soft + (hard - soft)


@wrong("straight_through", "soft and hard are multiplied")
def through_product(soft, hard):
    return soft * hard


@wrong("patches", "the rows of the picture are cut up, not its squares")
def patches_plain_reshape(pictures, size):
    batch = pictures.shape[0]
    return pictures.reshape(batch, -1, size * size)


@wrong("patches", "the patches are counted down the columns")
def patches_column_by_column(pictures, size):
    batch, height, width = pictures.shape
    found = []
    for left in range(0, width, size):
        for top in range(0, height, size):
            found.append(pictures[:, top : top + size, left : left + size].reshape(batch, -1))
    return torch.stack(found, dim=1)


@wrong("patches", "the patches overlap")
def patches_overlapping(pictures, size):
    batch, height, width = pictures.shape
    found = []
    for top in range(height - size + 1):
        for left in range(width - size + 1):
            found.append(pictures[:, top : top + size, left : left + size].flatten(1))
    return torch.stack(found, dim=1)


@wrong("picture_of", "the patches are laid one after the other")
def picture_plain_reshape(patches, size, height, width):
    return patches.reshape(len(patches), height, width)


@wrong("picture_of", "the patches fill the picture column by column")
def picture_rows_and_columns_of_patches_exchanged(patches, size, height, width):
    squares = patches.reshape(-1, width // size, height // size, size, size)
    return squares.permute(0, 2, 3, 1, 4).reshape(-1, height, width)


@wrong("picture_of", "the rows and columns of each patch are swapped")
def picture_every_patch_turned(patches, size, height, width):
    out = patches.new_zeros(len(patches), height, width)
    n = 0
    for top in range(0, height, size):
        for left in range(0, width, size):
            out[:, top : top + size, left : left + size] = patches[:, n].reshape(-1, size, size).mT
            n += 1
    return out


@wrong("grid_weights", "the softmax is taken along each row of the grid")
def grid_softmax_last_axis(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(dim=-1)


@wrong("grid_weights", "the softmax along one axis is followed by a softmax along the other")
def grid_softmax_twice(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(dim=1).softmax(dim=2)


@wrong("grid_weights", "the whole batch shares one softmax")
def grid_one_sum_for_the_whole_batch(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.exp() / scores.exp().sum()


@wrong("expected_gradient", "the weighted gradients are averaged again")
def gradient_averaged_twice(logits, rewards, baseline):
    p = logits.softmax(0)
    return ((p * (rewards - baseline))[:, None] * (torch.eye(len(p), dtype=p.dtype) - p)).mean(0)


@wrong("straight_through", "the gradient has the wrong sign")
def through_with_the_other_sign(soft, hard):
    return hard + (soft.detach() - soft)


@wrong("patches", "the points of a patch are not neighbours")
def patches_split_the_wrong_way_round(pictures, size):
    b, h, w = pictures.shape
    x = pictures.reshape(b, size, h // size, size, w // size)
    return x.permute(0, 2, 4, 1, 3).reshape(b, -1, size * size)


@wrong("grid_weights", "large scores overflow")
def plain_exponentials(queries, keys):
    e = (torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5).exp()
    return e / e.sum((1, 2), keepdim=True)


@wrong("expected_gradient", "large logits overflow")
def gradient_by_hand(logits, rewards, baseline):
    e = logits.exp()
    p = e / e.sum()
    return sum(p[i] * (rewards[i] - baseline) * (F.one_hot(torch.tensor(i), len(p)) - p) for i in range(len(p)))
