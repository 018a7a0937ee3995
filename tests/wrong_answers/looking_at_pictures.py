"""Lesson 10: looking at pictures."""

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, wrong

# ---- patches ----


@wrong("patches", "the rows of the picture are cut, not its squares: an axis is not moved")
def plain_view(pictures, size):
    return pictures.reshape(pictures.shape[0], -1, size * size)


@wrong("patches", "the rows of the picture are cut, not its squares: an axis is not moved")
def five_axes_not_moved(pictures, size):
    b, h, w = pictures.shape
    return pictures.reshape(b, h // size, size, w // size, size).reshape(b, -1, size**2)


@wrong("patches", "the rows of the picture are cut, not its squares: an axis is not moved")
def split_in_numpy(pictures, size):
    rows = np.split(pictures.numpy().reshape(len(pictures), -1), pictures[0].numel() // size**2, axis=1)
    return np.stack(rows, axis=1)


@wrong("patches", "height and width have changed places")
def w_before_h(pictures, size):
    b, w, h = pictures.shape
    return pictures.reshape(b, h // size, size, w // size, size).transpose(2, 3).reshape(b, -1, size * size)


@wrong("patches", "the patches are counted down the columns")
def columns_in_the_outer_loop(pictures, size):
    _, h, w = pictures.shape
    found = []
    for c in range(0, w, size):
        for r in range(0, h, size):
            found.append(pictures[:, r : r + size, c : c + size].reshape(len(pictures), -1))
    return torch.stack(found, 1)


@wrong("patches", "each patch is read down its columns")
def patch_transposed(pictures, size):
    _, h, w = pictures.shape
    found = []
    for r in range(0, h, size):
        for c in range(0, w, size):
            found.append(pictures[:, r : r + size, c : c + size].mT.reshape(len(pictures), -1))
    return torch.stack(found, 1)


@wrong("patches", "patches and points are counted down the columns")
def picture_transposed(pictures, size):
    return by_unfolding(pictures.transpose(1, 2), size)


@wrong("patches", "the points of a patch are not neighbours")
def side_before_number(pictures, size):
    b, h, w = pictures.shape
    return pictures.reshape(b, size, h // size, size, w // size).permute(0, 2, 4, 1, 3).reshape(b, -1, size * size)


@wrong("patches", "the points of a patch are not neighbours")
def every_so_many_points(pictures, size):
    b, h, w = pictures.shape
    rows, columns = h // size, w // size
    return torch.stack(
        [pictures[:, r::rows, c::columns].reshape(b, -1) for r in range(rows) for c in range(columns)], 1
    )


@wrong("patches", "the points of a patch are not neighbours")
def side_first_and_middle_axes(pictures, size):
    b, h, w = pictures.shape
    return pictures.reshape(b, size, h // size, size, w // size).permute(0, 1, 3, 2, 4).reshape(b, -1, size * size)


@wrong("patches", "patches and points stand in each other's places")
def unfold_as_it_is(pictures, size):
    return F.unfold(pictures.unsqueeze(1), kernel_size=size, stride=size)


@wrong("patches", "patches and points stand in each other's places")
def stacked_last(pictures, size):
    _, h, w = pictures.shape
    corners = [(r, c) for r in range(0, h, size) for c in range(0, w, size)]
    return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in corners], dim=-1)


@wrong("patches", "patches and points stand in each other's places")
def every_second_point(pictures, size):
    found = [pictures[:, r::size, c::size].flatten(1) for r in range(size) for c in range(size)]
    return torch.stack(found, 1)


@wrong("patches", "the points of a patch are still a square")
def not_flattened(pictures, size):
    _, h, w = pictures.shape
    corners = [(r, c) for r in range(0, h, size) for c in range(0, w, size)]
    return torch.stack([pictures[:, r : r + size, c : c + size] for r, c in corners], dim=1)


@wrong("patches", "the patches still stand in a grid")
def grid_kept(pictures, size):
    return pictures.unfold(1, size, size).unfold(2, size, size).flatten(3)


@wrong("patches", "the rows of a patch are not joined")
def last_axis_is_the_side(pictures, size):
    return pictures.unfold(1, size, size).unfold(2, size, size).reshape(len(pictures), -1, size)


@wrong("patches", "the pictures of the batch are thrown together")
def batch_lost(pictures, size):
    return pictures.unfold(1, size, size).unfold(2, size, size).reshape(-1, size * size)


@wrong("patches", "the pictures of the batch are thrown together")
def one_long_list(pictures, size):
    found = []
    for picture in pictures:
        for r in range(0, picture.shape[0], size):
            for c in range(0, picture.shape[1], size):
                found.append(picture[r : r + size, c : c + size].flatten())
    return torch.stack(found)


@wrong("patches", "the axis of the patches stands before that of the batch")
def stacked_in_front(pictures, size):
    _, h, w = pictures.shape
    corners = [(r, c) for r in range(0, h, size) for c in range(0, w, size)]
    return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in corners])


@wrong("patches", "only the first picture is cut")
def return_in_the_loop(pictures, size):
    for picture in pictures:
        return picture.unfold(0, size, size).unfold(1, size, size).reshape(-1, size * size)


@wrong("patches", "only the first row of patches is cut")
def one_loop(pictures, size):
    return torch.stack([pictures[:, :size, c : c + size].flatten(1) for c in range(0, pictures.shape[2], size)], 1)


@wrong("patches", "the patches overlap")
def stride_left_out(pictures, size):
    return F.unfold(pictures[:, None], size).mT


@wrong("patches", "the patches overlap")
def step_of_one(pictures, size):
    _, h, w = pictures.shape
    corners = [(r, c) for r in range(h - size + 1) for c in range(w - size + 1)]
    return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in corners], 1)


