"""WordPiece (Schuster & Nakajima 2012) as BERT has it (Devlin et al. 2019): known pieces of words, the longest first.

A piece that goes on with a word begins with ##. A text loses capitals, accents and control characters; a sign of
punctuation, and a Chinese character, is a word of its own.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from torch import Tensor

PADDING, UNKNOWN, START, END = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # characters; a longer one is unknown
CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f"
ASCII_SIGNS = r"!-/:-@\[-`{-~"


def words(text: str) -> list[str]:
    """The text in small letters without accents, cut at white space and around signs.

    >>> words("Déjà vu, isn't it?")
    ['deja', 'vu', ',', 'isn', "'", 't', 'it', '?']
    """
    text = "".join(" " if sign.isspace() else sign for sign in text if not _is_control(sign))
    text = re.sub(f"([{CHINESE}])", r" \1 ", text)
    text = "".join(sign for sign in unicodedata.normalize("NFD", text) if unicodedata.category(sign) != "Mn").lower()
    return "".join(f" {sign} " if _is_sign(sign) else sign for sign in text).split()


def _is_control(sign: str) -> bool:
    return sign == "\ufffd" or (sign not in "\t\n\r" and unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs"))


def _is_sign(sign: str) -> bool:
    return re.match(f"[{ASCII_SIGNS}]", sign) is not None or unicodedata.category(sign)[0] == "P"


class WordPieces:
    """Numbers for the pieces of words, in the order of a vocabulary file.

    Args:
        pieces: among them [PAD], [UNK], [CLS], [SEP].
    Raises:
        ValueError: one of these four is missing.

    >>> pieces = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##s"])
    >>> pieces.split("Playing plays!"), pieces.encode("plays")
    (['play', '##ing', 'play', '##s', '[UNK]'], [2, 4, 6, 3])
    """

    def __init__(self, pieces: Iterable[str]):
        self.pieces = list(pieces)
        self.number_of = {piece: number for number, piece in enumerate(self.pieces)}
        missing = [piece for piece in (PADDING, UNKNOWN, START, END) if piece not in self.number_of]
        if missing:
            raise ValueError(f"the {len(self.pieces)} pieces are without {', '.join(missing)}; BERT's has them")

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def load(cls, folder: Path | str) -> "WordPieces":
        """The vocabulary of a BERT-shaped model: `vocab.txt` in its folder, a piece a line."""
        file = Path(folder) / "vocab.txt"
        if not file.is_file():
            raise FileNotFoundError(f"there is no {file}; a BERT-shaped model has its vocabulary there, a piece a line")
        return cls(file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def split(self, text: str) -> list[str]:
        """The pieces of the text; of each word the longest that is known, then the longest of the rest."""
        return [piece for word in words(text) for piece in self._split_word(word)]

    def _split_word(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            return [UNKNOWN]
        found: list[str] = []
        while word:
            mark = "##" if found else ""
            end = next((end for end in range(len(word), 0, -1) if mark + word[:end] in self.number_of), 0)
            if not end:
                return [UNKNOWN]
            found.append(mark + word[:end])
            word = word[end:]
        return found

    def encode(self, text: str, longest: int | None = None) -> list[int]:
        """The numbers of [CLS], the pieces and [SEP]; with `longest`, pieces at the end are left out for it."""
        found = self.split(text)[: None if longest is None else max(longest - 2, 0)]
        return [self.number_of[piece] for piece in (START, *found, END)]

    def batch(
        self, texts: Sequence[str], longest: int | None = None
    ) -> tuple[Int[Tensor, "batch n"], Bool[Tensor, "batch n"]]:
        """The numbers of each text in a row, filled up with [PAD], and where they are not [PAD].

        >>> WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"]).batch(["a a", ""])[0]
        tensor([[2, 4, 4, 3],
                [2, 3, 0, 0]])
        """
        if isinstance(texts, str):
            raise TypeError(f"the texts are one string, whose characters would be texts; give a list, [{texts!r}]")
        rows = [torch.tensor(self.encode(text, longest)) for text in texts]
        filled = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.number_of[PADDING])
        lengths = torch.tensor([len(row) for row in rows])
        return filled, torch.arange(filled.shape[1]) < lengths[:, None]
