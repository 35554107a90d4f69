"""Reads CloudEvents with the PyPI package and writes each again in every mode: a message a line, in and out."""

import base64
import json
import sys

from cloudevents.core.bindings.http import HTTPMessage, from_binary, from_structured, to_binary, to_structured
from cloudevents.core.formats.json import JSONFormat

FORMAT = JSONFormat()
BATCH = "application/cloudevents-batch+json"


def read(message):
    """The events of a message; the package has no batches, so they are its single events in a list."""
    content_type = message.headers.get("content-type", "")
    if content_type.startswith("application/cloudevents-batch"):
        return [FORMAT.read(None, json.dumps(event)) for event in json.loads(message.body)]
    if content_type.startswith("application/cloudevents"):
        return [from_structured(message, FORMAT)]
    return [from_binary(message, FORMAT)]


def write(events):
    for event in events:
        yield to_binary(event, FORMAT)
        yield to_structured(event, FORMAT)
    batch = b"[" + b",".join(FORMAT.write(event) for event in events) + b"]"
    yield HTTPMessage({"content-type": BATCH}, batch)


for line in sys.stdin:
    given = json.loads(line)
    message = HTTPMessage(dict(given["headers"]), base64.b64decode(given["body"]))
    answers = write(read(message))
    print(json.dumps([[list(a.headers.items()), base64.b64encode(a.body).decode()] for a in answers]))