@wrong("patches", "the size is taken for the number of patches in a row")
def so_many_patches(pictures, size):
    parts = [row.chunk(size, 2) for row in pictures.chunk(size, 1)]
    return torch.stack([part.flatten(1) for row in parts for part in row], 1)


def looped(pictures, size, down, across):
    """Patch by patch, as long as the corner is not as far down or across as this."""
    found = []
    for r in range(0, down, size):
        for c in range(0, across, size):
            found.append(pictures[:, r : r + size, c : c + size].flatten(1))
    return torch.stack(found, 1)


@wrong("patches", "the height is taken for the width, too")
def as_if_square(pictures, size):
    h = pictures.shape[1]
    return looped(pictures, size, h, h)


@wrong("patches", "the width is taken for the height, too")
def as_if_square_by_the_width(pictures, size):
    w = pictures.shape[-1]
    return looped(pictures, size, w, w)


@wrong("patches", "the last row and the last column of patches are missing")
def range_ends_too_early(pictures, size):
    _, h, w = pictures.shape
    return looped(pictures, size, h - size, w - size)


@wrong("patches", "only the patches on the diagonal are cut")
def zipped(pictures, size):
    _, h, w = pictures.shape
    starts = zip(range(0, h, size), range(0, w, size), strict=False)
    return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in starts], 1)


@wrong("patches", "it returns 6 things, not a tensor of shape (2, 6, 4)")
def list_not_stacked(pictures, size):
    _, h, w = pictures.shape
    return [pictures[:, r : r + size, c : c + size].flatten(1) for r in range(0, h, size) for c in range(0, w, size)]


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


@wrong("picture_of", "the patches are laid one behind the other: an axis is not moved")
def reshaped_at_once(patches, size, height, width):
    return patches.reshape(-1, height, width)


