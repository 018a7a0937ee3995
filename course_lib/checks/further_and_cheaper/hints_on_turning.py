"""What is said of a pair that is turned, in `turned` and in `rotary`."""

NEW_ONES = "Both new numbers are made of both *old* ones. Is one of them overwritten before it is used again?"
MINUS = "Turn (1, 0) and (0, 1) by hand: one of the four products has a minus, and only one."
AS_TWO = "Complex numbers turn well. Handed back are two plain numbers for each: `torch.view_as_real`."
