"""Runs furlong in a pseudo-terminal of 80 columns and 24 lines: END, then furlong's words. Prints one JSON object."""
import fcntl, json, os, pty, re, select, signal, struct, subprocess, sys, termios, time

end, words = sys.argv[1], sys.argv[2:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
before = termios.tcgetattr(slave)


def own_terminal():
    # A shell in the background has its children ignore this signal.
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


furlong = subprocess.Popen(
    words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=own_terminal)
text = ""


def read_until(condition):
    global text
    limit = time.monotonic() + 30
    while not condition():
        if time.monotonic() > limit:
            furlong.kill()
            sys.exit("the terminal shows " + repr(text[-3000:]))
        if select.select([master], [], [], 0.05)[0]:
            text += os.read(master, 65536).decode("utf-8", "replace")


def press(key, shown):
    os.write(master, key.encode())
    seen = len(text)
    read_until(lambda: shown in text[seen:])


read_until(lambda: "\x1b[?1049h" in text)
read_until(lambda: len(re.findall("furlong observe: [1-9]", text)) > 1)
raw = termios.tcgetattr(slave)
if end == "keys":
    press("r", "[r] rate")
    press("l", "[l] latency")
    press("c", "[c] CPU")
    os.write(master, b"q")
elif end == "control-c":
    os.write(master, b"\x03")
elif end == "close":
    os.close(slave)
    os.close(master)
else:
    furlong.send_signal(getattr(signal, end))
if end == "close":
    furlong.wait(30)
    print(json.dumps({"code": furlong.returncode}))
    sys.exit()
read_until(lambda: furlong.poll() is not None and "\x1b[?1049l" in text)
limit = time.monotonic() + 10
while termios.tcgetattr(slave) != before and time.monotonic() < limit:
    time.sleep(0.01)
frames = [frame.split("\x1b[?25h")[0] for frame in text.split("\x1b[H")[1:]]
lines = [line for frame in frames for line in re.split("\r+\n", frame.replace("\x1b[J", "").replace("\x1b[K", ""))]
print(json.dumps({
    "code": furlong.returncode,
    "is_restored": termios.tcgetattr(slave) == before and raw != before,
    "is_first_screen": text.rindex("\x1b[?1049l") > text.rindex("\x1b[?1049h") and "\x1b[?25h" in text,
    "most_lines": max(frame.count("\n") + 1 for frame in frames),
    "most_columns": max(map(len, lines)),
    "controls": [line for line in lines if re.search("[\x00-\x1f\x7f]", line)],
    "last": frames[-1],
}))
