"""How strictly the library's annotations are checked while the tests run: see conftest.py.

jaxtyping's own decorator takes 3 ms for a function, and again for one inside another at each call, and then some 30 µs
each time it is called. It is kept for shapes and generators; of other annotations beartype alone says the same, and
without any there is nothing to say.
"""

import functools
import inspect
import types
from dataclasses import is_dataclass

import jaxtyping
from beartype import BeartypeConf, beartype

conf = BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError)  # float wanted, an int will do
check = beartype(conf=conf)
shaped = jaxtyping.jaxtyped
made = {}  # for each function's code: its annotations, and the function that checks them


def jaxtyped(*, typechecker):
    def decorated(it):
        if inspect.isclass(it):
            if is_dataclass(it) and "__init__" in vars(it):
                it.__init__ = decorated(it.__init__)
            return it
        if not it.__annotations__:
            return it
        if "jaxtyping." in str(it.__annotations__) or inspect.isgeneratorfunction(it):
            return shaped(it, typechecker=typechecker)
        checked = quickly(it, typechecker)

        @functools.wraps(it)
        def either(*given, **named):
            return (it if jaxtyping.config.jaxtyping_disable else checked)(*given, **named)

        # A message that tells the learner's line leaves out what is installed, and so this frame.
        either.__code__ = either.__code__.replace(co_filename=jaxtyping.__file__)
        return either

    return decorated


def quickly(it, typechecker):
    """The same as `typechecker(it)`. What a function defines anew at each call gets the checks of its first call."""
    place = it.__module__, it.__code__
    annotations, checked = made.get(place, (None, None))
    if annotations != it.__annotations__:
        checked = typechecker(it)
        made[place] = it.__annotations__, checked
    if "__beartype_func" not in (checked.__kwdefaults__ or {}):
        return it  # there is nothing to check
    again = types.FunctionType(checked.__code__, checked.__globals__, it.__name__)
    again.__kwdefaults__ = {**checked.__kwdefaults__, "__beartype_func": it}
    return again


jaxtyping.jaxtyped = jaxtyped
