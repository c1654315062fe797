#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pingpong of docs/rogue.md: compiled and run as it is, and with the page's changes and what
pkg-config says of the build tree, which give it a shadow queue pair. As it is and compiled with
-fsanitize=address it has one under `oche exec --rogue`.

usage: rogue_page.py OCHE SOURCE CC [-fsanitize=…]
"""
import os
import re
import subprocess
import sys
import tempfile

import pairs


def changed(source, folder):
    """The pingpong with the page's changes."""
    with open(f"{source}/docs/rogue.md", encoding="utf-8") as page:
        blocks = re.findall(r"^```diff\n(.*?)^```$", page.read(), re.M | re.S)
    if len(blocks) != 1 or blocks[0].count("\n+") < 6:
        pairs.fail("docs/rogue.md has no changes", blocks)
    name = f"{folder}/after.c"
    done = subprocess.run(["patch", "--fuzz=0", "-o", name, f"{source}/tests/interop/pingpong.c"],
                          input=blocks[0], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        pairs.fail("the changes of docs/rogue.md do not apply", done.stdout, done.stderr)
    return name


def flags_of(build):
    """Returns pkg-config's flags for a build tree, without other libraries."""
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "oche-rogue"], text=True, capture_output=True,
        env={**os.environ, "PKG_CONFIG_LIBDIR": f"{build}/meson-uninstalled",
             "PKG_CONFIG_PATH": ""}, check=False)
    if asked.returncode != 0:
        pairs.fail("pkg-config", asked.stderr)
    return asked.stdout.split()


def compiled(compiler, name, program, flags):
    words = [*compiler, "-Wall", "-Werror", name, "-o", program, *flags]
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        pairs.fail(*words, done.stderr)
    return program


def run(oche, program, *options):
    """Runs both sides. Returns their output."""
    port = pairs.free_port()
    words = [program, str(port)]
    serving = pairs.Side(pairs.SERVER, ["--stats", *options]).start(oche, words)
    pairs.wait_until_listening(port, serving)
    calling = pairs.Side(pairs.CLIENT, ["--stats", *options]).start(oche, words + ["127.0.0.1"])
    said = []
    for process in (calling, serving):
        text, late = pairs.said_by(process, pairs.LIMIT)
        if late or process.returncode != 0 or "200 messages each way" not in text:
            pairs.fail(program, "late" if late else process.returncode, text)
        said.append(text)
    return said


def main(oche, source, *compiler):
    build = os.path.dirname(oche)
    pairs.need("patch", "pkg-config")
    with tempfile.TemporaryDirectory() as folder:
        pingpong, verbs = f"{source}/tests/interop/pingpong.c", [f"-L{build}", "-libverbs"]
        before = compiled(compiler, pingpong, f"{folder}/before",
                          [*verbs, f"-Wl,-rpath,{build}"])
        checked = compiled(compiler, pingpong, f"{folder}/checked", ["-fsanitize=address", *verbs])
        after = compiled(compiler, changed(source, folder), f"{folder}/after", flags_of(build))
        for said in run(oche, before):
            if "oche: rogue:" in said:
                pairs.fail("RoGUE, before the changes", said)
        for said in run(oche, after) + run(oche, checked, "--rogue"):
            if "connections 1, of these with a shadow 1" not in said:
                pairs.fail("no shadow", said)


if __name__ == "__main__":
    main(*sys.argv[1:])
