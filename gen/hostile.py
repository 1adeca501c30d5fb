# SPDX-License-Identifier: MIT
"""Write the files that no reader of checkpoints may trust, with a part of the sentence that refuses each, into one
archive; the plainest of them as a file of its own; and a good file of a kind that no program writes any more.

  python gen/hostile.py            needs the standard library alone
  python gen/hostile.py --into DIR the same as single files, with their pickles beside them: seeds for tests/fuzz

Nothing here is ever unpickled: the pickles are put together opcode by opcode.
"""
import io
import json
import struct
import sys
import zipfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent.parent / "tests" / "checkpoints"
files = {}


# ---- pickles ----

def text(s):
    b = s.encode()
    return b"X" + struct.pack("<I", len(b)) + b


def whole(n):
    if 0 <= n < 256:
        return b"K" + bytes([n])
    if -2**31 <= n < 2**31:
        return b"J" + struct.pack("<i", n)
    b = n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(b)]) + b


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def tuple_of(*items):
    return b"(" + b"".join(items) + b"t"


def storage(key="0", elements=48, kind="FloatStorage", tag="storage", more=()):
    return tuple_of(text(tag), name("torch", kind), text(key), text("cpu"), whole(elements), *more) + b"Q"


def tensor(shape=(12, 4), stride=(4, 1), offset=0, storage_=None, rebuild="_rebuild_tensor_v2"):
    ordered = name("collections", "OrderedDict") + b")R"
    return (name("torch._utils", rebuild) + tuple_of(storage_ or storage(), whole(offset), tuple_of(*map(whole, shape)),
                                                     tuple_of(*map(whole, stride)), b"\x89", ordered) + b"R")


def pickle(value, protocol=2):
    return b"\x80" + bytes([protocol]) + value + b"."


def state(value=None, key="in_proj_weight"):
    return pickle(b"}" + text(key) + (value or tensor()) + b"s")


# ---- containers ----

def archive(data, storages={"0": 192}, more={}, pickle_name="a/data.pkl"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        members = {pickle_name: data, **{f"a/data/{k}": bytes(n) for k, n in storages.items()}, "a/version": b"3\n", **more}
        for member, content in members.items():
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            z.writestr(info, content)
    return out.getvalue()


def add(file, data, sentence):
    files[file] = data, sentence


def code(file, value, sentence):
    """In place of a tensor, where it would run as soon as it is met."""
    add(f"{file}.pt", archive(state(value)), sentence)


def legacy(value=None, keys=("0",), elements=48, data=192, machine=None, magic=0x1950a86a20f9469cfc6c, version=1001):
    machine = machine or b"}" + text("little_endian") + b"\x88s"
    listed = b"](" + b"".join(map(text, keys)) + b"e"
    return (pickle(whole(magic)) + pickle(whole(version)) + pickle(machine) + (value or state()) + pickle(listed)
            + struct.pack("<q", elements) + bytes(data))


def safetensors(header, data=b"", length=None):
    t = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(t) if length is None else length) + t + data


