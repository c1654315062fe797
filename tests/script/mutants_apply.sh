#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each patch of tests/mutants applies to the tree as it is, changes the file that it names, and
# names tests that there are (tools/mutants runs them). Environment: BUILD. The working directory
# is the source root. Status 77: there is no git, or no patch, as in the copy of tools/mutants.
set -u
command -v git >/dev/null || { echo "git is missing"; exit 77; }
patches=(tests/mutants/*.patch)
[ -e "${patches[0]}" ] || { echo "no mutants here"; exit 77; }
tests=" $(meson introspect --tests "$BUILD" |
    python3 -c 'import json, sys; print(*(t["name"] for t in json.load(sys.stdin)))') "
failed=0
wrong() {
    echo "FAILED: $1: $2"
    failed=1
}
for patch in "${patches[@]}"; do
    { read -r first && read -r second; } <"$patch"
    [[ $first == "# "*.[ch]": "* ]] || wrong "$patch" "begins with: # FILE: the rule that it breaks"
    file=${first#\# } file=${file%%:*}
    grep -q "^+++ b/$file\$" "$patch" || wrong "$patch" "does not change $file"
    git apply --check -C1 "$patch" || wrong "$patch" "does not apply: write it anew"
    [[ $second == "# tests: "* ]] || wrong "$patch" "its second line names tests"
    for test in ${second#\# tests: }; do
        [[ $tests == *" $test "* ]] || wrong "$patch" "there is no test $test"
    done
done
[ ${#patches[@]} -ge 40 ] || wrong tests/mutants "${#patches[@]} patches; at least 40"
echo "${#patches[@]} patches"
exit "$failed"
