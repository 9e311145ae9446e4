"""The descriptors of a gateway that is a client's subprocess: 0 and 1 belong to the protocol alone (rule M7).

This imports nothing of the SDK, so that it can be done before anything else is imported.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class ProtocolStreams:
    """Descriptors that only the protocol uses.

    Attributes:
        received: What the client writes.
        sent: What the client reads.
    """

    received: int
    sent: int


def claim_standard_streams() -> ProtocolStreams:
    """Keep standard input and output for the protocol: from now on, a print goes to standard error, and a read ends.

    To be called before code of others is imported, whose prints would break the protocol.
    """
    sys.stdout.flush()
    streams = ProtocolStreams(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return streams
