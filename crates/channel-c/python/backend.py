"""Builds the wheel with only the tools of the repository: `pip wheel crates/channel-c/python`, or `pip install` of it.

A wheel is a zip archive. Cargo builds the library in it, unless FURLONG_CHANNEL_LIBRARY names a built library.
"""

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def built_library():
    """Returns the path of the shared library."""
    if given := os.environ.get("FURLONG_CHANNEL_LIBRARY"):
        return Path(given)
    build = ["cargo", "build", "--release", "--locked", "-p", "furlong-channel-c", "--message-format", "json"]
    output = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(re.findall(r'"([^"]*libfurlong_channel_c\.so)"', output)[-1])


def tag(library):
    """Returns the tag of the wheel: the oldest glibc that has all symbols of the library."""
    machine = re.sub(r"\W", "_", sysconfig.get_platform().removeprefix("linux-"))
    versions = [tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)]
    system = "manylinux_{}_{}".format(*max(versions)) if versions else "linux"
    return f"py3-none-{system}_{machine}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into a directory, and returns its name. The same source yields the same bytes."""
    library = built_library().read_bytes()
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    about, wheel_tag = f"furlong_channel-{version}.dist-info", tag(library)
    metadata = f"""Metadata-Version: 2.4
Name: furlong-channel
Version: {version}
Summary: Messages between two processes through shared memory
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in (HERE / "furlong_channel").glob("*.py*")}
    files["furlong_channel/libfurlong_channel.so"] = library
    files[f"{about}/METADATA"] = metadata.encode() + (HERE.parent / "README.md").read_bytes()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: furlong\nRoot-Is-Purelib: false\nTag: {wheel_tag}\n".encode()
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{about}/licenses/{name}"] = (ROOT / name).read_bytes()
    digest = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=") for name, data in files.items()}
    record = "".join(f"{name},sha256={digest[name].decode()},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    name = f"furlong_channel-{version}-{wheel_tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            wheel.writestr(entry, data)
    return name
