"""Record batches of Apache Arrow with one column, as streams of its IPC format."""

import pyarrow

SCHEMA = pyarrow.schema([("elements", pyarrow.uint8())])
VERSIONS = {"pyarrow": pyarrow.__version__}


def batch_of(message):
    """A record batch on the memory of the message."""
    column = pyarrow.Array.from_buffers(pyarrow.uint8(), len(message), [None, pyarrow.py_buffer(message)])
    return pyarrow.record_batch([column], schema=SCHEMA)


def elements_of(batch):
    """The column as an array, without a copy."""
    return batch.column(0).to_numpy()
