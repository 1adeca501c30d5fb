#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge the implementations of rows.py and write docs/kernels.md.

    table.py            set up what is not there, judge every row, write the page
    table.py setup      only that; also run, page
    table.py run KEY... judge these rows (a key or a glob) anew
    table.py fuzz KEY.. random cases for these rows (default: FUZZED of rows.py), --seconds each
"""
import argparse
import datetime
import fnmatch
import json
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path

from rows import ENVIRONMENTS, FUZZED, ROWS
import page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def sh(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def setup(a):
    """Make each environment once; what cannot be installed leaves its error behind."""
    refused = {}
    for name, packages in ENVIRONMENTS.items():
        where = a.prefix / name
        if packages is None or (where / ".ok").exists():
            continue
        print("setup", name, flush=True)
        where.mkdir(parents=True, exist_ok=True)
        if packages[0].startswith("npm:"):
            made = sh(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"] + [p[4:] for p in packages], cwd=where)
        else:
            made = sh([sys.executable, "-m", "venv", where])
            made = sh([where / "bin/pip", "install", "-q", "--disable-pip-version-check"] + packages) if made.returncode == 0 else made
        if made.returncode == 0:
            (where / ".ok").touch()
        else:
            lines = [x for x in (made.stderr or made.stdout).splitlines() if x.startswith("ERROR") or "error" in x.lower()] or ["?"]
            refused[name] = {"packages": packages, "error": lines[-1]}
    old = json.loads((a.results / "refused.json").read_text()) if (a.results / "refused.json").exists() else {}
    (a.results / "refused.json").write_text(json.dumps({**{n: e for n, e in old.items() if not (a.prefix / n / ".ok").exists()}, **refused}, indent=1))


def adapters(a, environment, adapter):
    """The options of qkvec check for a row, and the command that prints versions; None if it is not to be had."""
    where, (file, *arguments) = a.prefix / environment, adapter.split()
    if ENVIRONMENTS[environment] is not None and not (where / ".ok").exists():
        return None
    if file.endswith(".cpp"):                                           # a shared library for the core
        library = a.results / (file[:-4] + ".so")
        built = sh(["c++", "-O2", "-shared", "-fPIC", "-o", library, HERE / file, f"-I{ROOT}/ref/include", f"-I{where}/include",
                    f"-L{where}/lib", f"-Wl,--disable-new-dtags,-rpath,{where}/lib", "-ldnnl"])
        if built.returncode:
            sys.exit(built.stderr)
        return ["--core", "--kernel", str(library)], [f"{where}/bin/python", "-c", "import importlib.metadata as m, json; print(json.dumps({'oneDNN': m.version('onednn-devel')}))"]
    if file.endswith(".js"):
        program = ["env", f"NODE_PATH={where}/node_modules", "node"]
    else:
        program = ["/usr/bin/python3" if environment == "system" else f"{where}/bin/python"]
    variables = [x.replace("PREFIX", str(where)) for x in arguments if "=" in x]
    arguments = [x.replace("PREFIX", str(where)) for x in arguments if "=" not in x]
    command = ["env", *variables, *program, str(HERE / file), *arguments]
    return ["--command", " ".join(command)], command + ["--versions"]


def variables(a, environment, adapter):
    """oneDNN's wheel is a SYCL build, and looks for a device."""
    return {**os.environ, **({"OCL_ICD_FILENAMES": str(a.prefix / environment / "lib/libintelocl.so")} if adapter.endswith(".cpp") else {})}


def started(a, name, environment, adapter):
    """The options for a row and its versions. Without versions: what its start complained of, None where it is not installed."""
    adapter = adapters(a, environment, adapter)
    if adapter is None:
        print(name, "not installed", flush=True)
        return None, None
    versions = sh(adapter[1])
    if versions.returncode:
        complaint = versions.stderr.strip().splitlines()[-1]
        print(name, "does not start:", complaint, flush=True)
        return complaint, None
    return adapter[0], json.loads(versions.stdout.splitlines()[-1])


