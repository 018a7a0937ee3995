"""What the questions about the article's three words share."""

import torch

ARTICLE = 'lesson 3, "Could we do without the matrices?"'

WORDS = torch.tensor([[0.1, 0.3, 0.2, 0.4], [0.8, 0.1, 0.6, 0.2], [0.2, 0.9, 0.1, 0.7]])  # The, cat, sat
TO_ALL = WORDS @ WORDS[1]  # (3,): cat · The, cat · cat, cat · sat
