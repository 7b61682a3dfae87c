/* Prints the CPython structure offsets used by src/unstall/probes/python/layouts.py.
 *
 * Rerun for each version whose internal headers are installed, and compare with layouts.py:
 *
 *     for prefix in ~/.pyenv/versions/3.11.7 ~/.pyenv/versions/3.12.1 ~/.pyenv/versions/3.13.0; do
 *         include=$(echo $prefix/include/python3.*)
 *         gcc -DPy_BUILD_CORE -I$include -I$include/internal bench/offsets.c -o /tmp/offsets && /tmp/offsets
 *     done
 *
 * Structures private to a .c file of CPython (locks, deque, SemLock, socket, re.Pattern) are not in any
 * header: their offsets are the same in 3.11, 3.12 and 3.13 and are proven by tests/probes/test_python_*.py.
 */
#include <stddef.h>
#include <stdio.h>
#include <Python.h>
#include <structmember.h>
#include "internal/pycore_runtime.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_code.h"
#include "internal/pycore_gil.h"

#define FIELD(name, type, member) printf("    %s=%zu,\n", #name, offsetof(type, member))

int main(void) {
    printf("# %s\n", PY_VERSION);
    FIELD(runtime_interpreters, _PyRuntimeState, interpreters.head);
    FIELD(runtime_main_thread, _PyRuntimeState, main_thread);
    FIELD(interpreter_next, PyInterpreterState, next);
    FIELD(interpreter_threads, PyInterpreterState, threads.head);
#if PY_VERSION_HEX >= 0x030C0000
    FIELD(interpreter_modules, PyInterpreterState, imports.modules);
    FIELD(gil, PyInterpreterState, ceval.gil);
#else
    FIELD(interpreter_modules, PyInterpreterState, modules);
    FIELD(gil, _PyRuntimeState, ceval.gil);
#endif
    FIELD(gil_last_holder, struct _gil_runtime_state, last_holder);
    FIELD(gil_locked, struct _gil_runtime_state, locked);
    FIELD(thread_next, PyThreadState, next);
    FIELD(thread_ident, PyThreadState, thread_id);
    FIELD(thread_native_id, PyThreadState, native_thread_id);
#if PY_VERSION_HEX >= 0x030D0000
    FIELD(thread_frame, PyThreadState, current_frame);
#else
    FIELD(thread_frame, PyThreadState, cframe);
    FIELD(cframe_current_frame, _PyCFrame, current_frame);
#endif
#if PY_VERSION_HEX >= 0x030D0000
    FIELD(frame_code, _PyInterpreterFrame, f_executable);
    FIELD(frame_instruction, _PyInterpreterFrame, instr_ptr);
#else
    FIELD(frame_code, _PyInterpreterFrame, f_code);
    FIELD(frame_instruction, _PyInterpreterFrame, prev_instr);
#endif
    FIELD(frame_previous, _PyInterpreterFrame, previous);
    FIELD(frame_globals, _PyInterpreterFrame, f_globals);
    FIELD(frame_locals, _PyInterpreterFrame, f_locals);
    FIELD(frame_owner, _PyInterpreterFrame, owner);
    FIELD(frame_localsplus, _PyInterpreterFrame, localsplus);
    FIELD(code_exceptions, PyCodeObject, co_exceptiontable);
    FIELD(code_flags, PyCodeObject, co_flags);
    FIELD(code_stack_size, PyCodeObject, co_stacksize);
    FIELD(code_first_line, PyCodeObject, co_firstlineno);
    FIELD(code_local_count, PyCodeObject, co_nlocalsplus);
    FIELD(code_local_names, PyCodeObject, co_localsplusnames);
    FIELD(code_local_kinds, PyCodeObject, co_localspluskinds);
    FIELD(code_file, PyCodeObject, co_filename);
    FIELD(code_qualname, PyCodeObject, co_qualname);
    FIELD(code_lines, PyCodeObject, co_linetable);
    FIELD(code_first_traceable, PyCodeObject, _co_firsttraceable);
    FIELD(code_bytecode, PyCodeObject, co_code_adaptive);
    FIELD(type_name, PyTypeObject, tp_name);
    FIELD(type_basic_size, PyTypeObject, tp_basicsize);
    FIELD(type_item_size, PyTypeObject, tp_itemsize);
    FIELD(type_flags, PyTypeObject, tp_flags);
    FIELD(type_dict, PyTypeObject, tp_dict);
    FIELD(type_dict_offset, PyTypeObject, tp_dictoffset);
    FIELD(type_mro, PyTypeObject, tp_mro);
    FIELD(type_qualname, PyHeapTypeObject, ht_qualname);
    FIELD(type_cached_keys, PyHeapTypeObject, ht_cached_keys);
    FIELD(dict_used, PyDictObject, ma_used);
    FIELD(dict_keys, PyDictObject, ma_keys);
    FIELD(dict_values, PyDictObject, ma_values);
    FIELD(keys_log2_index_bytes, struct _dictkeysobject, dk_log2_index_bytes);
    FIELD(keys_kind, struct _dictkeysobject, dk_kind);
    FIELD(keys_entry_count, struct _dictkeysobject, dk_nentries);
    FIELD(keys_indices, struct _dictkeysobject, dk_indices);
    FIELD(values_array, PyDictValues, values);
    FIELD(list_items, PyListObject, ob_item);
    FIELD(tuple_items, PyTupleObject, ob_item);
    FIELD(set_used, PySetObject, used);
    FIELD(float_value, PyFloatObject, ob_fval);
    FIELD(bytes_value, PyBytesObject, ob_sval);
#if PY_VERSION_HEX >= 0x030C0000
    FIELD(int_size, PyLongObject, long_value.lv_tag);
    FIELD(int_digits, PyLongObject, long_value.ob_digit);
#else
    FIELD(int_size, PyVarObject, ob_size);
    FIELD(int_digits, PyLongObject, ob_digit);
#endif
    FIELD(str_length, PyASCIIObject, length);
    FIELD(str_state, PyASCIIObject, state);
    printf("    str_ascii_data=%zu,\n", sizeof(PyASCIIObject));
    printf("    str_compact_data=%zu,\n", sizeof(PyCompactUnicodeObject));
    FIELD(function_globals, PyFunctionObject, func_globals);
    FIELD(function_name, PyFunctionObject, func_name);
    FIELD(function_code, PyFunctionObject, func_code);
    FIELD(method_function, PyMethodObject, im_func);
    FIELD(method_self, PyMethodObject, im_self);
    FIELD(builtin_definition, PyCFunctionObject, m_ml);
    FIELD(builtin_self, PyCFunctionObject, m_self);
    FIELD(cell_contents, PyCellObject, ob_ref);
    FIELD(member_definition, PyMemberDescrObject, d_member);
    FIELD(member_type, struct PyMemberDef, type);
    FIELD(member_offset, struct PyMemberDef, offset);
    return 0;
}
