"""One address a page: canonical forms, so that no page is asked for twice and no link trap loops."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urldefrag, urlencode, urljoin, urlsplit, urlunsplit

_SAFE = "/~!$&'()*+,;=:@-._"  # RFC 3986: these stand in a path as they are (name$2.html)
_DEFAULT_PORTS = {"http": 80, "https": 443}
# What tells visits apart and not pages: sessions, campaigns, cache breakers.
_VISIT = re.compile(r"utm_\w+|spm|jsessionid|phpsessid|sessionid|random|_t|timestamp|_", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_DATE_TAIL = re.compile(
    r"^(.*?)/(?:(?:19|20)\d{2}[-_/]\d{1,2}(?:[-_/]\d{1,2})?(?:/|\.html?|/index\.html?)?"
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:\d{2})?/(?:index\.html?)?)$"
)


@dataclass(frozen=True)
class Link:
    """Something to ask for.

    Attributes:
        url: canonical address.
        text: the link's text.
        form: fields of a POST request, in order; empty for GET.
        listing: a further page of a list: no query cap holds for it, it is as deep as the list, and a 404 ends the
            list instead of being a fault.
    """

    url: str
    text: str = ""
    form: tuple[tuple[str, str], ...] = ()
    listing: bool = False

    def origin(self, root: str) -> str:
        """What identifies the page in a crawl: its path; the host before it where that is not the root's."""
        path = site_path(self.url)
        host = urlsplit(self.url).netloc
        if host != urlsplit(root).netloc:
            path = f"//{host}/{path}"
        return f"{path}#{urlencode(self.form)}" if self.form else path


def canonical(link: str, base: str) -> str:
    """The canonical absolute address of a link, or empty for what is no web page (mailto, javascript).

    Scheme and host in lower case, no default port, no fragment, dot segments and doubled slashes resolved, one
    percent encoding, no session; query pairs without a value or of a visit (utm_source, jsessionid) are dropped,
    repeated pairs collapse, keys are in order (``?q=&q=&q=`` is no query at all).
    """
    try:
        absolute, _ = urldefrag(urljoin(base, re.sub(r"[\r\n\t]", "", link.strip())))
        parts = urlsplit(absolute)
        port = parts.port
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.hostname:
        return ""
    host = parts.hostname.lower() + (f":{port}" if port and port != _DEFAULT_PORTS[scheme] else "")
    path = re.sub(r"/{2,}", "/", _SESSION_IN_PATH.sub("", parts.path)) or "/"
    resolved = posixpath.normpath(path)
    path = resolved + "/" if path.endswith("/") and resolved != "/" else resolved
    path = quote(unquote(path), safe=_SAFE)
    named = parse_qsl(parts.query, keep_blank_values=True)
    pairs = sorted(dict.fromkeys(pair for pair in named if pair[1] and not _VISIT.fullmatch(pair[0])))
    return urlunsplit((scheme, host, path, urlencode(pairs), ""))


def site_path(url: str) -> str:
    """The address relative to the site's root, without scheme, host and port: a document's origin."""
    parts = urlsplit(url)
    path = unquote(parts.path.lstrip("/")) or "index.html"
    return f"{path}?{parts.query}" if parts.query else path


def same_site(a: str, b: str) -> bool:
    """Whether two addresses are on the same host and port."""
    return urlsplit(a).netloc == urlsplit(b).netloc


def family(url: str) -> str:
    """What the address is one of endlessly many of, or empty: a path with a query, a folder of pages by date only.

    ``search?q=1`` belongs to ``search``; ``calendar/2031/05/`` belongs to ``calendar``. An article whose address
    goes on after the date (``art/2026/1/5/art_1_2.html``) belongs to none.
    """
    parts = urlsplit(url)
    if parts.query:
        return parts.path
    match = _DATE_TAIL.match(parts.path)
    return f"{match.group(1)}/(date)" if match else ""


def trap(url: str) -> str:
    """Why an address is no page of its own, or empty: folders that repeat, or an address of endless length."""
    steps = [step for step in urlsplit(url).path.split("/") if step]
    if any(steps.count(step) > 2 for step in set(steps) if not step.isdigit()):
        return "repeats a folder"
    return "is longer than 1,000 characters" if len(url) > 1000 else ""
