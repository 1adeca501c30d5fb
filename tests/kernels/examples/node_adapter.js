// SPDX-License-Identifier: MIT
// qkvec check --profile float64 --command 'node node_adapter.js'     (JavaScript computes in double)
const npz = require("./npz.js"), sum = (n, f) => { let x = 0; for (let i = 0; i < n; i++) x += f(i); return x; };
const array = (n, f) => Float64Array.from({ length: n }, (_, m) => f(m));
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const [path, out] = line.split("\t"), c = npz.load(path), E = Number(c.embed_dim.v[0]), H = Number(c.num_heads.v[0]), D = E / H;
  const first = Number(c.batch_first.v[0]), w = c.in_proj_weight?.v, b = c.in_proj_bias?.v, wo = c["out_proj.weight"].v, bo = c["out_proj.bias"]?.v;
  if (!w || c.bias_k || c.add_zero_attn.v[0] || c.query.shape.length < 3) return console.log("skip packed weights, a batch, no appended rows");
  const [N, L, S] = [c.query.shape[1 - first], c.query.shape[first], c.key.shape[first]];
  const project = (x, T, o) => array(N * T * E, m => { // channel e of row t of item n, by block o of in_proj_weight
    const e = m % E + o * E, t = Math.floor(m / E) % T, n = Math.floor(m / E / T), at = (first ? n * T + t : t * N + n) * E;
    return (b ? b[e] : 0) + sum(E, i => x.v[at + i] * w[e * E + i]);
  });
  const q = project(c.query, L, 0), k = project(c.key, S, 1), v = project(c.value, S, 2), merged = new Float64Array(N * L * E);
  const weights = [], hidden = (m, at) => !m ? 0 : !m.bool ? m.v[at] : m.v[at] ? -Infinity : 0, each = c.attn_mask?.shape.length == 3;
  for (let n = 0; n < N; n++) for (let h = 0; h < H; h++) for (let i = 0; i < L; i++) {
    const s = array(S, j => sum(D, d => q[(n * L + i) * E + h * D + d] * k[(n * S + j) * E + h * D + d]) / Math.sqrt(D)
      + hidden(c.attn_mask, ((each ? n * H + h : 0) * L + i) * S + j) + hidden(c.key_padding_mask, n * S + j));
    const top = s.reduce((x, y) => Math.max(x, y), -Infinity), e = s.map(x => Math.exp(x - top)), total = sum(S, j => e[j]), p = e.map(x => x / total);
    for (let d = h * D; d < h * D + D; d++) merged[(n * L + i) * E + d] = sum(S, j => p[j] * v[(n * S + j) * E + d]);
    weights.push(...p);
  }
  const output = array(N * L * E, m => (bo ? bo[m % E] : 0) + sum(E, c => merged[m - m % E + c] * wo[m % E * E + c]));
  npz.save(out, { output: { shape: [N, L, E], v: output }, attn_weights: { shape: [N, H, L, S], v: weights } }), console.log("ok");
});
