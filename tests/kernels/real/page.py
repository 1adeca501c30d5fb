# SPDX-License-Identifier: MIT
"""docs/kernels.md from the results and the notes."""
import collections
import fnmatch
import json
import re

from rows import ROWS

HEAD = """# Real implementations, judged

<!-- Written by tests/kernels/real/table.py; edit tests/kernels/real/notes.md. -->

What {rows} runs of {count} paths of real implementations say about the vectors. `tests/kernels/real/table.py` installs the
implementations (each in an environment of its own; neither the build nor the tests of this repository need them), runs
`qkvec check --command ... --profile ... --format json` for each row and writes this page. The adapters in
`tests/kernels/real/` translate arguments and nothing else: what an implementation lacks is skipped with a reason, and what it gets
wrong fails. Where an implementation has only the attention itself, the projections are made by its own linear layer or matmul,
in its own precision.

Run on {cpu} from {first} to {last}, with qkvec {program}, corpus {corpus} (sha256 {hash}).

* **asked**: the profile that the results are judged by; the arguments are rounded to its type. **meets**: the tightest profile that every judged vector meets
* **noise**: rms(error / sigma) of the vectors that pass; below 1 is what honest rounding makes. **worst**: the largest error of a passing vector
* **all masked**: what a query gets whose keys are all masked. `NaN` and `0` are the two answers of PyTorch; `other` is neither
* **failures** links to the explanation: a *bug*, other *semantics* that are documented or meant, or *precision*
"""


def load(results):
    found = {}
    for key, *_, profiles in ROWS:
        for profile in profiles:
            path = results / f"{key}.{profile}.json"
            if path.exists():
                judged = json.loads(path.read_text())
                if "certificate" in judged:
                    found[key, profile] = judged
    return found


def notes(path):
    """## title / rows: globs / vectors: globs / kind: word / prose."""
    out = []
    for block in re.split(r"^## ", path.read_text(), flags=re.M)[1:]:
        title, *lines = block.splitlines()
        head = dict(re.match(r"(\w+): *(.*)", x).groups() for x in lines if re.match(r"(rows|vectors|kind):", x))
        prose = "\n".join(x for x in lines if not re.match(r"(rows|vectors|kind):", x)).strip()
        out.append({"title": title.strip(), "rows": head["rows"].split(), "vectors": head.get("vectors", "*").split(), "kind": head["kind"], "prose": prose, "used": {}})
    return out


def match(name, globs):
    return any(fnmatch.fnmatchcase(name, g) for g in globs)


def number(x):
    x = float(x)
    return "-" if x != x else "inf" if x in (float("inf"), -float("inf")) else f"{x:.2f}" if abs(x) < 100 else f"{x:.1e}"


def all_masked(results):
    answers = set()
    for r in results:
        if r["vector"].startswith("fully_masked/"):
            if r["verdict"] == "pass":
                answers.add({"pytorch": "NaN", "zero_rows": "0"}.get(r["policy"], r["policy"]))
            elif r["verdict"] == "fail" and r["meets"] is None:
                answers.add("other")
            elif r["verdict"] not in ("skip", "fail"):
                answers.add(r["verdict"])
    return ", ".join(sorted(answers)) or "-"


def anchor(title):
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def meets(results, order=("float64", "float32", "tf32", "float16", "bfloat16")):
    """The loosest of what the judged vectors meet, and how many meet nothing."""
    judged = [r for r in results if r["verdict"] in ("pass", "fail") and r["noise"] != "nan" or r["verdict"] == "fail"]
    known = [order.index(r["meets"]) for r in judged if r["meets"]]
    return (order[max(known)] if known else "-"), sum(not r["meets"] for r in judged)