@wrong("picture_of", "the patches are laid one behind the other: an axis is not moved")
def unflattened_not_moved(patches, size, height, width):
    return patches.reshape(len(patches), height // size, width // size, size, size).reshape(-1, height, width)


@wrong("picture_of", "height and width have changed places in the grid of patches")
def columns_for_rows(patches, size, height, width):
    grid = patches.unflatten(2, (size, size)).unflatten(1, (width // size, height // size))
    return grid.transpose(2, 3).reshape(-1, height, width)


@wrong("picture_of", "the picture comes out with height and width exchanged")
def width_by_height(patches, size, height, width):
    return stitched(patches, size, width, height)


@wrong("picture_of", "the shape (batch, width, height) is given to the picture")
def shape_turned(patches, size, height, width):
    grid = patches.reshape(len(patches), height // size, width // size, size, size)
    return grid.permute(0, 1, 3, 2, 4).reshape(len(patches), width, height)


@wrong("picture_of", "the patches are put in down the columns")
def down_then_right(patches, size, height, width):
    out = patches.new_zeros(len(patches), height, width)
    k = 0
    for c in range(0, width, size):
        for r in range(0, height, size):
            out[:, r : r + size, c : c + size] = patches[:, k].reshape(-1, size, size)
            k += 1
    return out


@wrong("picture_of", "the patches are put in down the columns")
def modulo_of_the_rows(patches, size, height, width):
    out = torch.zeros(len(patches), height, width, dtype=patches.dtype)
    for k in range(patches.shape[1]):
        r, c = k % (height // size) * size, k // (height // size) * size
        out[:, r : r + size, c : c + size] = patches[:, k].reshape(-1, size, size)
    return out


@wrong("picture_of", "each patch is put in with its rows for columns")
def inner_axes_exchanged(patches, size, height, width):
    grid = patches.reshape(len(patches), height // size, width // size, size, size)
    return grid.permute(0, 1, 4, 2, 3).reshape(len(patches), height, width)


@wrong("picture_of", "the whole picture is turned: rows for columns")
def turned_at_the_end(patches, size, height, width):
    return torch.stack([picture.T for picture in stitched(patches, size, height, width)])


@wrong("picture_of", "the points of each patch are strewn over the picture")
def with_steps(patches, size, height, width):
    out = patches.new_zeros(len(patches), height, width)
    rows, columns = height // size, width // size
    for r in range(rows):
        for c in range(columns):
            out[:, r::rows, c::columns] = patches[:, r * columns + c].reshape(-1, size, size)
    return out


@wrong("picture_of", "patches and points are taken for each other")
def folded_without_transpose(patches, size, height, width):
    columns = patches.reshape(len(patches), size * size, -1)
    return F.fold(columns, (height, width), size, stride=size)[:, 0]


@wrong("picture_of", "patches and points are taken for each other")
def shuffled_without_transpose(patches, size, height, width):
    return F.pixel_shuffle(patches.reshape(-1, size**2, height // size, width // size), size).squeeze(1)


@wrong("picture_of", "the patches still stand in a grid, not joined")
def grid_of_squares(patches, size, height, width):
    return patches.reshape(len(patches), height // size, width // size, size, size)


@wrong("picture_of", "the patches have become squares and are not joined")
def squares_alone(patches, size, height, width):
    return patches.unflatten(-1, (size, size))


@wrong("picture_of", "the axes are in order, and not joined")
def last_reshape_forgotten(patches, size, height, width):
    return patches.reshape(-1, height // size, width // size, size, size).permute(0, 1, 3, 2, 4)


@wrong("picture_of", "all patches stand beside each other")
def one_cat(patches, size, height, width):
    return torch.cat([patches[:, k].reshape(-1, size, size) for k in range(patches.shape[1])], dim=2)


@wrong("picture_of", "all patches stand below each other")
def one_cat_downwards(patches, size, height, width):
    return torch.cat([patches[:, k].reshape(-1, size, size) for k in range(patches.shape[1])], dim=1)


@wrong("picture_of", "only the first picture is put together")
def first_alone(patches, size, height, width):
    out = patches.new_zeros(height, width)
    for k, patch in enumerate(patches[0]):
        r, c = k // (width // size) * size, k % (width // size) * size
        out[r : r + size, c : c + size] = patch.reshape(size, size)
    return out


@wrong("picture_of", "an axis of colours is left over")
def folded_not_squeezed(patches, size, height, width):
    return F.fold(patches.mT, (height, width), size, stride=size)


@wrong("picture_of", "it returns nothing")
def return_forgotten(patches, size, height, width):
    patches.reshape(len(patches), height // size, width // size, size, size)


@wrong("picture_of", "the last patch is missing")
def last_patch_forgotten(patches, size, height, width):
    out = torch.zeros(len(patches), height, width, dtype=patches.dtype)
    for k in range(patches.shape[1] - 1):
        r, c = k // (width // size) * size, k % (width // size) * size
        out[:, r : r + size, c : c + size] = patches[:, k].reshape(-1, size, size)
    return out


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


@wrong("context_over_grid", "it is the plain mean of all regions")
def unweighted_mean(weights, features):
    return features.flatten(1, 2).mean(1)


@wrong("context_over_grid", "it is the plain sum of all regions")
def unweighted_sum(weights, features):
    return torch.einsum("brcd->bd", features)


@wrong("context_over_grid", "the weighted features are averaged over the regions")
def mean_for_sum(weights, features):
    return (weights.unsqueeze(-1) * features).mean(dim=(1, 2))


@wrong("context_over_grid", "it is averaged over the rows, or over the columns")
def mean_over_rows(weights, features):
    return (weights.unsqueeze(-1) * features).sum(2).mean(1)


@wrong("context_over_grid", "it is averaged over the rows, or over the columns")
def divided_by_columns(weights, features):
    return torch.einsum("brc,brcd->bd", weights, features) / weights.shape[2]


@wrong("context_over_grid", "the pictures of the batch are summed, too")
def batch_summed(weights, features):
    return torch.einsum("brc,brcd->d", weights, features)


@wrong("context_over_grid", "the first picture's weights serve all pictures")
def first_weights_for_all(weights, features):
    return torch.einsum("rc,brcd->bd", weights[0], features)


@wrong("context_over_grid", "the axis of the columns is left over")
def rows_summed_alone(weights, features):
    return torch.einsum("brc,brcd->bcd", weights, features)


@wrong("context_over_grid", "the axis of the rows is left over")
def columns_summed_alone(weights, features):
    return (weights[:, :, None] @ features).squeeze(2)


@wrong("context_over_grid", "the features are weighted, and not summed")
def only_weighted(weights, features):
    return weights[:, :, :, None] * features


@wrong("context_over_grid", "it is summed over the numbers of a region")
def summed_last_axis(weights, features):
    return torch.einsum("brc,brcd->brc", weights, features)


@wrong("context_over_grid", "a softmax is taken of the weights once more")
def softmax_again(weights, features):
    flat = F.softmax(weights.flatten(1), dim=-1)
    return torch.einsum("bn,bnd->bd", flat, features.flatten(1, 2))


@wrong("context_over_grid", "a softmax is taken of each row of the weights")
def softmax_of_rows(weights, features):
    return torch.einsum("brc,brcd->bd", F.softmax(weights, dim=-1), features)


@wrong("context_over_grid", "each row of the weights is made to sum to 1")
def rows_normalised(weights, features):
    shares = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("brc,brcd->bd", shares, features)


@wrong("context_over_grid", "each column of the weights is made to sum to 1")
def columns_normalised(weights, features):
    shares = F.normalize(weights, p=1, dim=1, eps=0.0)
    return torch.einsum("brc,brcd->bd", shares, features)


@wrong("context_over_grid", "the weights are squared")
def weighted_twice(weights, features):
    weighted = weights[..., None] * features
    return torch.einsum("brc,brcd->bd", weights, weighted)


@wrong("context_over_grid", "only the region with the largest weight is taken")
def best_region(weights, features):
    found = []
    for w, f in zip(weights, features, strict=True):
        place = int(w.argmax())
        found.append(f[place // w.shape[1], place % w.shape[1]])
    return torch.stack(found)


@wrong("context_over_grid", "rows and columns of the weights have changed places")
def loop_over_turned_weights(weights, features):
    _, rows, columns = weights.shape
    flat = weights.transpose(1, 2).reshape(len(weights), -1)
    total = 0
    for n in range(rows * columns):
        total = total + flat[:, n : n + 1] * features[:, n // columns, n % columns]
    return total


@wrong("context_over_grid", "the numbers of the features are mixed by a reshape")
def channels_by_reshape(weights, features):
    b, r, c, d = features.shape
    return torch.einsum("bn,bdn->bd", weights.reshape(b, -1), features.reshape(b, d, r * c))


@wrong("context_over_grid", "the weights of each column are added up before they meet the features")
def column_sums(weights, features):
    return torch.einsum("bc,bcd->bd", weights.sum(1), features.sum(1))


@wrong("context_over_grid", "the weights of each column are added up before they meet the features")
def column_sums_and_means(weights, features):
    return torch.einsum("brc,bcd->bd", weights, features.mean(1))


@wrong("context_over_grid", "the weights of each row are added up before they meet the features")
def row_sums(weights, features):
    return torch.einsum("brc,brkd->bd", weights, features)


@wrong("context_over_grid", "the weights of each row are added up before they meet the features")
def row_sums_and_means(weights, features):
    return torch.einsum("br,brd->bd", weights.sum(2), features.mean(2))


@wrong("context_over_grid", "the vectors are brought to length 1")
def unit_length(weights, features):
    context = torch.einsum("brc,brcd->bd", weights, features)
    return context / context.norm(dim=1, keepdim=True)


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


@wrong("grid_weights", "the softmax is still taken along the batch")
def as_it_was_found(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(dim=0)


@wrong("grid_weights", "the softmax is still taken along the batch")
def flattened_and_still_zero(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return F.softmax(scores.flatten(1), dim=0).view_as(scores)


@wrong("grid_weights", "the softmax is taken along each row of the grid")
def last_axis_alone(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(dim=-1)


@wrong("grid_weights", "the softmax is taken along each column of the grid")
def axis_one_alone(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(dim=1)


@wrong("grid_weights", "a softmax is taken along rows, and another one along columns")
def one_after_the_other(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return F.softmax(F.softmax(scores, dim=2), dim=1)


@wrong("grid_weights", "a softmax is taken along rows, and another one along columns")
def columns_and_then_rows(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.softmax(1).softmax(2)


@wrong("grid_weights", "two softmaxes, along rows and along columns, are multiplied")
def product_of_two(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return F.softmax(scores, dim=1) * F.softmax(scores, dim=2)


@wrong("grid_weights", "the whole batch shares one softmax")
def one_sum_for_all(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.exp() / scores.exp().sum()


@wrong("grid_weights", "the division by √d is lost")
def rewritten_without_root(queries, keys):
    flat = torch.einsum("bd,bnd->bn", queries, keys.flatten(1, 2)).softmax(-1)
    return flat.unflatten(1, keys.shape[1:3])


@wrong("grid_weights", "it is divided by d, not by √d")
def divided_by_d(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1]
    return scores.flatten(1).softmax(-1).view_as(scores)


@wrong("grid_weights", "it is multiplied by √d")
def times_the_root(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) * queries.shape[-1] ** 0.5
    return scores.flatten(1).softmax(-1).view_as(scores)


@wrong("grid_weights", "the scores come out, not the weights")
def softmax_thrown_away(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    scores.flatten(1).softmax(-1)
    return scores


@wrong("grid_weights", "the regions are one axis")
def grid_forgotten(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores.flatten(1).softmax(-1)


@wrong("grid_weights", "rows and columns of the weights have changed places")
def unflattened_the_wrong_way(queries, keys):
    b, r, c, d = keys.shape
    flat = torch.einsum("bd,bnd->bn", queries, keys.reshape(b, r * c, d)) / d**0.5
    return flat.softmax(-1).reshape(b, c, r)


@wrong("grid_weights", "logarithms of the weights come out")
def log_of_them(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return F.log_softmax(scores.flatten(1), dim=1).view_as(scores)


@wrong("grid_weights", "a sigmoid takes the place of the softmax")
def sigmoids(queries, keys):
    return torch.sigmoid(torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5)


@wrong("grid_weights", "the scores are divided by their sum, without exp")
def shares_of_scores(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    return scores / scores.flatten(1).sum(1)[:, None, None]


@wrong("grid_weights", "exp is taken, and not divided by the sum")
def exponentials(queries, keys):
    return torch.exp(torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5)


@wrong("grid_weights", "the largest score has weight 1, and all others 0")
def hard_weights(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys).flatten(1)
    weights = torch.zeros_like(scores)
    weights[torch.arange(len(scores)), scores.argmax(1)] = 1
    return weights.reshape(keys.shape[:3])


@wrong("grid_weights", "only the first picture's weights come out")
def returned_in_the_loop(queries, keys):
    for query, own in zip(queries, keys, strict=True):
        scores = own @ query / len(query) ** 0.5
        return scores.flatten().softmax(0).view_as(scores)


@wrong("grid_weights", "the first query asks all pictures")
def first_query(queries, keys):
    scores = torch.einsum("d,brcd->brc", queries[0], keys) / queries.shape[-1] ** 0.5
    return scores.flatten(1).softmax(-1).view_as(scores)


@wrong("grid_weights", "the context comes out, not the weights")
def context_returned(queries, keys):
    scores = torch.einsum("bd,brcd->brc", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.flatten(1).softmax(-1)
    return torch.einsum("bn,bnd->bd", weights, keys.flatten(1, 2))


@wrong("grid_weights", "it returns 2 things, not a tensor of shape (2, 2, 3)")
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
        e = np.exp(own @ query / np.sqrt(len(query)))
        found.append(e / e.sum())
    return np.stack(found)


@right("grid_weights")
def shifted_by_the_largest(queries, keys):
    scores = (queries[:, None, None] * keys).sum(-1) / queries.shape[1] ** 0.5
    e = (scores - scores.amax((1, 2), keepdim=True)).exp()
    return e / e.sum((1, 2), keepdim=True)


# ---- pointing_accuracy ----


@wrong("pointing_accuracy", "words that name no region count as misses")
def mean_of_all_words(weights, gold):
    return (weights.argmax(-1) == gold).float().mean()


@wrong("pointing_accuracy", "words that name no region count as misses")
def loop_divided_by_all(weights, gold):
    hits = 0
    for b in range(gold.shape[0]):
        for w in range(gold.shape[1]):
            if gold[b, w] != -1 and weights[b, w].argmax() == gold[b, w]:
                hits += 1
    return hits / gold.numel()


@wrong("pointing_accuracy", "words that name no region count as hits")
def none_is_right(weights, gold):
    hit = weights.argmax(-1) == gold
    return torch.where(gold == -1, True, hit).double().mean()


@wrong("pointing_accuracy", "−1 counts as the last region")
def index_minus_one(weights, gold):
    regions = torch.arange(weights.shape[2])
    return (weights.argmax(-1) == regions[gold]).float().mean()


@wrong("pointing_accuracy", "−1 counts as the last region")
def indexed_in_a_loop(weights, gold):
    hits = [w[g] == w.max() for own, row in zip(weights, gold, strict=True) for w, g in zip(own, row, strict=True)]
    return sum(hits) / len(hits)


@wrong("pointing_accuracy", "−1 counts as region 0")
def clamped(weights, gold):
    return (weights.max(-1).indices == gold.clamp(0)).float().mean()


@wrong("pointing_accuracy", "region 0 is left out, too")
def greater_than_zero(weights, gold):
    named = gold > 0
    return (weights.argmax(-1)[named] == gold[named]).float().mean()


@wrong("pointing_accuracy", "region 0 is left out, too")
def truth_of_a_number(weights, gold):
    hits = count = 0
    for own, row in zip(weights, gold.tolist(), strict=True):
        for w, g in zip(own, row, strict=True):
            if max(g, 0):
                count += 1
                hits += int(w.argmax()) == g
    return hits / count


@wrong("pointing_accuracy", "region 0 is left out, and words without a region count")
def falsy_zero(weights, gold):
    hits = count = 0
    for own, row in zip(weights, gold.tolist(), strict=True):
        for w, g in zip(own, row, strict=True):
            if g:
                count += 1
                hits += int(w.argmax()) == g
    return hits / count


@wrong("pointing_accuracy", "only the words that name no region count")
def mask_turned(weights, gold):
    keep = gold == -1
    return (weights.argmax(-1) == gold)[keep].float().mean()


@wrong("pointing_accuracy", "it is the mean weight on the gold regions")
def mean_weight(weights, gold):
    found = [
        w[g].item() for own, row in zip(weights, gold, strict=True) for w, g in zip(own, row, strict=True) if g >= 0
    ]
    return sum(found) / len(found)


@wrong("pointing_accuracy", "a hit is a weight above one half")
def above_one_half(weights, gold):
    b, w = torch.where(gold >= 0)
    return (weights[b, w, gold[b, w]] >= 0.5).float().mean()


@wrong("pointing_accuracy", "a hit is a weight above the mean")
def above_even_share(weights, gold):
    b, w = torch.where(gold >= 0)
    return (weights[b, w, gold[b, w]] > 1 / weights.shape[-1]).float().mean()


@wrong("pointing_accuracy", "a hit is a region among the two with the largest weights")
def among_the_two(weights, gold):
    order = weights.argsort(-1, descending=True)
    hit = (order[..., 0] == gold) | (order[..., 1] == gold)
    return hit[gold >= 0].float().mean()


@wrong("pointing_accuracy", "the largest weight is looked for along the words")
def most_of_a_region(weights, gold):
    b, w = torch.where(gold >= 0)
    region = gold[b, w]
    return (weights[b, w, region] == weights.max(dim=1).values[b, region]).float().mean()


@wrong("pointing_accuracy", "the largest weight is looked for along the words, and compared with the gold regions")
def argmax_of_axis_one(weights, gold):
    named = gold >= 0
    return (weights.argmax(dim=1) == gold)[named].float().mean()


@wrong("pointing_accuracy", "the smallest weight is looked for")
def sorted_upwards(weights, gold):
    first = weights.argsort(-1)[..., 0]
    return (first == gold)[gold >= 0].float().mean()


@wrong("pointing_accuracy", "each picture counts alike, however many words it has")
def mean_of_means(weights, gold):
    shares = []
    for own, row in zip(weights, gold, strict=True):
        named = row >= 0
        if named.any():
            shares.append((own.argmax(-1)[named] == row[named]).float().mean())
    return torch.stack(shares).mean()


@wrong("pointing_accuracy", "each picture counts alike, however many words it has")
def mean_of_means_with_nan(weights, gold):
    named = gold >= 0
    hits = (weights.argmax(-1) == gold) & named
    return (hits.sum(1) / named.sum(1)).mean()


@wrong("pointing_accuracy", "each picture counts alike, and one without such a word counts 0")
def at_least_one(weights, gold):
    named = gold >= 0
    hits = (weights.argmax(-1) == gold) & named
    return (hits.sum(1) / named.sum(1).clamp(min=1)).mean()


@wrong("pointing_accuracy", "there is a share for each picture")
def one_each(weights, gold):
    named = gold >= 0
    return ((weights.argmax(-1) == gold) & named).sum(1) / named.sum(1)


@wrong("pointing_accuracy", "it is a count, not a share")
def counted(weights, gold):
    return int(((weights.argmax(-1) == gold) & (gold != -1)).sum())


@wrong("pointing_accuracy", "it is a share in percent")
def per_cent(weights, gold):
    named = gold >= 0
    return 100 * (weights.argmax(-1) == gold)[named].float().mean()


@wrong("pointing_accuracy", "it is the share of misses")
def misses(weights, gold):
    named = gold >= 0
    return (weights.argmax(-1) != gold)[named].float().mean()


@wrong("pointing_accuracy", "the hits are divided by the number of pictures")
def by_the_batch(weights, gold):
    return ((weights.argmax(-1) == gold) & (gold >= 0)).sum() / len(weights)


@wrong("pointing_accuracy", "the hits are divided by the number of words in a caption")
def by_the_caption(weights, gold):
    return ((weights.argmax(-1) == gold) & (gold >= 0)).sum().item() / weights.size(1)


@wrong("pointing_accuracy", "the share is rounded to 0 or 1")
def whole_division(weights, gold):
    named = gold >= 0
    return int((weights.argmax(-1) == gold)[named].sum()) // int(named.sum())


@wrong("pointing_accuracy", "a picture counts only as a whole")
def all_words_right(weights, gold):
    right_or_none = (weights.argmax(-1) == gold) | (gold == -1)
    return right_or_none.all(dim=1).float().mean()


@wrong("pointing_accuracy", "only the first picture counts")
def first_picture(weights, gold):
    named = gold[0] >= 0
    return (weights[0].argmax(-1) == gold[0])[named].float().mean()


@wrong("pointing_accuracy", "it says of each word whether it is a hit")
def boolean(weights, gold):
    return weights.argmax(-1) == gold


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


# ---- expected_gradient ----


def eye(logits):
    return torch.eye(len(logits), dtype=logits.dtype)


@wrong("expected_gradient", "the places are not weighed by their probabilities")
def chances_forgotten(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum((rewards[i] - baseline) * (eye(logits)[i] - p) for i in range(len(p)))


@wrong("expected_gradient", "it is the plain mean over the places")
def plain_mean(logits, rewards, baseline):
    p = logits.softmax(-1)
    return ((rewards - baseline)[:, None] * (eye(logits) - p)).mean(dim=0)


@wrong("expected_gradient", "the weighted gradients are averaged once more")
def divided_by_n(logits, rewards, baseline):
    p = logits.softmax(-1)
    total = torch.zeros_like(p)
    for i in range(len(p)):
        total += p[i] * (rewards[i] - baseline) * (eye(logits)[i] - p)
    return total / len(p)


@wrong("expected_gradient", "the − p is missing in the gradient of log p")
def no_minus_p(logits, rewards, baseline):
    return F.softmax(logits, 0) * (rewards - baseline)


@wrong("expected_gradient", "only the drawn place's own logit has a gradient")
def own_logit_alone(logits, rewards, baseline):
    p = F.softmax(logits, 0)
    return p * (1 - p) * (rewards - baseline)


@wrong("expected_gradient", "the one-hot is missing in the gradient of log p")
def no_one_hot(logits, rewards, baseline):
    p = F.softmax(logits, 0)
    return -p * (p * (rewards - baseline)).sum()


@wrong("expected_gradient", "p is added to the one-hot")
def plus_p(logits, rewards, baseline):
    p = F.softmax(logits, 0)
    return sum(p[i] * (rewards[i] - baseline) * (eye(logits)[i] + p) for i in range(len(p)))


@wrong("expected_gradient", "1 / p stands for the gradient of log p")
def one_over_p(logits, rewards, baseline):
    p = F.softmax(logits, 0)
    return (p * (rewards - baseline))[:, None].mul(eye(logits) / p).sum(0)


@wrong("expected_gradient", "it has the other sign")
def p_minus_one_hot(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum(p[i] * (rewards[i] - baseline) * (p - eye(logits)[i]) for i in range(len(p)))


@wrong("expected_gradient", "it has the other sign")
def gradient_of_the_loss(logits, rewards, baseline):
    x = logits.clone().requires_grad_()
    loss = -(x.softmax(0) * (rewards - baseline)).sum()
    loss.backward()
    return x.grad


@wrong("expected_gradient", "the logarithm is forgotten: it is weighed by p twice")
def gradient_of_p(logits, rewards, baseline):
    p = logits.softmax(0)
    slopes = torch.autograd.functional.jacobian(lambda x: x.softmax(0), logits)
    return (p * (rewards - baseline)) @ slopes


@wrong("expected_gradient", "the reward is multiplied by the baseline")
def times_baseline(logits, rewards, baseline):
    p = logits.softmax(0)
    return p * (rewards * baseline - p @ (rewards * baseline))


@wrong("expected_gradient", "the baseline is subtracted from the gradient")
def minus_at_the_end(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum(p[i] * rewards[i] * (eye(logits)[i] - p) for i in range(len(p))) - baseline


@wrong("expected_gradient", "the baseline is subtracted from the gradient")
def parentheses_left_out(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum(p[i] * (rewards[i] * (eye(logits)[i] - p) - baseline) for i in range(len(p)))


@wrong("expected_gradient", "the baseline is subtracted from each place's gradient, and summed with it")
def summed_with_it(logits, rewards, baseline):
    p = logits.softmax(0)
    return sum(p[i] * rewards[i] * (eye(logits)[i] - p) - baseline for i in range(len(p)))


@wrong("expected_gradient", "the baseline times the probabilities is subtracted from the gradient")
def short_form_with_baseline(logits, rewards, baseline):
    p = logits.softmax(0)
    return p * (rewards - (p * rewards).sum() - baseline)


@wrong("expected_gradient", "the logits are taken for probabilities")
def no_softmax(logits, rewards, baseline):
    rows = (rewards - baseline)[:, None] * (eye(logits) - logits)
    return (logits[:, None] * rows).sum(0)


@wrong("expected_gradient", "a sigmoid takes the place of the softmax")
def sigmoid(logits, rewards, baseline):
    p = torch.sigmoid(logits)
    return p @ ((rewards - baseline)[:, None] * (eye(logits) - p))


@wrong("expected_gradient", "log p is taken for p")
def log_softmax(logits, rewards, baseline):
    p = F.log_softmax(logits, 0)
    return p @ ((rewards - baseline)[:, None] * (eye(logits) - p))


@wrong("expected_gradient", "log p stands for its gradient")
def log_itself(logits, rewards, baseline):
    p = logits.softmax(0)
    return torch.stack([p[i] * (rewards[i] - baseline) * p[i].log() for i in range(len(p))])


@wrong("expected_gradient", "only the most probable place counts")
def greedy_place(logits, rewards, baseline):
    p = logits.softmax(0)
    i = int(p.argmax())
    return (rewards[i] - baseline) * (F.one_hot(torch.tensor(i), len(p)) - p)


@wrong("expected_gradient", "there is a row for each place")
def rows_not_summed(logits, rewards, baseline):
    p = logits.softmax(0)
    return torch.stack([p[i] * (rewards[i] - baseline) * (eye(logits)[i] - p) for i in range(len(p))])


@wrong("expected_gradient", "it is summed over the logits, not over the places drawn")
def summed_along_the_rows(logits, rewards, baseline):
    p = logits.softmax(0)
    rows = (eye(logits) - p) * (p * (rewards - baseline)).unsqueeze(1)
    return rows.sum(dim=-1)


@wrong("expected_gradient", "the gradients are added up to one number")
def one_number(logits, rewards, baseline):
    p = logits.softmax(0)
    return ((eye(logits) - p) * (p * (rewards - baseline)).unsqueeze(1)).sum()


@wrong("expected_gradient", "the expected reward comes out, not its gradient")
def expected_reward(logits, rewards, baseline):
    return (logits.softmax(0) * (rewards - baseline)).sum()


@wrong("expected_gradient", "the expected reward comes out, not its gradient")
def expected_reward_alone(logits, rewards, baseline):
    return sum(p * r for p, r in zip(logits.softmax(0), rewards, strict=True))


@wrong("expected_gradient", "the plain mean of the rewards is subtracted, not the expected reward")
def mean_reward(logits, rewards, baseline):
    return logits.softmax(0) * (rewards - sum(rewards) / len(rewards))


@wrong("expected_gradient", "p r is subtracted place by place, and not its sum")
def place_by_place(logits, rewards, baseline):
    p = logits.softmax(0)
    return p * (rewards - p * rewards)


@wrong("expected_gradient", "only the drawn place's own logit has a gradient")
def place_by_place_with_baseline(logits, rewards, baseline):
    p = logits.softmax(0)
    gain = rewards - baseline
    return p * (gain - p * gain)


@wrong("expected_gradient", "the baseline times the probabilities is subtracted from the gradient")
def one_side_only(logits, rewards, baseline):
    p = logits.softmax(0)
    return p * ((rewards - baseline) - p @ rewards)


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


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def just_hard(soft, hard):
    return hard


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def detached_at_the_end(soft, hard):
    return (soft + (hard - soft)).detach()


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def both_detached(soft, hard):
    return hard + soft.detach() - soft.detach()


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def no_grad(soft, hard):
    with torch.no_grad():
        return soft + (hard - soft)


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def gradient_switched_on(soft, hard):
    return hard.clone().requires_grad_()


@wrong("straight_through", "hard comes out as it is, and no gradient reaches soft")
def through_numpy(soft, hard):
    return torch.from_numpy(hard.numpy() + soft.detach().numpy() - soft.detach().numpy())


@wrong("straight_through", "soft comes out as it is")
def hard_taken_away_again(soft, hard):
    return soft + hard - hard.detach()


@wrong("straight_through", "soft comes out, without a gradient")
def roles_exchanged(soft, hard):
    return hard + (soft - hard).detach()


@wrong("straight_through", "soft comes out, without a gradient")
def only_detached(soft, hard):
    return soft.detach()


@wrong("straight_through", "the gradient has the other sign")
def detach_on_the_other(soft, hard):
    return hard + soft.detach() - soft


@wrong("straight_through", "the gradient has the other sign")
def first_one_detached(soft, hard):
    return soft.detach() + (hard - soft)


@wrong("straight_through", "soft is added and taken away, and its gradient with it")
def detach_left_out(soft, hard):
    return soft + (hard - soft)


@wrong("straight_through", "soft is added and taken away, and its gradient with it")
def hard_detached_alone(soft, hard):
    return soft + hard.detach() - soft


@wrong("straight_through", "the gradient is there twice")
def two_ways(soft, hard):
    return hard + (soft - soft.detach()) + (soft - soft.detach())


@wrong("straight_through", "the gradient is multiplied by hard / soft")
def by_a_factor(soft, hard):
    return hard.detach() * soft / soft.detach()


@wrong("straight_through", "the two are added")
def added(soft, hard):
    return hard.detach() + soft


@wrong("straight_through", "the two are multiplied")
def multiplied(soft, hard):
    return torch.mul(hard, soft)


@wrong("straight_through", "the mean of both comes out")
def half_and_half(soft, hard):
    return torch.lerp(soft, hard, 0.5)


@wrong("straight_through", "hard is taken from soft")
def minus_hard(soft, hard):
    return soft - hard.detach()


@wrong("straight_through", "hard is subtracted, where it should be added")
def minus_in_front(soft, hard):
    return soft - hard + soft.detach()


@wrong("straight_through", "soft is added once more")
def plus_inside(soft, hard):
    return soft + (hard + soft).detach()


@wrong("straight_through", "soft is where hard is not 0, and 0 elsewhere")
def chosen_by_where(soft, hard):
    return torch.where(hard == 0, 0.0, soft)


@wrong("straight_through", "the gradient reaches soft only where hard is 1")
def masked_gradient(soft, hard):
    return hard * (1 + soft - soft.detach())


@wrong("straight_through", "hard is found anew as the largest of soft")
def argmax_again(soft, hard):
    found = torch.zeros_like(soft)
    return found.scatter(-1, soft.argmax(-1, keepdim=True), 1.0)


@wrong("straight_through", "hard is found anew as the largest of soft, with the gradient of soft")
def argmax_again_and_through(soft, hard):
    largest = torch.zeros_like(soft).scatter(-1, soft.argmax(-1, keepdim=True), 1.0)
    return soft + (largest - soft).detach()


@wrong("straight_through", "soft is rounded")
def rounded(soft, hard):
    return torch.round(soft)


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
