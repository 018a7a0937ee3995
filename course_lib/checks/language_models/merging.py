"""What merge_step and encode_piece share: a pair of tokens is replaced by a new one, rightly and wrongly."""

import math


def replaced(tokens, pair, new, most=math.inf):
    """`new` in place of the pair, from left to right, at most so many times."""
    done, place = [], 0
    while place < len(tokens):
        here = place - len(done) < most and tuple(tokens[place : place + 2]) == tuple(pair)
        done.append(new if here else tokens[place])
        place += 2 if here else 1
    return done


def merged_again(tokens, pair, new):
    """Looks at the token before in the old list, and writes over the end of the new one."""
    done = []
    for place, token in enumerate(tokens):
        if place and (tokens[place - 1], token) == tuple(pair):
            done[-1] = new
        else:
            done.append(token)
    return done
