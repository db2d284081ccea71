"""One address a page: canonical forms, so that no page is asked for twice and no link trap loops."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import parse_qsl, quote, unquote, urldefrag, urlencode, urljoin, urlsplit, urlunsplit

_SAFE = "/~!$&'()*+,;=:@-._"  # RFC 3986: these stand in a path as they are (name$2.html)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def canonical(link: str, base: str) -> str:
    """The canonical absolute address of a link, or empty for what is no web page (mailto, javascript).

    Scheme and host in lower case, no default port, no fragment, dot segments and doubled slashes resolved, one
    percent encoding; query pairs without a value are dropped, repeated pairs collapse, keys are in order
    (``?q=&q=&q=`` is no query at all).
    """
    try:
        absolute, _ = urldefrag(urljoin(base, link.strip()))
        parts = urlsplit(absolute)
        port = parts.port
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.hostname:
        return ""
    host = parts.hostname.lower() + (f":{port}" if port and port != _DEFAULT_PORTS[scheme] else "")
    path = re.sub(r"/{2,}", "/", parts.path) or "/"
    resolved = posixpath.normpath(path)
    path = resolved + "/" if path.endswith("/") and resolved != "/" else resolved
    path = quote(unquote(path), safe=_SAFE)
    pairs = sorted(dict.fromkeys(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[1]))
    return urlunsplit((scheme, host, path, urlencode(pairs), ""))


def site_path(url: str) -> str:
    """The address relative to the site's root, without scheme, host and port: a document's origin."""
    parts = urlsplit(url)
    path = unquote(parts.path.lstrip("/")) or "index.html"
    return f"{path}?{parts.query}" if parts.query else path


def same_site(a: str, b: str) -> bool:
    """Whether two addresses are on the same host and port."""
    return urlsplit(a).netloc == urlsplit(b).netloc
