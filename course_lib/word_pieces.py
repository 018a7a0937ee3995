"""WordPiece (Schuster & Nakajima 2012) as in BERT (Devlin et al. 2019): splits words into known pieces, longest first.

A piece that continues a word begins with ##. A text loses capitals, accents and control characters. Each punctuation
sign and each Chinese character is a word of its own.
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
    """Splits the text, in lower case and without accents, at white space and around signs.

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
    """Maps the pieces of words to numbers, in the order of a vocabulary file.

    Args:
        pieces: all pieces, including [PAD], [UNK], [CLS] and [SEP].
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
            raise ValueError(f"the {len(self.pieces)} pieces lack {', '.join(missing)}; BERT's vocabulary has them")

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def load(cls, folder: Path | str) -> "WordPieces":
        """Reads the vocabulary of a BERT-shaped model: `vocab.txt` in its folder, one piece per line."""
        file = Path(folder) / "vocab.txt"
        if not file.is_file():
            raise FileNotFoundError(f"there is no {file}; it must hold the model's vocabulary, one piece per line")
        return cls(file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))

    def split(self, text: str) -> list[str]:
        """Splits each word of the text: first the longest known piece, then the longest of the rest."""
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
        """Returns the numbers of [CLS], the pieces and [SEP]; `longest` limits them by leaving out the last pieces."""
        found = self.split(text)[: None if longest is None else max(longest - 2, 0)]
        return [self.number_of[piece] for piece in (START, *found, END)]

    def batch(
        self, texts: Sequence[str], longest: int | None = None
    ) -> tuple[Int[Tensor, "batch n"], Bool[Tensor, "batch n"]]:
        """Returns the numbers of each text, one row per text, padded with [PAD], and a mask that is False at [PAD].

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
