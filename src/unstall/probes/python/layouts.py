"""Where CPython keeps things, per version: offsets within its structures, in bytes.

Measured with bench/offsets.c against the internal headers of each version. From 3.13 the interpreter
publishes most of them itself (`_Py_DebugOffsets`, at the start of `_PyRuntime`); what it says wins.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from .elf import find_symbols
from .memory import ProcessMemory, Unreadable


@dataclass(frozen=True, slots=True)
class Layout:
    """The offsets of one CPython version (64-bit, with the GIL, not a debug build)."""

    version: tuple[int, int]

    # the runtime, interpreters, the GIL (`gil`: inside the runtime in 3.11, later a pointer to it)
    runtime_interpreters: int
    runtime_main_thread: int
    interpreter_next: int
    interpreter_threads: int
    interpreter_modules: int
    gil: int
    gil_last_holder: int
    gil_locked: int

    # threads and frames (cframe_current_frame is -1 where the thread points to its frame)
    thread_next: int
    thread_ident: int
    thread_native_id: int
    thread_frame: int
    cframe_current_frame: int
    frame_code: int
    frame_instruction: int
    frame_previous: int
    frame_globals: int
    frame_locals: int
    frame_owner: int
    frame_localsplus: int

    # code objects
    code_exceptions: int
    code_flags: int
    code_stack_size: int
    code_first_line: int
    code_local_count: int
    code_local_names: int
    code_local_kinds: int
    code_file: int
    code_qualname: int
    code_lines: int
    code_first_traceable: int
    code_bytecode: int

    # types
    type_name: int
    type_basic_size: int
    type_item_size: int
    type_flags: int
    type_dict: int
    type_dict_offset: int
    type_mro: int
    type_qualname: int
    type_cached_keys: int

    # containers
    dict_used: int
    dict_keys: int
    dict_values: int
    keys_log2_index_bytes: int
    keys_kind: int
    keys_entry_count: int
    keys_indices: int
    values_array: int
    list_items: int
    tuple_items: int
    set_used: int

    # plain values
    float_value: int
    bytes_value: int
    int_size: int
    int_digits: int
    str_length: int
    str_state: int
    str_ascii_data: int
    str_compact_data: int

    # functions, methods, cells, member descriptors
    function_globals: int
    function_name: int
    function_code: int
    method_function: int
    method_self: int
    builtin_definition: int
    builtin_self: int
    cell_contents: int
    member_definition: int
    member_type: int
    member_offset: int

    # Numbers that changed meaning
    int_tagged: bool  # 3.12+: sign in the low bits of int_size, digit count above
    owner_shim: int  # 3.12+: frames with at least this owner are entry points from C; 255: there are none


_V311 = Layout(
    version=(3, 11),
    runtime_interpreters=40,
    runtime_main_thread=80,
    interpreter_next=0,
    interpreter_threads=16,
    interpreter_modules=888,
    gil=360,
    gil_last_holder=8,
    gil_locked=16,
    thread_next=8,
    thread_ident=152,
    thread_native_id=160,
    thread_frame=56,
    cframe_current_frame=8,
    frame_code=32,
    frame_instruction=56,
    frame_previous=48,
    frame_globals=8,
    frame_locals=24,
    frame_owner=69,
    frame_localsplus=72,
    code_exceptions=40,
    code_flags=48,
    code_stack_size=68,
    code_first_line=72,
    code_local_count=76,
    code_local_names=96,
    code_local_kinds=104,
    code_file=112,
    code_qualname=128,
    code_lines=136,
    code_first_traceable=168,
    code_bytecode=184,
    type_name=24,
    type_basic_size=32,
    type_item_size=40,
    type_flags=168,
    type_dict=264,
    type_dict_offset=288,
    type_mro=344,
    type_qualname=864,
    type_cached_keys=872,
    dict_used=16,
    dict_keys=32,
    dict_values=40,
    keys_log2_index_bytes=9,
    keys_kind=10,
    keys_entry_count=24,
    keys_indices=32,
    values_array=0,
    list_items=24,
    tuple_items=24,
    set_used=24,
    float_value=16,
    bytes_value=32,
    int_size=16,
    int_digits=24,
    str_length=16,
    str_state=32,
    str_ascii_data=48,
    str_compact_data=72,
    function_globals=16,
    function_name=32,
    function_code=48,
    method_function=16,
    method_self=24,
    builtin_definition=16,
    builtin_self=24,
    cell_contents=16,
    member_definition=40,
    member_type=8,
    member_offset=16,
    int_tagged=False,
    owner_shim=255,
)

_V312 = replace(
    _V311,
    version=(3, 12),
    runtime_main_thread=64,
    interpreter_threads=72,
    interpreter_modules=944,
    gil=384,
    thread_ident=136,
    thread_native_id=144,
    cframe_current_frame=0,
    frame_code=0,
    frame_previous=8,
    frame_globals=24,
    frame_locals=40,
    frame_owner=70,
    code_stack_size=64,
    code_first_line=68,
    code_local_count=72,
    code_first_traceable=176,
    code_bytecode=192,
    type_qualname=872,
    type_cached_keys=880,
    str_ascii_data=40,
    str_compact_data=56,
    int_tagged=True,
    owner_shim=3,
)

_V313 = replace(
    _V312,
    version=(3, 13),
    runtime_interpreters=632,
    runtime_main_thread=656,
    interpreter_next=7264,
    interpreter_threads=7344,
    interpreter_modules=7656,
    gil=16,
    thread_ident=152,
    thread_native_id=160,
    thread_frame=72,
    cframe_current_frame=-1,
    code_first_traceable=184,
    code_bytecode=200,
    values_array=8,
)

LAYOUTS = {layout.version: layout for layout in (_V311, _V312, _V313)}

_DEBUG_COOKIE = b"xdebugpy"
# The 64-bit words of 3.13's `_Py_DebugOffsets` (the first is the cookie) that have a counterpart in Layout.
_DEBUG_OFFSETS_313 = {
    "runtime_interpreters": 5,
    "interpreter_next": 8,
    "interpreter_threads": 9,
    "interpreter_modules": 11,
    "gil": 14,
    "thread_next": 21,
    "thread_frame": 23,
    "thread_ident": 24,
    "thread_native_id": 25,
    "frame_previous": 29,
    "frame_code": 30,
    "frame_instruction": 31,
    "frame_localsplus": 32,
    "frame_owner": 33,
    "code_file": 35,
    "code_qualname": 37,
    "code_lines": 38,
    "code_first_line": 39,
    "code_local_names": 41,
    "code_local_kinds": 42,
    "code_bytecode": 43,
}


@dataclass(frozen=True, slots=True)
class Runtime:
    """A CPython found in a process: the address of `_PyRuntime`, the exact version, and its layout."""

    address: int
    version: tuple[int, int, int]
    layout: Layout


def find_runtime(memory: ProcessMemory) -> Runtime:
    """Find CPython in the process; `Unreadable` says why where it can't be read."""
    symbols = find_symbols(memory, ("_PyRuntime", "Py_Version"))
    if "Py_Version" not in symbols:
        raise Unreadable("version not supported", "older than Python 3.11, or not CPython")
    number = memory.u64(symbols["Py_Version"])
    version = number >> 24 & 0xFF, number >> 16 & 0xFF, number >> 8 & 0xFF
    if number >> 32 or version[0] != 3:
        raise Unreadable("version not supported", f"implausible Py_Version {number:#x}")
    layout = LAYOUTS.get(version[:2])
    if layout is None:
        raise Unreadable("version not supported", f"Python {version[0]}.{version[1]}: its layout has not been measured")
    address = symbols["_PyRuntime"]
    if version >= (3, 13, 0):
        layout = _published(memory, address, number, layout)
    return Runtime(address, version, layout)


def _published(memory: ProcessMemory, address: int, number: int, layout: Layout) -> Layout:
    """`layout` with the offsets that the interpreter itself publishes."""
    words = memory.u64s(address, 48)
    if struct.pack("<Q", words[0]) != _DEBUG_COOKIE or words[1] != number:
        raise Unreadable("version not supported", "no debug offsets at the start of _PyRuntime")
    if words[2]:
        raise Unreadable("free-threaded build")
    offsets = {name: words[index] for name, index in _DEBUG_OFFSETS_313.items()}
    if max(offsets.values()) > 1 << 20:
        raise Unreadable("version not supported", "implausible debug offsets")
    between = layout.runtime_main_thread - layout.runtime_interpreters
    offsets["runtime_main_thread"] = offsets["runtime_interpreters"] + between
    return replace(layout, **offsets)  # type: ignore[arg-type]  # all of these fields are int
