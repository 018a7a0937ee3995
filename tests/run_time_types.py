"""How strictly the library's annotations are checked while the tests run: see conftest.py.

jaxtyping's own decorator takes 3 ms for a function, and again for one inside another at each call, and then some 30 µs
each time it is called. It is kept for shapes and generators; of other annotations beartype alone says the same, and
without any there is nothing to say.
"""

import functools
import inspect
from dataclasses import is_dataclass

import jaxtyping
from beartype import BeartypeConf, beartype

conf = BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError)  # float wanted, an int will do
check = beartype(conf=conf)
shaped = jaxtyping.jaxtyped


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
        checked = typechecker(it)

        @functools.wraps(it)
        def either(*given, **named):
            return (it if jaxtyping.config.jaxtyping_disable else checked)(*given, **named)

        # A message that tells the learner's line leaves out what is installed, and so this frame.
        either.__code__ = either.__code__.replace(co_filename=jaxtyping.__file__)
        return either

    return decorated


jaxtyping.jaxtyped = jaxtyped