def fuzz(a, patterns):
    """qkvec fuzz until it finds something or the time is up; what it says goes to random/ beside the results."""
    (a.results / "random").mkdir(exist_ok=True)
    for key, _, _, environment, adapter, profiles in ROWS:
        if not any(fnmatch.fnmatch(key, p) for p in patterns or FUZZED):
            continue
        adapter, versions = started(a, key, environment, adapter)
        if versions is None:
            continue
        case = a.results / "random" / f"{key}.npz"
        p = subprocess.Popen([a.qkvec, "fuzz", "--profile", profiles[0], "--seed", str(a.seed), "--count", "1000000000", "-o", str(case)] + adapter,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables(a, environment, adapter))
        try:
            said, complaint = p.communicate(timeout=a.seconds)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGINT)
            said, complaint = p.communicate()
        counted = re.search(r"(\d+) cases: (\d+) passed, (\d+) skipped", said)
        if not counted:
            print(key, "exit", p.returncode, complaint[-300:], flush=True)
            continue
        cases, passed, skipped = map(int, counted.groups())
        found = re.search(r"^FAIL [^:]*: (.*)", said, re.M)
        (a.results / "random" / f"{key}.json").write_text(json.dumps(dict(
            key=key, profile=profiles[0], seed=a.seed, seconds=a.seconds, cases=cases, passed=passed, skipped=skipped,
            found=found.group(1) if found else None, versions=versions, date=datetime.date.today().isoformat())))
        print(key, counted.group(0), found.group(1) if found else "", flush=True)


def run(a, patterns):
    corpus = json.loads((ROOT / "vectors/index.json").read_text())["corpus_hash"]
    for key, _, _, environment, adapter, profiles in ROWS:
        for profile in profiles:
            name = f"{key}.{profile}"
            out = a.results / f"{name}.json"
            if patterns and not any(fnmatch.fnmatch(key, p) or fnmatch.fnmatch(name, p) for p in patterns) or a.missing and corpus in (out.read_text() if out.exists() else ""):
                continue
            adapter, versions = started(a, name, environment, adapter)
            if versions is None:
                if adapter is not None:
                    out.write_text(json.dumps({"broken": adapter}))
                continue
            check = sh([a.qkvec, "check", "--format", "json", "--random", "0", "--profile", profile, "--timeout", "300", "--vectors", str(ROOT / "vectors")] + adapter,
                       env=variables(a, environment, adapter))
            try:
                judged = json.loads(check.stdout)
            except ValueError:
                print(name, "exit", check.returncode, check.stderr[-300:], flush=True)
                continue
            judged.update(versions=versions, date=datetime.date.today().isoformat(), cpu=platform.machine())
            out.write_text(json.dumps(judged))
            c = judged["certificate"]
            print(name, c["verdict"], c["passed"], c["failed"], c["skipped"], c["meets"], flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", nargs="?", choices=["setup", "run", "fuzz", "page"])
    p.add_argument("patterns", nargs="*")
    p.add_argument("--missing", action="store_true", help="run only rows that have no result for this corpus")
    p.add_argument("--seconds", type=float, default=150, help="of random cases for each row (default 150)")
    p.add_argument("--seed", type=int, default=1, help="the first random case (default 1)")
    p.add_argument("--qkvec", default=str(ROOT / "build/qkvec"))
    p.add_argument("--results", type=Path, default=ROOT / "build/real", help="results are kept here (default build/real)")
    p.add_argument("--prefix", type=Path, default=Path("/opt/real"), help="where the environments are (default /opt/real)")
    p.add_argument("-o", type=Path, default=ROOT / "docs/kernels.md")
    a = p.parse_intermixed_args()
    a.results.mkdir(parents=True, exist_ok=True)
    if a.step in (None, "setup"):
        setup(a)
    if a.step in (None, "run"):
        run(a, a.patterns)
    if a.step in (None, "fuzz"):
        fuzz(a, a.patterns)
    if a.step in (None, "page"):
        sys.exit(page.write(a.o, a.results, HERE / "notes.md"))


if __name__ == "__main__":
    main()
