"""Replaces a pair of tokens by a new one, correctly and incorrectly, for merge_step and encode_piece."""

import math


def replaced(tokens, pair, new, most=math.inf):
    """Puts `new` in place of the pair, from left to right, at most `most` times."""
    done, at = [], 0
    while at < len(tokens):
        here = at - len(done) < most and tuple(tokens[at : at + 2]) == tuple(pair)
        done.append(new if here else tokens[at])
        at += 2 if here else 1
    return done


def merged_again(tokens, pair, new):
    """Compares with the token before in the old list, and overwrites the end of the new one."""
    done = []
    for at, token in enumerate(tokens):
        if at and (tokens[at - 1], token) == tuple(pair):
            done[-1] = new
        else:
            done.append(token)
    return done
