"""Evidence of every kind with any contents, for hypothesis: made from the types of the evidence's own fields."""

from __future__ import annotations

import importlib
import pkgutil

import msgspec.inspect as types
from hypothesis import strategies as st

import unstall.evidence
from unstall.model.evidence import Evidence

for _module in pkgutil.iter_modules(unstall.evidence.__path__):  # a kind is known once its file is imported
    importlib.import_module(f"unstall.evidence.{_module.name}")

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_WHOLE = st.integers(-(2**63), 2**64 - 1)  # what JSON readers agree on
_REAL = st.floats(allow_nan=False, allow_infinity=False)


def any_evidence() -> st.SearchStrategy[Evidence]:
    """Evidence of any kind."""
    return st.sampled_from(sorted(Evidence.kinds)).flatmap(lambda kind: values(types.type_info(Evidence.kinds[kind])))


def values(info: types.Type) -> st.SearchStrategy:  # type: ignore[type-arg]
    """Values of a type."""
    simple = {types.IntType: _WHOLE, types.FloatType: _REAL, types.StrType: _TEXT, types.BoolType: st.booleans()}
    if type(info) in simple:
        return simple[type(info)]  # type: ignore[return-value]
    if isinstance(info, types.NoneType):
        return st.none()
    if isinstance(info, types.EnumType):
        return st.sampled_from(list(info.cls))
    if isinstance(info, types.UnionType):
        return st.one_of([values(one) for one in info.types])
    if isinstance(info, types.VarTupleType):
        return st.lists(values(info.item_type), min_size=info.min_length or 0, max_size=3).map(tuple)
    if isinstance(info, types.TupleType):
        return st.tuples(*[values(one) for one in info.item_types])
    if isinstance(info, types.DictType):
        return st.dictionaries(values(info.key_type), values(info.value_type), max_size=3)
    assert isinstance(info, types.StructType), info
    fields = {field.name: values(field.type) for field in info.fields}
    return st.builds(info.cls, **fields)
