"""Arrow's IPC format in a memory-mapped file. The receiver reads the record batches there, without a copy."""

import os

import pyarrow

import protocol
from arrow import SCHEMA, VERSIONS, batch_of, elements_of
from elements import Row
from slots import PAGE, Slots, need_room


class ArrowFile(Slots):
    name = "tensors-arrow-file"
    claims = {
        "summary": "an Arrow stream per record batch in a memory-mapped file, announced by a byte over a UNIX socket",
        "patterns": Row.patterns,
    }
    versions = {**Row.versions, **VERSIONS}
    framing = PAGE

    def map(self, set_up, size):
        self.path = os.path.join(set_up.folder, "batches")
        if set_up.role == "initiator":
            need_room(set_up.folder, size)
            self.file = pyarrow.create_memory_map(self.path, size)
        else:
            self.file = pyarrow.memory_map(self.path, "r+")

    def unlink(self):
        os.unlink(self.path)

    def put(self, at, message):
        self.file.seek(at)
        with pyarrow.ipc.new_stream(self.file, SCHEMA) as stream:
            stream.write_batch(batch_of(message))

    def get(self, at, _size):
        self.file.seek(at)
        return elements_of(pyarrow.ipc.open_stream(self.file).read_next_batch())


if __name__ == "__main__":
    protocol.run(ArrowFile)