def example(key, profile, failed):
    """The smallest failing vector in one line: what is got, what is expected."""
    numbers = [r for r in failed if r["worst"]] or failed
    r = min(numbers, key=lambda r: (r["size"], r["vector"]))
    text = f"`{key}`, {profile}: {len(failed)} vector{'s' * (len(failed) > 1)}, smallest `{r['vector']}`"
    if r["worst"]:
        w = r["worst"]
        at = ",".join(map(str, w["index"]))
        digits = lambda x: x if isinstance(x, str) else f"{x:.9g}"
        text += f": `{w['stage']}[{at}]` is {digits(w['got'])}, expected {digits(w['expected'])}"
        text += f", off by {number(w['error_sigma'])} sigma" if number(w["error_sigma"]) not in ("inf", "-") else ""
        text += f"; meets {r['meets']}" if r["meets"] else ""
    else:
        text += f": {r['verdict']}" + (f", {r['reason'].replace('the command says that it failed: ', '')[:180]}" if r["reason"] else "")
    return text


def random_cases(results_dir):
    lines = ["# Random cases", "", "`qkvec fuzz` with the adapters of the rows that take least time for a case, the program's own process and files included.", "",
             "| row | version | asked | seed | seconds | cases | skipped | found |", "|---|---|---|---|---|---|---|---|"]
    for f in sorted((results_dir / "random").glob("*.json")):
        r = json.loads(f.read_text())
        version = ", ".join(f"{k} {v}" for k, v in r["versions"].items())
        lines.append(f"| {r['key']} | {version} | {r['profile']} | {r['seed']} | {r['seconds']:g} | {r['cases']} | {r['skipped']} | {r['found'] or 'nothing'} |")
    return lines + [""]


