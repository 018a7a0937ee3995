"""Hints on how to turn a pair, for `turned` and `rotary`."""

NEW_ONES = "Both new numbers depend on both *old* ones. Is one of them overwritten before it is used again?"
MINUS = "Turn (1, 0) and (0, 1) by hand. One of the four products has a minus, and only one."
AS_TWO = "You may compute with complex numbers. But return two real numbers for each pair, as `torch.view_as_real` gives them."
