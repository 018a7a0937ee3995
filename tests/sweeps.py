"""What is tried on many of a kind: `make test` tries some of them, `make test-all` every one."""

import pytest


def sweep(values, *always, named=str):
    """One parameter for each value; those whose name is not among `always` are left to `make test-all`."""
    values = list(values)
    unknown = {*always} - {*map(named, values)}
    if unknown:
        raise ValueError(f"{unknown} is not among {[*map(named, values)]}")
    return [
        pytest.param(value, id=named(value), marks=[] if named(value) in always else [pytest.mark.large])
        for value in values
    ]
