// SPDX-License-Identifier: MIT
// Attention without the projections in Rust, float32:  rustc -O --crate-type cdylib rust.rs -o librust.so
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// struct qkvec_call of qkvec/kernel.h.
#[repr(C)]
pub struct Call {
    abi: u32, size: u32, dtype: u32, flags: u32,
    n: i64, l: i64, s: i64, sx: i64, e: i64, ek: i64, ev: i64, h: i64,
    query: *const f32, key: *const f32, value: *const f32,
    in_proj_weight: *const f32, q_weight: *const f32, k_weight: *const f32, v_weight: *const f32,
    in_proj_bias: *const f32, out_weight: *const f32, out_bias: *const f32, bias_k: *const f32, bias_v: *const f32,
    attn_mask: *const u8, key_padding_mask: *const u8,
    attn_mask_ndim: u32, attn_mask_dtype: u32, padding_dtype: u32, reserved: u32,
    mask: *const f32,
    q_heads: *const f32, k_heads: *const f32, v_heads: *const f32,
    output: *mut f32, attn_weights: *mut f32, attn_weights_mean: *mut f32, head_outputs: *mut f32,
    written: *mut u32, reason: *mut u8,
}

const FLOAT32: u32 = 0;
const ATTN_WEIGHTS: u32 = 2;
const HEAD_OUTPUTS: u32 = 8;

/// # Safety
/// The call is as qkvec/kernel.h describes it.
#[no_mangle]
pub unsafe extern "C" fn qkvec_attention_core(call: *const Call) -> i32 {
    let a = &*call;
    if a.dtype != FLOAT32 {
        return 1; // QKVEC_SKIP
    }
    let (rows, l, s, d) = ((a.n * a.h * a.l) as usize, a.l as usize, a.sx as usize, (a.e / a.h) as usize);
    let heads = (a.n * a.h) as usize;
    let (q, mask) = (from_raw_parts(a.q_heads, rows * d), from_raw_parts(a.mask, rows * s));
    let (k, v) = (from_raw_parts(a.k_heads, heads * s * d), from_raw_parts(a.v_heads, heads * s * d));
    let weights = from_raw_parts_mut(a.attn_weights, rows * s);
    let outputs = from_raw_parts_mut(a.head_outputs, rows * d);
    for row in 0..rows {
        let head = row / l * s * d;
        let p = &mut weights[row * s..(row + 1) * s];
        for j in 0..s {
            let dot: f32 = (0..d).map(|c| q[row * d + c] * k[head + j * d + c]).sum();
            p[j] = dot / (d as f32).sqrt() + mask[row * s + j];
        }
        let top = p.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        p.iter_mut().for_each(|x| *x = (*x - top).exp());
        let sum: f32 = p.iter().sum();
        p.iter_mut().for_each(|x| *x /= sum);
        for c in 0..d {
            outputs[row * d + c] = (0..s).map(|j| p[j] * v[head + j * d + c]).sum();
        }
    }
    *a.written = HEAD_OUTPUTS | ATTN_WEIGHTS;
    0 // QKVEC_DONE
}
