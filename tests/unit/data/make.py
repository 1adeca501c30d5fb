#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the archives of this directory with the programs that people really use.

Needs numpy, Info-ZIP's zip and 7z. Two members everywhere: a, <f4 (2, 3), and
b, |b1 (2,); where only one fits it is a.
"""
import io
import os
import subprocess
import tempfile
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
A = np.arange(6, dtype="<f4").reshape(2, 3) / 4
B = np.array([True, False])


def npy(a, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, a, version=version)
    return out.getvalue()


def long_npy(a, length):
    """A header of a given length, as numpy writes it for very wide dtypes."""
    plain = npy(a, (2, 0))
    size = int.from_bytes(plain[8:12], "little")
    header = plain[12:12 + size].rstrip()
    return plain[:8] + length.to_bytes(4, "little") + header.ljust(length - 1) + b"\n" + plain[12 + size:]


class Pipe(io.RawIOBase):
    """Takes bytes and can neither seek nor tell, like a pipe."""

    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, b):
        self.bytes += bytes(b)
        return len(b)


def path(name):
    return os.path.join(HERE, name)


def python(name, members, method=zipfile.ZIP_DEFLATED, force_zip64=False, comment=b"", pipe=False):
    out = Pipe() if pipe else path(name)
    with zipfile.ZipFile(out, "w", method) as z:
        z.comment = comment
        for member, data in members:
            info = zipfile.ZipInfo(member)
            info.compress_type = method
            with z.open(info, "w", force_zip64=force_zip64) as f:
                f.write(data)
    if pipe:
        open(path(name), "wb").write(out.bytes)


def numpy_type(name, a):
    np.savez(path(name), a=a)


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more).stdout


def main():
    two = [("a.npy", npy(A)), ("b.npy", npy(B))]

    np.savez(path("numpy.npz"), a=A, b=B)
    np.savez_compressed(path("numpy_compressed.npz"), a=A, b=B)
    np.savez(path("numpy_types.npz"), f2=np.array([1.5, -2], "<f2"), f4=np.float32(0.1), f8=np.zeros((0, 3)),
             i8=np.array(-7), b1=np.array([[True], [False]]), u1=np.frombuffer("h\u00e9".encode(), np.uint8))
    python("python_stored.npz", two, zipfile.ZIP_STORED)
    python("python_zip64.npz", two, force_zip64=True)
    python("python_pipe.npz", two, pipe=True)
    python("python_pipe_zip64.npz", two, pipe=True, force_zip64=True)
    python("python_comment.npz", two, comment=b"PK\5\6 in a comment")
    python("npy_2.npz", [("a.npy", npy(A, (2, 0)))])
    python("npy_3.npz", [("a.npy", npy(A, (3, 0)))])
    python("npy_long_header.npz", [("a.npy", long_npy(A, 65535))])
    python("bad_bzip2.npz", two, zipfile.ZIP_BZIP2)
    python("bad_lzma.npz", two, zipfile.ZIP_LZMA)
    python("bad_no_members.npz", [])
    python("bad_python_directory.npz", [("a/", b"")])
    python("bad_text_member.npz", two + [("README.txt", b"hello")])
    python("bad_dotdot.npz", [("../a.npy", npy(A))])
    python("bad_long_header.npz", [("a.npy", long_npy(A, 65536))])
    np.savez(path("bad_fortran.npz"), a=np.asfortranarray(A))
    numpy_type("bad_big_endian.npz", A.astype(">f4"))
    numpy_type("bad_object.npz", np.array([{}], object))
    numpy_type("bad_structured.npz", np.zeros(2, [("x", "<f4"), ("y", "<i8")]))
    numpy_type("bad_complex.npz", A.astype("<c8"))
    numpy_type("bad_i1.npz", A.astype("i1"))
    numpy_type("bad_i4.npz", A.astype("<i4"))
    numpy_type("bad_unicode.npz", np.array(["text"]))
    numpy_type("bad_5d.npz", np.zeros((1, 2, 1, 2, 1), "<f4"))
    np.save(path("bad_lone.npy"), A)

    with tempfile.TemporaryDirectory() as d:
        for name, data in two:
            open(os.path.join(d, name), "wb").write(data)
            os.utime(os.path.join(d, name), (315619200, 315619200))
        os.mkdir(os.path.join(d, "sub"))
        here = dict(cwd=d)

        def archive(name, *command):
            if os.path.exists(path(name)):
                os.remove(path(name))
            run(*command, **here)

        archive("zip.npz", "zip", "-X", path("zip.npz"), "a.npy", "b.npy")
        archive("zip_extra.npz", "zip", path("zip_extra.npz"), "a.npy", "b.npy")
        archive("zip_stored.npz", "zip", "-0", "-X", path("zip_stored.npz"), "a.npy", "b.npy")
        archive("zip_zip64.npz", "zip", "-fz", "-X", path("zip_zip64.npz"), "a.npy", "b.npy")
        open(path("zip_pipe.npz"), "wb").write(run("sh", "-c", "zip -X - a.npy b.npy | cat", **here))
        open(path("zip_stdin.npz"), "wb").write(run("sh", "-c", "zip -X -fd out.zip a.npy b.npy >&2; cat out.zip", **here))
        archive("bad_zip_encrypted.npz", "zip", "-X", "-P", "secret", path("bad_zip_encrypted.npz"), "a.npy")
        archive("bad_zip_directory.npz", "zip", "-X", path("bad_zip_directory.npz"), "a.npy", "sub")
        for name, more in (("7z.npz", []), ("7z_stored.npz", ["-mm=Copy"]), ("7z_ultra.npz", ["-mx=9"]),
                           ("bad_7z_deflate64.npz", ["-mm=Deflate64"]), ("bad_7z_ppmd.npz", ["-mm=PPMd"]),
                           ("bad_7z_aes.npz", ["-psecret", "-mem=AES256"])):
            archive(name, "7z", "a", "-tzip", *more, path(name), "a.npy", "b.npy")


main()
