"""Sends events with the PyPI package `cloudevents` to a URL, with a key: one in binary mode, one structured, and a batch; prints the answers."""

import sys
import urllib.request

from cloudevents.core.bindings.http import HTTPMessage, to_binary, to_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

FORMAT = JSONFormat()


def event(number, name):
    attributes = {"id": f"e-{number}", "source": "/päckage", "type": name, "specversion": "1.0", "subject": "77"}
    return CloudEvent(attributes=attributes | {"datacontenttype": "application/json"}, data={"n": number})


def send(message):
    headers = dict(message.headers) | {"Authorization": f"Bearer {sys.argv[2]}"}
    with urllib.request.urlopen(urllib.request.Request(sys.argv[1], message.body, headers)) as answer:
        print(answer.read().decode())


send(to_binary(event(1, "workflow.started"), FORMAT))
send(to_structured(event(2, "step.exit"), FORMAT))
batch = b"[" + b",".join(FORMAT.write(event(n, name)) for n, name in [(3, "step.exit"), (4, "workflow.completed")]) + b"]"
send(HTTPMessage({"content-type": "application/cloudevents-batch+json"}, batch))
