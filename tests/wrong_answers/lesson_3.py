"""Lesson 3: scaled dot-product attention."""

import numpy as np
import torch
from wrong_answers import right, right_value, wrong, wrong_value


@wrong("masked_softmax", "the mask comes after the softmax")
def masks_afterwards(scores, mask):
    weights = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = weights / weights.sum(-1, keepdim=True)
    weights = torch.where(mask, weights, 0.0 * weights)
    return weights


@right("masked_softmax")
def by_hand(scores, mask):
    penalised = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    largest = penalised.amax(-1, keepdim=True)
    powers = (penalised - torch.where(largest.isinf(), 0.0, largest)).exp()
    total = powers.sum(-1, keepdim=True)
    return torch.where(total > 0, powers / total, 0.0)


@right("masked_softmax")
def in_numpy(scores, mask):
    scores, mask = scores.numpy(), np.broadcast_to(mask.numpy(), scores.shape)
    weights = np.zeros_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        open_ = mask[place]
        if open_.any():
            powers = np.exp(scores[place][open_] - scores[place][open_].max())
            weights[place][open_] = powers / powers.sum()
    return torch.from_numpy(weights)


wrong_value("sat_score", 0.63, "that is the article's number")
right_value("sat_score", 0.59)
