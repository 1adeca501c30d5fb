// SPDX-License-Identifier: MIT
// TensorFlow.js on its plain JavaScript backend: matMul, softmax, matMul.
const npz = require("../examples/npz.js"), tf = require("@tensorflow/tfjs");
if (process.argv.includes("--versions")) return console.log(JSON.stringify({ "TensorFlow.js": tf.version.tfjs }));
class Skip extends Error {}
const tensor = x => x && tf.tensor(x.bool ? x.v : Float32Array.from(x.v), x.shape, x.bool ? "bool" : "float32");

function attention(c) {
  const E = Number(c.embed_dim.v[0]), H = Number(c.num_heads.v[0]), D = E / H, first = Number(c.batch_first.v[0]);
  if (c.bias_k) throw new Skip("no bias_kv");
  if (c.add_zero_attn.v[0]) throw new Skip("no zero_attn");
  const rows = x => x.rank == 2 ? x.expandDims(0) : first ? x : x.transpose([1, 0, 2]);
  const x = ["query", "key", "value"].map(n => rows(tensor(c[n]))), [N, L, S] = [x[0].shape[0], x[0].shape[1], x[1].shape[1]];
  if (!N || !L || !S) throw new Skip("no empty arrays");
  const w = c.in_proj_weight ? tf.split(tensor(c.in_proj_weight), 3) : ["q", "k", "v"].map(n => tensor(c[n + "_proj_weight"]));
  const b = c.in_proj_bias ? tf.split(tensor(c.in_proj_bias), 3) : [], linear = (x, w, b) => {
    const y = tf.matMul(x.reshape([-1, x.shape[2]]), w, false, true).reshape([x.shape[0], x.shape[1], -1]);
    return b ? y.add(b) : y;
  };
  const heads = x => x.reshape([N, -1, H, D]).transpose([0, 2, 1, 3]), [q, k, v] = x.map((x, i) => heads(linear(x, w[i], b[i])));
  const added = (m, shape) => m && (m.bool ? tf.where(tensor(m), tf.scalar(-Infinity), tf.scalar(0)) : tensor(m)).reshape(shape);
  const masks = [added(c.attn_mask, c.attn_mask?.shape.length == 3 ? [N, H, L, S] : [1, 1, L, S]), added(c.key_padding_mask, [N, 1, 1, S])].filter(m => m);
  let s = tf.matMul(q, k, false, true).div(Math.sqrt(D));
  if (masks.length) s = s.add(masks.length == 2 ? masks[0].add(masks[1]) : masks[0]);
  const p = tf.softmax(s), o = tf.matMul(p, v).transpose([0, 2, 1, 3]).reshape([N, L, E]);
  return { output: linear(o, tensor(c["out_proj.weight"]), tensor(c["out_proj.bias"])), attn_weights: p };
}

tf.setBackend("cpu").then(() => require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const [path, out] = line.split("\t");
  try {
    npz.save(out, Object.fromEntries(Object.entries(tf.tidy(() => attention(npz.load(path)))).map(([n, x]) => [n, { shape: x.shape, v: x.dataSync() }])));
    console.log("ok");
  } catch (e) {
    console.log(`${e instanceof Skip ? "skip" : "fail"} ${e.message.split("\n")[0].slice(0, 200)}`);
  }
}));