def entry(dtype="F32", shape=(12, 4), offsets=(0, 192)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


# ---- every opcode and name that could run code ----

def run_code():
    touch = text("touch pwned")
    for module, attribute in (("os", "system"), ("posix", "system"), ("nt", "system"), ("subprocess", "Popen"), ("builtins", "eval"),
                              ("__builtin__", "exec"), ("builtins", "getattr"), ("builtins", "__import__"), ("runpy", "run_path"),
                              ("torch", "load"), ("torch.hub", "load"), ("torch.jit", "load"), ("functools", "partial"), ("os.path", "join")):
        code(f"global_{module}.{attribute}", name(module, attribute) + tuple_of(touch) + b"R", f"the name {module}.{attribute}, which runs code")
    # An object of any other name has no content: the layer lacks its weight.
    none = "no such attention layer among the 0 of this file"
    for module, attribute in (("torch", "_utils"), ("torch.nn.modules.linear", "Linear"), ("collections", "Counter"),
                              ("numpy.core.multiarray", "_reconstruct"), ("argparse", "Namespace"), ("torch._utils", "_rebuild_qtensor")):
        code(f"global_{module}.{attribute}", name(module, attribute) + tuple_of(touch) + b"R", none)
    unknown = name("some.module", "Thing")
    code("foreign_newobj", unknown + tuple_of(touch) + b"\x81", none)
    code("foreign_newobj_ex", unknown + tuple_of(touch) + b"}\x92", none)
    code("foreign_obj", b"(" + unknown + touch + b"o", none)
    code("foreign_build", unknown + b")\x81" + tuple_of(touch) + b"b", none)
    code("foreign_list", unknown + b")\x81(" + touch + touch + b"e", none)
    code("foreign_dict", unknown + b")\x81(" + touch + tensor() + b"u", none)
    code("foreign_items_below_the_mark", unknown + b")\x81(b", "an opcode wants 2 values")
    code("foreign_as_storage", name("torch._utils", "_rebuild_tensor_v2") + tuple_of(unknown + b")\x81", whole(0)) + b"R", "found an object of a name that is not known, wanted a storage")
    code("foreign_names", b"".join(name("some.module", f"Thing{k}") + b")\x81" + b"0" for k in range(50)) + b"N", none)
    code("from_type_of_code", name("torch._tensor", "_rebuild_from_type_v2") + tuple_of(unknown, unknown, tuple_of(touch), b"N") + b"R",
         "_rebuild_from_type_v2 calls a name that is not known")
    code("from_type_of_nothing", name("torch._tensor", "_rebuild_from_type_v2") + b")R", "_rebuild_from_type_v2 calls nothing")
    code("stack_global", text("os") + text("system") + b"\x93" + tuple_of(touch) + b"R", "the name os.system, which runs code")
    code("stack_global_of_numbers", whole(1) + whole(2) + b"\x93", "a name made of an int and an int")
    code("stack_global_dotted", text("torch._utils") + text("_rebuild_tensor_v2.__globals__") + b"\x93", "_rebuild_tensor_v2.__globals__")
    code("inst", b"(" + touch + b"ios\nsystem\n", "the opcode INST")
    code("obj", b"(" + name("torch", "Size") + touch + b"o", "OBJ of a name")
    code("newobj", name("torch", "Size") + tuple_of(touch) + b"\x81", "NEWOBJ of a name")
    code("newobj_ex", name("torch", "Size") + tuple_of(touch) + b"}\x92", "NEWOBJ of a name")
    for opcode, label, size in ((0x82, "EXT1", 1), (0x83, "EXT2", 2), (0x84, "EXT4", 4)):
        code(label.lower(), bytes([opcode]) + bytes([1] * size), f"the opcode {label}")
    code("persid", b"Pos.system\n", "the opcode PERSID")
    code("reduce_of_string", touch + tuple_of() + b"R", "REDUCE calls a string with a tuple")
    code("reduce_of_storage_type", name("torch", "FloatStorage") + tuple_of() + b"R", "REDUCE calls a name FloatStorage")
    code("reduce_of_dtype", name("torch", "float32") + tuple_of() + b"R", "REDUCE calls a name float32")
    code("reduce_of_call", name("torch", "Size") + tuple_of() + b"R" + tuple_of() + b"R", "REDUCE calls a tensor or a value like it")
    code("reduce_with_list", name("torch", "Size") + b"]R", "with a list")
    ordered = name("collections", "OrderedDict")
    code("ordered_dict_of_text", ordered + tuple_of(touch) + b"R", "an OrderedDict made from a string")
    code("ordered_dict_of_two", ordered + tuple_of(b"]", b"]") + b"R", "an OrderedDict made from a list")
    code("ordered_dict_of_no_pairs", ordered + tuple_of(b"](" + touch + b"e") + b"R", "a list with a string in it, wanted pairs")
    code("ordered_dict_of_triples", ordered + tuple_of(b"](" + tuple_of(touch, b"N", b"N") + b"e") + b"R", "a list with a tuple in it, wanted pairs")
    code("ordered_dict_of_itself", ordered + b"]q\0(h\0(h\0h\0le" + b"\x85R", "the opcode LIST")
    code("build_of_call", name("torch", "device") + tuple_of(text("cpu")) + b"R}b", "BUILD of a tensor or a value like it")
    code("build_of_global", name("torch", "Size") + b"}b", "BUILD of a name with a dict")
    code("build_with_tuple", b"}" + tuple_of(b"}", b"}") + b"b", "BUILD of a dict with a tuple")
    code("buffer", b"\x97", "the opcode NEXT_BUFFER")
    for opcode, label in ((b"I1\n", "INT"), (b"L1L\n", "LONG"), (b"F1\n", "FLOAT"), (b"S'a'\n", "STRING"), (b"Va\n", "UNICODE"), (b"(l", "LIST"),
                          (b"(d", "DICT"), (b"g0\n", "GET"), (b"Np0\n", "PUT")):
        code(f"opcode_{label.lower()}", opcode, f"the opcode {label}")
    code("opcode_pop", b"(0", "an opcode wants 1 values, found 0")
    code("opcode_dup", b"(2", "an opcode wants 1 values, found 0")
    code("opcode_pop_mark", b"1", "an opcode wants a mark, found none")
    code("opcode_add_items", b"](Ne" + b"\x90", "an opcode wants a mark, found none")
    code("opcode_frozenset", b"\x91", "an opcode wants a mark, found none")
    code("opcode_none", b"\xff", "the opcode 0xff")


# ---- what is too deep, too long, too many ----

def bombs():
    add("marks.pt", archive(pickle(b"(" * 5000)), "nested deeper than 64")
    add("lists.pt", archive(pickle(b"]" * 100 + b"a" * 99)), "nested deeper than 64")
    add("tuples.pt", archive(pickle(b")" + b"\x85" * 5000)), "nested deeper than 64")
    add("stack.pt", archive(pickle(b"N" * 70000)), "more than 65536 values wait on the stack")
    add("memo_index.pt", archive(pickle(b"}r\xff\xff\xff\xff")), "memo entry 4294967295 comes after 0")
    add("memo_get.pt", archive(pickle(b"j\xff\xff\xff\x7f")), "memo entry 2147483647 of 0")
    laughs = b"}\x94" + b"".join(b"}\x94(" + b"".join(text(f"{i}") + b"h" + bytes([level]) for i in range(10)) + b"u" for level in range(12))
    add("laughs.pt", archive(pickle(b"(" + laughs + b"t")), "a tuple, wanted a dict of tensors")
    shared = b"".join(b"}\x94(" + (b"" if not level else b"".join(text(f"{i}") + b"h" + bytes([level - 1]) for i in range(16))) + b"u" for level in range(12))
    add("shared_dicts.pt", archive(pickle(b"}(" + text("0") + shared.replace(b"u}\x94(", b"u" + text("x") + b"}\x94(") + b"u")), "more than 2097152 entries")
    add("cycle.pt", archive(pickle(b"}q\0" + text("a") + b"h\0s")), "dicts nested deeper than 16")
    for label, value in (("text", b"X\xff\xff\xff\xff"), ("bytes", b"B\xff\xff\xff\x7f"), ("short_text", b"\x8c\xff"), ("long", b"\x8a\xff")):
        code(f"length_{label}", value, "more bytes, found")
    code("long4", b"\x8b\xff\xff\xff\x7f", "wants 2147483647 more bytes")
    code("text8", b"\x8d" + b"\xff" * 8, "wants 18446744073709551615 more bytes")
    long_name = tensor()
    add("long_name.pt", archive(state(long_name, "x" * 600)), "names of more than 511 bytes")
    add("two_of_a_name.pt", archive(pickle(b"}(" + text("a") + tensor() + text("a") + tensor() + b"u")), "a: two tensors of this name")
    add("protocol_0.pt", archive(b"(dp0\n."), "not a pickle of protocol 2 or later")
    add("protocol_9.pt", archive(pickle(b"}", 9)), "protocol 9, wanted 2 to 5")
    add("no_stop.pt", archive(b"\x80\x02}"), "ends without STOP")
    add("nothing.pt", archive(b""), "empty, wanted a pickle")
    add("two_values.pt", archive(pickle(b"}}")), "ends with 2 values")
    add("trailing.pt", archive(state() + b"cos\nsystem\n"), "bytes follow the pickle")
    add("odd_items.pt", archive(pickle(b"}(" + text("a") + b"u")), "a key without a value")
    add("no_mark.pt", archive(pickle(b"u")), "wants a mark")
    add("underflow.pt", archive(pickle(b"s")), "wants 3 values, found 0")
    add("items_for_a_list.pt", archive(pickle(b"]" + text("a") + b"Ns")), "items for a dict, found a list")
    add("below_the_mark.pt", archive(pickle(b"}(a")), "wants 2 values, found 0")
    add("name_breaks_off.pt", archive(b"\x80\x02cos\nsyst"), "a name breaks off")
    add("list_of_tensors.pt", archive(pickle(b"]" + tensor() + b"a")), "found a list, wanted a dict of tensors")


# ---- tensors that lie ----

def lies():
    leaves = "leaves its storage of 48 elements"
    big = 1 << 62
    for file, value, sentence in (
            ("offset", tensor(offset=1), leaves), ("offset_huge", tensor(offset=(1 << 63) - 1), leaves),
            ("offset_far", tensor(offset=big), leaves), ("offset_long", tensor(offset=1 << 70), "found a long int as offset"), ("offset_negative", tensor(offset=-1), "as offset, wanted a number"),
            ("stride", tensor(stride=(5, 1)), leaves), ("stride_negative", tensor(stride=(-4, 1)), "a size or stride in dimension 0"),
            ("stride_wraps", tensor(stride=(big, 1)), leaves), ("stride_wraps_to_0", tensor(shape=(5, 4), stride=(big, 1)), leaves),
            ("shape", tensor(shape=(13, 4)), leaves), ("shape_wraps", tensor(shape=(big, 16), stride=(0, 0)), "multiplies to more than 2^48"),
            ("shape_negative", tensor(shape=(-12, 4)), "a size or stride in dimension 0"),
            ("shape_and_stride", tensor(stride=(1,)), "two tuples of one length"),
            ("shape_9", tensor(shape=(1,) * 9, stride=(1,) * 9), "found 9 dimensions, wanted at most 8"),
            ("shape_of_text", name("torch._utils", "_rebuild_tensor_v2") + tuple_of(storage(), whole(0), text("x"), tuple_of()) + b"R", "found a string as size"),
            ("no_arguments", name("torch._utils", "_rebuild_tensor_v2") + b")R", "found nothing, wanted a storage"),
            ("no_storage", name("torch._utils", "_rebuild_tensor_v2") + tuple_of(b"N", whole(0)) + b"R", "found None, wanted a storage"),
            ("repeated", tensor(shape=(3 << 20, 1 << 20), stride=(0, 0)), "repeats the 48 elements of its storage"),
            ("elements", tensor(storage_=storage(elements=49)), "has 192 bytes, wanted 196 for 49 elements"),
            ("elements_huge", tensor(storage_=storage(elements=big)), "found a storage of 4611686018427387904 elements"),
            ("elements_negative", tensor(storage_=storage(elements=-1)), "a storage with a string as key and an int as size"),
            ("elements_of_doubles", tensor(storage_=storage(kind="DoubleStorage")), "wanted 384 for 48 elements of DoubleStorage"),
            ("key", tensor(storage_=storage(key="1")), "its storage data/1 is not in the archive"),
            ("key_up", tensor(storage_=storage(key="../data.pkl")), "its storage data/../data.pkl is not in the archive"),
            ("key_long", tensor(storage_=storage(key="x" * 2000)), "is not in the archive"),
            ("tag", tensor(storage_=storage(tag="module")), "another persistent id than ('storage', ...)"),
            ("view", tensor(storage_=storage(more=(tuple_of(text("0"), whole(0), whole(4)),))), "a view of another"),
            ("persistent_text", text("x") + b"Q", "a persistent id is a string")):
        add(f"lie_{file}.pt", archive(state(value)), sentence)
    add("lie_type.pt", archive(state(tensor(storage_=storage(kind="LongStorage"))), {"0": 384}), "found LongStorage, wanted float16")
    for file, shape in (("lie_3e.pt", (10, 4)), ("lie_square.pt", (4, 4)), ("lie_flat.pt", (48,))):
        stride = (4, 1) if len(shape) == 2 else (1,)
        add(file, archive(state(tensor(shape=shape, stride=stride))), "wanted (3E, E)")


# ---- containers ----

def containers():
    good = archive(state())
    add("cut.pt", good[:len(good) // 2], "truncated")
    add("cut_end.pt", good[:-1], "truncated")
    add("cut_begin.pt", good[1:], "begins with none of the formats")
    add("flipped.pt", good.replace(text("in_proj_weight"), text("in_proj_weighs"), 1), "fails its checksum")
    add("two_pickles.pt", archive(state(), more={"a/b/data.pkl": state()}), "wanted one data.pkl")
    add("big_endian.pt", archive(state(), more={"a/byteorder": b"big"}), "another byte order than little")
    add("torchscript.pt", archive(state(), more={"a/constants.pkl": pickle(b")"), "a/code/x.py": b"import os"}), "a TorchScript archive")
    add("no_pickle.pt", archive(state(), pickle_name="a/data.pickle"), "wanted only members NAME.npy, or the data.pkl")
    add("empty.pt", b"", "empty, wanted a file of torch.save")
    add("text.pt", b"Not Found\n", "begins with none of the formats")
    add("no_layers.pt", archive(state(key="weight")), "no such attention layer among the 0")
    add("no_tensors.pt", archive(pickle(b"}")), "no such attention layer among the 0")

    add("legacy_magic.pt", legacy(magic=0x1950a86a20f9469cfc6d), "its magic number is missing")
    add("legacy_version.pt", legacy(version=1000), "protocol version: wanted 1001")
    add("legacy_big_endian.pt", legacy(machine=b"}" + text("little_endian") + b"\x89s"), "big endian storages")
    add("legacy_code.pt", legacy(state(name("os", "system") + tuple_of(text("x")) + b"R")), "object: at byte 22: found the name os.system")
    add("legacy_elements.pt", legacy(elements=49), "found 49 elements, the object says 48")
    add("legacy_negative.pt", legacy(elements=-1), "found 18446744073709551615 elements")
    add("legacy_short.pt", legacy(data=100), "wants 192 bytes, the file has 100 more")
    add("legacy_long.pt", legacy(data=200), "8 bytes follow the last storage")
    add("legacy_no_keys.pt", legacy(keys=()), "bytes follow the last storage")
    add("legacy_key_twice.pt", legacy(keys=("0", "0"), data=400), "which the object does not name, or twice")
    add("legacy_other_key.pt", legacy(keys=("1",)), "which the object does not name, or twice")
    add("legacy_cut.pt", legacy()[:60], "object: ")
    add("legacy_nothing.pt", pickle(whole(0x1950a86a20f9469cfc6c)), "protocol version: at byte 0: empty")

    weight = {"in_proj_weight": entry()}
    data = bytes(192)
    add("safe_header_long.safetensors", safetensors(weight, data, 1 << 40), "header of 1099511627776 bytes")
    add("safe_header_longer.safetensors", safetensors(weight, b"", 400), "header of 400 bytes in a file of")
    add("safe_header_cut.safetensors", safetensors(json.dumps(weight).encode()[:-4], data), "wanted its dtype, a shape")
    add("safe_not_json.safetensors", safetensors(b"{'a': 1}", data), "header: bad JSON at byte")
    add("safe_more_json.safetensors", safetensors(json.dumps(weight).encode() + b"{}", data), "header: bad JSON at byte")
    add("safe_deep.safetensors", safetensors(b'{"__metadata__":' + b"[" * 500, data), "header: bad JSON at byte")
    add("safe_long_name.safetensors", safetensors({"x" * 600: entry()}, data), "a name of more than 511 bytes")
    add("safe_two_of_a_name.safetensors", safetensors(b'{"a":' + json.dumps(entry(shape=(24,), offsets=(0, 96))).encode() + b',"a":'
                                                      + json.dumps(entry(shape=(24,), offsets=(96, 192))).encode() + b"}", data), "a: two tensors of this name")
    for file, one, sentence in (
            ("short", entry(offsets=(0, 188)), "takes 192 bytes, found 188"), ("reversed", entry(offsets=(192, 0)), "bytes 192 to 0 of 192"),
            ("far", entry(offsets=(0, 1 << 40)), "bytes 0 to 1099511627776 of 192"), ("wraps", entry(shape=(1 << 32, 1 << 32)), "multiplies to more than 2^48 bytes"),
            ("shape", entry(shape=(13, 4)), "takes 208 bytes, found 192"), ("negative", entry(shape=(-12, -4)), "a shape of at most 8 dimensions"),
            ("fraction", entry(shape=(12.0, 4)), "a shape of at most 8 dimensions"), ("offset_text", entry(offsets=("0", "x")), "two data_offsets"),
            ("three_offsets", entry(offsets=(0, 192, 200)), "two data_offsets"), ("deep", entry(shape=(1,) * 9), "a shape of at most 8 dimensions"),
            ("dtype", entry("I64", (6, 4)), "found I64, wanted float16"), ("dtype_long", entry("F" * 40), "wanted its dtype"),
            ("no_dtype", {"shape": [12, 4], "data_offsets": [0, 192]}, "wanted its dtype"), ("list", [1], "wanted its dtype"),
            ("digits", entry(shape=(10**30, 4)), "a shape of at most 8 dimensions")):
        add(f"safe_{file}.safetensors", safetensors({"in_proj_weight": one}, data), sentence)
    add("safe_gap.safetensors", safetensors({"a": entry(shape=(2,), offsets=(184, 192))}, data), "overlap or leave a gap at byte 0")
    add("safe_overlap.safetensors", safetensors({"a": entry(), "b": entry(shape=(2,), offsets=(0, 8))}, data), "overlap or leave a gap")
    add("safe_rest.safetensors", safetensors(weight, data + b"more"), "4 bytes follow the last tensor")
    add("safe_empty.safetensors", safetensors({}), "no such attention layer among the 0")


def python_2():
    """A file as PyTorch under Python 2 wrote it: byte strings, a memo from 1 on, an OrderedDict made from pairs."""
    def short(s):
        return b"U" + bytes([len(s)]) + s.encode()

    def stored(key, elements, memo):
        return tuple_of(short("storage") + memo, name("torch", "FloatStorage"), short(key), short("cuda:0"), whole(elements), b"N") + b"Q"

    def view(key, shape, stride, memo=b""):
        elements = shape[0] * (shape[1] if len(shape) > 1 else 1)
        return (name("torch._utils", "_rebuild_tensor_v2") + tuple_of(stored(key, elements, memo), whole(0), tuple_of(*map(whole, shape)),
                                                                       tuple_of(*map(whole, stride)), b"\x89", b"N") + b"R")

    def pairs(*items):
        return name("collections", "OrderedDict") + b"](" + b"".join(b"](" + item + b"e" for item in items) + b"e\x85R"

    weights = pairs(short("a.in_proj_weight") + b"q\x01" + view("10", (12, 4), (4, 1), b"q\x02"), short("a.in_proj_bias") + view("9", (12,), (1,)))
    value = pickle(weights + b"}" + short("_metadata") + pairs(short("") + b"}") + b"sb")
    machine = b"}q\x01(" + short("little_endian") + b"\x88u"
    numbers = struct.pack("<q48f", 48, *range(48)) + struct.pack("<q12f", 12, *range(100, 112))
    return (pickle(whole(0x1950a86a20f9469cfc6c)) + pickle(whole(1001)) + pickle(machine) + value
            + pickle(b"](" + short("10") + short("9") + b"e") + numbers)


def write_seeds(place):
    place.mkdir(parents=True, exist_ok=True)
    for file, (data, _) in files.items():
        (place / file).write_bytes(data)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as z:
                (place / (file + ".pkl")).write_bytes(z.read("a/data.pkl"))
        except (zipfile.BadZipFile, KeyError, ValueError):
            pass    # broken on purpose


def main():
    for make in (run_code, bombs, lies, containers):
        make()
    if sys.argv[1:2] == ["--into"]:
        return write_seeds(Path(sys.argv[2]))
    with zipfile.ZipFile(KEPT / "hostile.zip", "w") as z:
        members = {"sentences.txt": "".join(f"{file}\t{sentence}\n" for file, (_, sentence) in sorted(files.items()))}
        members.update({file: data for file, (data, _) in sorted(files.items())})
        for member, content in members.items():
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            z.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    (KEPT / "python2.pt").write_bytes(python_2())
    (KEPT / "code.pt").write_bytes(files["global_os.system.pt"][0])
    print(f"{len(files)} files, {sum(len(d) for d, _ in files.values())} bytes")


if __name__ == "__main__":
    main()
