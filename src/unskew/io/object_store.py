"""Object stores: addresses (``s3://bucket/prefix?option=value``), connections, errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl

from unskew.core.errors import UnskewError

SCHEMES = ("s3", "gs")
OPTIONS = ("endpoint_override", "scheme", "region")  # of S3; pyarrow has the same
# A store that takes a connection and never answers costs a quarter of a minute.
TRIES, CONNECT_SECONDS, ANSWER_SECONDS = 3, 3, 5
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://|(s3|gs):/")
_FAULT = re.compile(
    r"AWS Error (?P<code>\w+)|google::cloud::Status\((?P<status>\w+)|Bucket '.*' not found"
)
_DETAIL = re.compile(
    r" operation: (?!No response body)(?P<detail>.+?)(; Details|\.? \(Request|\.?$)"
)
_CREDENTIALS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_STEPS = {
    "NO_SUCH_BUCKET": "make the bucket first, or check its name",
    "NETWORK_CONNECTION": "check the network and AWS_ENDPOINT_URL, and run the same command again",
    "ACCESS_DENIED": f"{_CREDENTIALS}, and what they may do",
    "INVALID_ACCESS_KEY_ID": _CREDENTIALS,
    "SIGNATURE_DOES_NOT_MATCH": _CREDENTIALS,
}
# What to do about addresses that are not read.
_WEB = "download the file first, and give its path"
_INSTEAD = {"http": _WEB, "https": _WEB, "ftp": _WEB, "file": "give the path alone: {}"}


@dataclass(frozen=True)
class Address:
    """The parts of an address."""

    scheme: str
    key: str  # bucket/prefix
    options: str  # with the question mark


def is_address(where: object) -> bool:
    """Whether this is an address, not a path; ``Path`` makes one slash of the two."""
    return _ADDRESS.match(str(where)) is not None


def on_disk(path: PurePath) -> None:
    """Refuse an address where only a file of this machine can be written."""
    if is_address(path):
        raise UnskewError(f"{path} is no path of this machine; write a file here, then copy it")


def read_address(text: str) -> Address:
    """Return the parts of an address; refuse a wrong one."""
    scheme, bar, rest = text.partition("://")
    scheme = scheme.lower()
    if bar and scheme not in SCHEMES:
        step = _INSTEAD.get(scheme, "give a folder, or s3://bucket/prefix").format(rest)
        raise UnskewError(f"{text} is of no known kind; {step}")
    path, mark, query = rest.partition("?")
    parts = [part for part in path.split("/") if part]
    if "@" in path.partition("/")[0]:  # the message does not repeat it: it may be a password
        raise UnskewError(
            f"there is an @ in the bucket of a {scheme}:// address, which would be written down; "
            "give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    if path.startswith("/") or not parts or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", parts[0]):
        raise UnskewError(f"{text} names no bucket; write it as s3://bucket/prefix")
    for name, value in parse_qsl(query, keep_blank_values=True):
        if scheme != "s3" or name not in OPTIONS or not value:
            raise UnskewError(
                f"{text} has {name}={value}; s3:// takes values for {', '.join(OPTIONS)}"
            )
    return Address(scheme, "/".join(parts), mark + query)


def connect(address: Address) -> Any:
    """Return the pyarrow file system of a store. It finds the credentials by itself."""
    from pyarrow import fs

    bucket = address.key.partition("/")[0]
    if address.scheme == "gs":
        limit = f"retry_limit_seconds={ANSWER_SECONDS}"
        return fs.FileSystem.from_uri(f"gs://{bucket}?{limit}")[0]
    options = dict(parse_qsl(address.options.removeprefix("?")))
    by_environment = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    endpoint = options.get("endpoint_override") or by_environment or ""
    scheme, _, host = endpoint.rpartition("://")
    scheme = (options.get("scheme") or scheme).lower()
    if scheme not in ("", "http", "https"):
        raise UnskewError(f"s3://{address.key} is to be asked by {scheme!r}; give http or https")
    region = options.get("region")
    if region is None and not endpoint:
        region = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(
        endpoint_override=host.rstrip("/") or None,
        scheme=scheme or None,
        region=region,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=ANSWER_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
    )


@contextmanager
def store_errors(path: object) -> Iterator[None]:
    """Turn the errors of a store into one line; other errors stay as they are."""
    try:
        yield
    except OSError as error:
        fault = _FAULT.search(str(error))
        if fault is None:
            raise
        code = fault["code"] or fault["status"] or "NO_SUCH_BUCKET"
        other = "the network and GOOGLE_APPLICATION_CREDENTIALS" if fault["status"] else "the store"
        step = _STEPS.get(code, f"check the address, {other}")
        reason = _DETAIL.search(str(error))
        detail = f" ({reason['detail']})" if reason else ""
        raise UnskewError(f"{path}: {code.lower().replace('_', ' ')}{detail}; {step}") from error
