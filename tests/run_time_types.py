"""How strictly the library's annotations are checked while the tests run: see conftest.py."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))  # where a float is wanted, an int will do