def write(path, results_dir, notes_path):
    found, explained = load(results_dir), notes(notes_path)
    sizes = {v["name"]: sum(v["shapes"].get(k, 0) for k in "NLSE") for v in json.loads((notes_path.parents[3] / "vectors/index.json").read_text())["vectors"]}
    refused = json.loads((results_dir / "refused.json").read_text()) if (results_dir / "refused.json").exists() else {}
    missing, unexplained = [], 0
    first = max(found.values(), key=lambda j: j["date"])["certificate"]
    corpus = json.loads((notes_path.parents[3] / "vectors/index.json").read_text())
    other = [f"{key}.{profile}" for (key, profile), j in found.items() if j["certificate"]["corpus_hash"] != corpus["corpus_hash"]]
    if other:
        print("judged with another corpus:", *other)
    dates = sorted(j["date"] for j in found.values())
    lines = [HEAD.format(rows=len(found), count=len({k for k, _ in found}), cpu=next(iter(found.values()))["cpu"], first=dates[0], last=dates[-1],
                         program=first["program"], corpus=corpus["corpus_version"], hash=corpus["corpus_hash"][:16])]
    if other:
        lines += ["These rows were judged before a vector was taken out of the corpus, which changed no other: " + ", ".join(other) + ".", ""]
    lines += ["| implementation | path | version | asked | verdict | passed | failed | skipped | meets | noise | worst | all masked | failures |", "|" + "---|" * 13]
    grid = collections.OrderedDict()
    for key, name, where, environment, adapter, profiles in ROWS:
        for profile in profiles:
            judged = found.get((key, profile))
            if not judged:
                missing.append((key, name, where, environment, profile))
                continue
            results, c = judged["results"], judged["certificate"]
            judged["results"] = results = [r for r in results if r["vector"] in sizes]
            verdicts = collections.Counter("pass" if r["verdict"] == "pass" else "skip" if r["verdict"] == "skip" else "fail" for r in results)
            for r in results:
                r["size"] = sizes.get(r["vector"], 0)
            links = []
            for r in results:
                if r["verdict"] in ("pass", "skip"):
                    continue
                why = [n for n in explained if (match(key, n["rows"]) or match(f"{key}.{profile}", n["rows"])) and match(r["vector"], n["vectors"])]
                if not why:
                    unexplained += 1
                    print("unexplained:", key, profile, r["vector"], r["verdict"], r["meets"], r["worst"] and (r["worst"]["stage"], r["worst"]["got"], r["worst"]["expected"], r["worst"]["error_sigma"]), r["reason"][:150])
                for n in why[:1]:
                    n["used"].setdefault((key, profile), []).append(r)
                    link = f"[{n['kind']}](#{anchor(n['title'])})"
                    if link not in links:
                        links.append(link)
            passing = [r for r in results if r["verdict"] == "pass"]
            noises = [float(r["noise"]) for r in passing if float(r["noise"]) == float(r["noise"])]
            noise = (sum(x * x for x in noises) / len(noises)) ** 0.5 if noises else float("nan")
            worst = max((float(r["worst"]["error_sigma"]) for r in passing if r["worst"]), default=float("nan"))
            loosest, none = meets(results)
            version = ", ".join(f"{n} {v}" for n, v in judged["versions"].items())
            lines.append(f"| {name} | {where} | {version} | {profile} | {'not conformant' if verdicts['fail'] else '**conformant**'} | {verdicts['pass']} | {verdicts['fail']} | {verdicts['skip']} | "
                         f"{loosest}{f', {none} meet none' if none else ''} | {number(noise)} | {number(worst)} | {all_masked(results)} | {' '.join(links)} |")
            grid[key, profile] = results
    lines += ["", "## By category", "", "Passed of judged; `-`: all skipped."]
    categories = sorted({r["vector"].split("/")[0] for results in grid.values() for r in results})
    lines += ["", "| row | asked | " + " | ".join(c.replace("_", " ") for c in categories) + " |", "|---|---|" + "---|" * len(categories)]
    for (key, profile), results in grid.items():
        cells = []
        for c in categories:
            judged = [r for r in results if r["vector"].startswith(c + "/") and r["verdict"] != "skip"]
            good = sum(r["verdict"] == "pass" for r in judged)
            cells.append("-" if not judged else f"{good}" if good == len(judged) else f"**{good}/{len(judged)}**")
        lines.append(f"| {key} | {profile} | " + " | ".join(cells) + " |")
    lines += ["", "## What is skipped", ""]
    reasons = collections.defaultdict(lambda: collections.defaultdict(int))
    for (key, profile), results in grid.items():
        for r in results:
            if r["verdict"] == "skip":
                reasons[r["reason"].replace("skipped by the command: ", "")][key] += 1
    for reason, keys in sorted(reasons.items(), key=lambda x: -len(x[1])):
        lines.append(f"* {reason}: {', '.join(sorted(keys))}")
    lines += ["", "# Each failure, explained", ""]
    for n in explained:
        if not n["used"]:
            if n["rows"] != ["-"]:
                print("unused note:", n["title"])
            continue
        lines += [f"## {n['title']}", "", f"*{n['kind']}*", "", n["prose"], ""]
        lines += [f"* {example(key, profile, failed)}" for (key, profile), failed in n["used"].items()] + [""]
    lines += random_cases(results_dir)
    for n in explained:
        if n["kind"] == "fuzz":
            lines += [n["prose"], ""]
    lines += ["# Not here", ""]
    lines += [f"* `{' '.join(p for p in e['packages'] if p[0] != '-')}`: cannot be installed: {e['error']}" for n, e in refused.items()]
    broken = {key: json.loads(f.read_text())["broken"] for key, *_ in ROWS for f in results_dir.glob(f"{key}.*.json") if '"broken"' in f.read_text()[:20]}
    lines += [f"* {name}, {where}: does not start: {broken[key]}" for key, name, where, _, profile in missing if key in broken]
    lines += [n["prose"] for n in explained if n["rows"] == ["-"] and n["kind"] == "-"]
    path.write_text("\n".join(lines).rstrip() + "\n")
    print(f"{path}: {len(found)} rows, {len(missing)} without a result, {unexplained} failures unexplained")
    return 1 if unexplained else 0
