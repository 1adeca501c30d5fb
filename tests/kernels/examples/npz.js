// SPDX-License-Identifier: MIT
// .npz archives with nothing but Node: load(path) gives { name: { shape, v, bool } }, save(path, { name: { shape, v } }) writes <f8.
const fs = require("fs"), zlib = require("zlib");
const types = { "<f4": Float32Array, "<f8": Float64Array, "<i8": BigInt64Array, "|b1": Uint8Array, "|u1": Uint8Array };
const le = (...pairs) => Buffer.concat(pairs.map(([x, n]) => { const b = Buffer.alloc(n); b.writeUIntLE(x, 0, n); return b; }));
exports.load = path => {
  const z = fs.readFileSync(path), end = z.lastIndexOf("PK\x05\x06", undefined, "latin1"), members = {};
  let at = z.readUInt32LE(end + 16); // the directory
  for (let n = z.readUInt16LE(end + 10); n--;) {
    const [packed, length, extra, comment] = [10, 28, 30, 32].map(k => z.readUInt16LE(at + k)), local = z.readUInt32LE(at + 42);
    const from = local + 30 + z.readUInt16LE(local + 26) + z.readUInt16LE(local + 28), raw = z.subarray(from, from + z.readUInt32LE(at + 20));
    const npy = packed ? zlib.inflateRawSync(raw) : raw, head = 10 + npy.readUInt16LE(8), text = npy.toString("latin1", 10, head);
    const descr = /'descr': '(...)'/.exec(text)[1], shape = /\(([^)]*)\)/.exec(text)[1].split(",").filter(x => x.trim()).map(Number);
    const name = z.toString("latin1", at + 46, at + 46 + length - 4), v = new types[descr](Uint8Array.from(npy.subarray(head)).buffer);
    members[name] = { shape, v, bool: descr == "|b1" };
    at += 46 + length + extra + comment;
  }
  return members;
};
exports.save = (path, members) => {
  const parts = [], directory = [];
  let at = 0;
  for (const [member, { shape, v }] of Object.entries(members)) {
    const text = `{'descr': '<f8', 'fortran_order': False, 'shape': (${shape},), }`.padEnd(117) + "\n", name = Buffer.from(member + ".npy");
    const npy = Buffer.concat([Buffer.from("\x93NUMPY\x01\x00v\x00" + text, "latin1"), Buffer.from(Float64Array.from(v).buffer)]);
    const common = le([20, 2], [0, 4], [0, 2], [33, 2], [zlib.crc32(npy), 4], [npy.length, 4], [npy.length, 4], [name.length, 2], [0, 2]);
    parts.push(Buffer.from("PK\x03\x04"), common, name, npy);
    directory.push(Buffer.from("PK\x01\x02"), le([20, 2]), common, le([0, 6], [0, 4], [at, 4]), name);
    at += 30 + name.length + npy.length;
  }
  const central = Buffer.concat(directory), count = directory.length / 5;
  fs.writeFileSync(path, Buffer.concat([...parts, central, Buffer.from("PK\x05\x06"), le([0, 4], [count, 2], [count, 2], [central.length, 4], [at, 4], [0, 2])]));
};
