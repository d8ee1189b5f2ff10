"""One stream of Arrow's IPC format in each direction of a UNIX socket."""

import pyarrow

import protocol
from arrow import SCHEMA, VERSIONS, batch_of, elements_of
from elements import Row, connect, gone


class ArrowSocket(Row):
    name = "tensors-arrow-socket"
    claims = {
        "summary": "an Arrow stream of record batches over a UNIX socket, through Python's buffered files",
        "patterns": Row.patterns,
    }
    versions = {**Row.versions, **VERSIONS}

    def open(self, set_up):
        self.sockets = connect(set_up)
        sinks = [socket.makefile("wb") for socket in self.sockets]
        writers = [(pyarrow.ipc.new_stream(sink, SCHEMA), sink) for sink in sinks]
        source, reader = self.sockets[0].makefile("rb"), None

        def send(message):
            batch = batch_of(message)
            for writer, sink in writers:
                writer.write_batch(batch)
                sink.flush()

        def receive():
            nonlocal reader
            try:
                # The schema comes with the first message.
                reader = reader or pyarrow.ipc.open_stream(source)
                return elements_of(reader.read_next_batch())
            except (StopIteration, pyarrow.ArrowInvalid):
                raise gone() from None

        return send, receive


if __name__ == "__main__":
    protocol.run(ArrowSocket)
