"""FastMCP's proxy of the servers of one configuration, over standard input and output."""

import json
import sys

from fastmcp.server import create_proxy

create_proxy(json.loads(sys.argv[1]), name="proxy").run(transport="stdio", show_banner=False, log_level="CRITICAL")
