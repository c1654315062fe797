# SPDX-License-Identifier: Apache-2.0
1 0
64 30
1024 50
1025 60
30000 100
