"""Pages that stand before the site's own: firewalls, script challenges, captchas. Recognised, never stored as text."""

from __future__ import annotations

import re

# Marks that only such pages hold; each line is one product. Every mark of a line must be there.
_SCRIPTED = (
    (b"arg1", b"renderData"),  # Alibaba Cloud's, on shui5.cn
    (b"acw_sc__v2",),
    (b"__jsl_clearance",),  # Knownsec
    (b"$_ts=window['$_ts']",),  # RiverSecurity
    (b"cf-chl-",),  # Cloudflare
    (b"/cdn-cgi/challenge-platform/",),
    (b"WAF", b"captcha", b"<script"),
)
_STATUS = {412: "a script challenge (412)", 521: "a script challenge (521)"}
# Words that an article may hold as well: they count on a page of a few lines only.
_WORDS = re.compile(
    r"访问过于频繁|请求过于频繁|您的?(?:访问|请求)(?:被|已被)(?:拦截|阻断|拒绝|限制)|请(?:输入|完成|通过)(?:验证码|安全验证|人机验证)"
    r"|安全验证|人机验证|网站防火墙|创宇盾|云锁|安全狗|Access Denied|Just a moment|Checking your browser",
    re.IGNORECASE,
)
_SHORT = 300
_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]+>", re.IGNORECASE | re.DOTALL)


def barrier(data: bytes, status: int = 200) -> str:
    """What kind of barrier the answer is, or empty for a page of the site."""
    if status in _STATUS:
        return _STATUS[status]
    head = data[:200_000]
    if any(all(mark in head for mark in marks) for marks in _SCRIPTED):
        return "a script challenge"
    if len(data) > 20_000:
        return ""
    text = " ".join(_TAGS.sub(" ", _lenient(data)).split())
    return "a page that refuses robots" if len(text) <= _SHORT and _WORDS.search(text) else ""


def _lenient(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("gb18030", errors="replace")
