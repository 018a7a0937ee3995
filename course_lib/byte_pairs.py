"""Byte-pair encoding (Gage 1994; Sennrich et al. 2016), on bytes as in GPT-2 (Radford et al. 2019, section 2.2).

The alphabet is the 256 bytes, so every text has an encoding. A text is first split into pieces, and no token crosses
the border of a piece. A piece is a run of letters, of digits or of other signs, with the one space before it, if there
is one. The remaining white space forms pieces of its own. A letter is A–Z, a–z, or any character outside ASCII.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from course_lib.files import read_json, write_json

# Written without \w and \s, which match different characters in Python and in JavaScript.
PIECE = (
    r" ?[^\x00-@\[-`{-\x7f]+"  # letters
    r"| ?[0-9]+"
    r"| ?[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]+"  # other signs
    r"|[\t-\r ]+(?![^\t-\r ])|[\t-\r ]+"  # white space, without the last space before a word
)
BYTES = 256
Pair = tuple[int, int]


class BytePairs:
    """Encodes texts as tokens: 0 to 255 are the bytes, and token 256 + i is the result of merge i.

    Args:
        merges: pairs of tokens, in the order in which training found them.
    Raises:
        ValueError: a merge is not a pair of tokens, or names a later token.

    >>> tokens = BytePairs.train("low lower lowest", size=260)
    >>> tokens.encode("lower"), tokens.spelled(tokens.encode("lower"))
    ([257, 101, 114], ['low', 'e', 'r'])
    """

    def __init__(self, merges: Iterable[Sequence[int]]):
        self.merges: list[Pair] = [tuple(map(int, pair)) for pair in merges]
        self.bytes_of = [bytes([number]) for number in range(BYTES)]
        for place, pair in enumerate(self.merges):
            if len(pair) != 2 or not 0 <= min(pair) <= max(pair) < BYTES + place:
                raise ValueError(f"merge {place} is {pair}; it must be two tokens before it, 0 to {BYTES + place - 1}")
            self.bytes_of.append(self.bytes_of[pair[0]] + self.bytes_of[pair[1]])
        self.merged = {pair: BYTES + place for place, pair in enumerate(self.merges)}
        self.known: dict[str, list[int]] = {}  # a cache, since pieces repeat

    def __len__(self) -> int:
        return len(self.bytes_of)

    @property
    def fingerprint(self) -> str:
        return repr(self.merges)

    @classmethod
    def train(cls, text: str, size: int) -> "BytePairs":
        """Finds merges: at each step, it merges the most frequent pair of neighbouring tokens in the text.

        Among equally frequent pairs, the one with the smaller numbers comes first.

        Args:
            size: number of tokens, including the 256 bytes. There are fewer tokens if no pair is left.
        Raises:
            ValueError: `size` is below 256, or `pieces` refuses the text.
        """
        if size < BYTES:
            raise ValueError(f"size is {size}; it must be at least {BYTES}, since the alphabet is the bytes")
        counted = Counter(pieces(text))
        rows, times = [list(piece.encode()) for piece in counted], list(counted.values())
        count, found_in = Counter(), defaultdict(set)
        for row, tokens in enumerate(rows):
            for pair in zip(tokens, tokens[1:], strict=False):
                count[pair] += times[row]
                found_in[pair].add(row)
        merges: list[Pair] = []
        while len(merges) < size - BYTES and count:
            best = min(count, key=lambda pair: (-count[pair], pair))
            new = BYTES + len(merges)
            merges.append(best)
            for row in found_in.pop(best):  # counts change only in the pieces with this pair
                before, rows[row] = rows[row], merge(rows[row], best, new)
                for tokens, sign in ((before, -1), (rows[row], 1)):
                    for pair in zip(tokens, tokens[1:], strict=False):
                        count[pair] += sign * times[row]
                        if sign > 0:
                            found_in[pair].add(row)
                        elif not count[pair]:
                            del count[pair]
        return cls(merges)

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of the text's tokens. Raises ValueError for half of a surrogate pair."""
        return [number for piece in pieces(text) for number in self._encode_piece(piece)]

    def _encode_piece(self, piece: str) -> list[int]:
        if piece not in self.known:
            tokens = list(piece.encode())
            while len(tokens) > 1:
                first = min(zip(tokens, tokens[1:], strict=False), key=lambda pair: self.merged.get(pair, len(self)))
                if first not in self.merged:
                    break
                tokens = merge(tokens, first, self.merged[first])
            self.known[piece] = tokens
        return self.known[piece]

    def decode(self, numbers: Iterable[int]) -> str:
        """Returns the text of the tokens; bytes that are no UTF-8, which a model may write, become �.

        Raises IndexError for a number without a token.
        """
        return b"".join(self.bytes_of[self._checked(int(number))] for number in numbers).decode(errors="replace")

    def spelled(self, numbers: Iterable[int]) -> list[str]:
        """Returns the text of each token; a token that is part of a character is shown as its bytes, `<e2>`."""
        return [_spelled(self.bytes_of[self._checked(int(number))]) for number in numbers]

    def _checked(self, number: int) -> int:
        if not 0 <= number < len(self):
            raise IndexError(f"there is no token {number}; the tokens are 0 to {len(self) - 1}")
        return number

    def save(self, path: Path | str) -> None:
        """Writes the merges as JSON."""
        write_json(Path(path), {"merges": self.merges})

    @classmethod
    def load(cls, path: Path | str) -> "BytePairs":
        """Reads what `save` wrote. Raises ValueError if the file is missing or has other content."""
        try:
            return cls(read_json(Path(path))["merges"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path} is no file of BytePairs.save ({type(error).__name__}: {error}); train again, and save"
            ) from None


def pieces(text: str) -> list[str]:
    """Splits the text by `PIECE`; joined, the pieces are the text. Raises ValueError for half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start} is {text[error.start]!r}, half of a surrogate pair and no character; remove it, "
            'for example by text.encode(errors="ignore").decode()'
        ) from None
    return re.findall(PIECE, text)


def merge(tokens: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Replaces the pair by `new`, from left to right.

    >>> merge([1, 1, 1, 2], (1, 1), 9)
    [9, 1, 2]
    """
    merged, place = [], 0
    while place < len(tokens):
        here = tuple(tokens[place : place + 2]) == pair
        merged.append(new if here else tokens[place])
        place += 2 if here else 1
    return merged


def _spelled(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return "".join(f"<{byte:02x}>" for byte in token)
