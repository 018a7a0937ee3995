"""What is tried on many of a kind: `make check` and `make test` try some of them, `make test-all` every one."""

import pytest


def sweep(values, *always, named=str, rest="large"):
    """One parameter for each value; those whose name is not among `always` are left to `make test-all`.

    Where the `rest` is "slow", `make test` tries them, too, and `make check` does not.
    """
    values = list(values)
    unknown = {*always} - {*map(named, values)}
    if unknown:
        raise ValueError(f"{unknown} is not among {[*map(named, values)]}")
    return [
        pytest.param(value, id=named(value), marks=[] if named(value) in always else [getattr(pytest.mark, rest)])
        for value in values
    ]
