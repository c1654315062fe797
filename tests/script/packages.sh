#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packages of `make deb` in a clean Debian root (tools/check-packages). It takes minutes, root
# and mmdebstrap, so with OCHE_LONG=yes only. Environment: BUILD, SOURCE.
set -eu
[ "${OCHE_LONG:-}" = yes ] || { echo "with OCHE_LONG=yes only"; exit 77; }
exec "$SOURCE/tools/check-packages"
