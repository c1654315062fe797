# SPDX-License-Identifier: Apache-2.0
"""What runs inside the virtual machine of vm.py: takes commands from a serial port, a line of JSON
each, runs them side by side, and sends back what they print and how they end.

    {"id": 1, "run": TEXT, "folder": PATH, "environment": {…}}    a shell's command
    {"id": 1, "signal": 9}                        for it and what it has started
    {"id": 1, "said": TEXT}                       bytes as latin-1
    {"id": 1, "status": 0}                        below 0: ended by that signal
"""
import json
import os
import subprocess
import sys
import threading


class Agent:
    def __init__(self, port):
        self.port = os.open(port, os.O_RDWR)
        self.lock = threading.Lock()
        self.running = {}

    def tell(self, **facts):
        line = json.dumps(facts).encode() + b"\n"
        with self.lock:
            while line:
                line = line[os.write(self.port, line):]

    def follow(self, number, process):
        while True:
            said = os.read(process.stdout.fileno(), 16384)
            if not said:
                break
            self.tell(id=number, said=said.decode("latin-1"))
        process.stdout.close()
        status = process.wait()
        del self.running[number]
        self.tell(id=number, status=status)

    def start(self, number, command, folder, environment):
        process = subprocess.Popen(["/bin/sh", "-c", command], env={**os.environ, **environment},
                                   cwd=folder if os.path.isdir(folder) else "/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        self.running[number] = process
        threading.Thread(target=self.follow, args=(number, process), daemon=True).start()

    def take(self, asked):
        number = asked["id"]
        if "run" in asked:
            self.start(number, asked["run"], asked["folder"], asked["environment"])
        elif number in self.running:
            try:
                os.killpg(self.running[number].pid, asked["signal"])
            except ProcessLookupError:
                pass

    def run(self):
        self.tell(id=0, said="ready")
        rest = b""
        while True:
            rest += os.read(self.port, 16384)
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self.take(json.loads(line))


if __name__ == "__main__":
    Agent(sys.argv[1]).run()
