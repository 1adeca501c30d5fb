# SPDX-License-Identifier: MIT
"""Write the vectors, or check that they are what the installed PyTorch computes.

  python gen/generate.py [--check] [--force] [--measure] [--publish] [PATTERN ...]       patterns as in core/*

The file of a published vector (index.py) is never written; the others are, until their version is published.
"""
import argparse
import fnmatch
import sys
from pathlib import Path

import numpy as np

import index
import npz
import witness
from build import TORCH, build, compare
from cases import CASES

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def choose(patterns):
    chosen = [c for c in CASES if not patterns or any(fnmatch.fnmatch(c.name, p) for p in patterns)]
    if not chosen:
        raise SystemExit(f"generate: no vector is named {' or '.join(patterns)}")
    return chosen


def treat(case, args, notes):
    """Build, ask the witnesses, then compare with the file or write it. Returns ([error messages], errors in sigma)."""
    path = VECTORS / f"{case.name}.npz"
    stored = npz.read(path) if path.exists() else None
    if stored is None and args.check:
        return ["the file is missing"], np.empty(0)
    keep = stored if case.name in args.published or not args.force else None
    file, stages, policies, sigma = build(case, keep)
    wrong = witness.check_blindness(case, witness.blindness(file, stages, sigma))

    old = witness.OLD and witness.old_difference(file)
    ratios = np.empty(0)
    if old:
        notes.append(f"{case.name}: {old}")
    else:
        sentences, ratios = witness.check_module(case, file, stages, policies, sigma)
        wrong += sentences
        if witness.OLD and "zero_rows" in policies:
            notes.append(f"{case.name}: gives NaN for a fully masked row with need_weights=False too (alt.zero_rows is not compared)")
    if args.measure:
        print(measure(case, file, stages, ratios))

    differs = ["the file is missing"] if stored is None else compare(stored, file, stages, policies, case.name in args.published)
    if args.check or case.name in args.published:
        wrong += differs
    elif not wrong and (differs or args.force):
        path.parent.mkdir(parents=True, exist_ok=True)
        npz.write(path, file)
        args.written += 1
    return wrong, ratios


def measure(case, file, stages, ratios):
    s, p = stages["masked_scores"], stages["attn_weights"]
    if p.size == 0:
        return f"{case.name:34} empty"
    masked = np.where(np.isfinite(s), s, np.nan)
    seen = np.isfinite(masked).any(-1)
    if not seen.any():
        return f"{case.name:34} nothing but masked"
    s, p = masked[seen], p[seen]
    return (f"{case.name:34} scores {np.nanmin(s):9.3g} to {np.nanmax(s):9.3g}  spread {np.median(np.nanmax(s, -1) - np.nanmin(s, -1)):9.3g}  "
            f"top weight {np.nanmedian(p.max(-1)):.3f}  worst {ratios.max(initial=0):.2f} sigma")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("patterns", nargs="*", metavar="PATTERN")
    p.add_argument("--check", action="store_true", help="write nothing; recompute and compare")
    p.add_argument("--force", action="store_true", help="write files that are not published anew even if the stored ones agree")
    p.add_argument("--publish", action="store_true", help="list the files of the version that is not published yet, after which they stay")
    p.add_argument("--measure", action="store_true", help="print how each vector's softmax looks")
    args = p.parse_args()
    args.written = 0
    args.published = {name for hashes in index.published(VECTORS).values() for name in hashes}

    failed, notes, errors = [], [], []
    chosen = choose(args.patterns)
    for n, case in enumerate(chosen, 1):
        progress(f"{n}/{len(chosen)} {case.name}")
        wrong, ratios = treat(case, args, notes)
        failed += [f"{case.name}: {sentence}" for sentence in wrong]
        errors.append(ratios)
    progress("")

    names = {c.name for c in CASES}
    failed += [f"{f}: no case of this name" for f in index.files(VECTORS) if f not in names]
    failed += index.check_published(VECTORS, CASES)
    if args.check:
        failed += index.check(VECTORS, CASES)
    elif not failed:
        index.write(VECTORS, CASES)
        if args.publish:
            index.publish(VECTORS)

    for sentence in failed:
        print(sentence)
    if notes:
        print(f"not compared with the module of PyTorch {TORCH}, where that one differs (the recipe is compared):")
        for sentence in notes:
            print("  " + sentence)
    errors = np.concatenate(errors)
    if errors.size:
        print(f"the module in float32, in sigma of the envelope: worst {errors.max():.2f}, median {np.median(errors):.3f}, "
              f"rms {np.sqrt(np.mean(errors ** 2)):.3f} over {errors.size} numbers")
    done = "checked" if args.check else f"{args.written} written, {len(chosen) - args.written} left as they were"
    print(f"{len(chosen)} vectors, {done}; PyTorch {TORCH}; {len(failed)} complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
