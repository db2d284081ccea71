"""Who may open what: one table of all routes. ``docs/portal.md`` shows it; a test walks it for every role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from taxpraben.queue.states import ROLES

NOBODY = ""
"""The role of who is not signed in."""

EVERYBODY = frozenset(ROLES) | {NOBODY}
SIGNED_IN = frozenset(ROLES)
CHECKERS = frozenset({"checker", "expert", "admin"})
EXPERTS = frozenset({"expert", "admin"})
ADMINS = frozenset({"admin"})


@dataclass(frozen=True)
class Rule:
    """Who may open a route, and how they prove who they are.

    Attributes:
        roles: who may; the empty role is who is not signed in.
        by: ``session``: a cookie, and with every change the session's own token (pages); ``token``: a bearer token
            (API).
        scope: what a token must allow; of no meaning for pages.
    """

    roles: frozenset[str]
    by: Literal["session", "token"] = "session"
    scope: Literal["read", "write"] = "read"


def _reads(roles: frozenset[str]) -> Rule:
    return Rule(roles, "token", "read")


def _writes(roles: frozenset[str]) -> Rule:
    return Rule(roles, "token", "write")


ACCESS: dict[str, Rule] = {
    # in and out
    "home": Rule(EVERYBODY),
    "sign_in": Rule(EVERYBODY),
    "sign_in_post": Rule(EVERYBODY),
    "invitation": Rule(EVERYBODY),
    "accept_invitation": Rule(EVERYBODY),
    "oidc_start": Rule(EVERYBODY),
    "oidc_back": Rule(EVERYBODY),
    "oidc_link": Rule(SIGNED_IN),
    "sign_out": Rule(SIGNED_IN),
    # an annotator's work
    "my_queue": Rule(SIGNED_IN),
    "take": Rule(SIGNED_IN),
    "next_piece": Rule(SIGNED_IN),
    "my_share": Rule(SIGNED_IN),
    "take_back_share": Rule(SIGNED_IN),
    "item": Rule(SIGNED_IN),
    "take_item": Rule(SIGNED_IN),
    "autosave": Rule(SIGNED_IN),
    "judge": Rule(SIGNED_IN),
    "comment": Rule(SIGNED_IN),
    "give_back": Rule(SIGNED_IN),
    "page_image": Rule(SIGNED_IN),
    "my_ratings": Rule(SIGNED_IN),
    "rate": Rule(SIGNED_IN),
    "rate_post": Rule(SIGNED_IN),
    # checkers and experts
    "checks": Rule(CHECKERS),
    "draw": Rule(CHECKERS),
    "close": Rule(CHECKERS),
    "check_item": Rule(CHECKERS),
    "check_piece": Rule(CHECKERS),
    "reopen": Rule(CHECKERS),
    "adopt": Rule(EXPERTS),
    "third_version": Rule(EXPERTS),
    "agreement": Rule(CHECKERS),
    "decisions_csv": Rule(CHECKERS),
    # to look at
    "progress": Rule(SIGNED_IN),
    "board": Rule(EVERYBODY),
    "quality": Rule(SIGNED_IN),
    # settings and people
    "settings": Rule(SIGNED_IN),
    "choose": Rule(EVERYBODY),
    "change_password": Rule(SIGNED_IN),
    "make_token": Rule(SIGNED_IN),
    "revoke_token": Rule(SIGNED_IN),
    "change_rules": Rule(ADMINS),
    "people": Rule(ADMINS),
    "invite": Rule(ADMINS),
    "revoke_invitation": Rule(ADMINS),
    "change_role": Rule(ADMINS),
    "link_email": Rule(ADMINS),
    "leave": Rule(ADMINS),
    "come_back": Rule(ADMINS),
    "hand_over": Rule(ADMINS),
    "log": Rule(ADMINS),
    # the API
    "api_schema": Rule(EVERYBODY),
    "api_me": _reads(SIGNED_IN),
    "api_works": _reads(SIGNED_IN),
    "api_claim": _writes(SIGNED_IN),
    "api_work": _reads(SIGNED_IN),
    "api_save": _writes(SIGNED_IN),
    "api_submit": _writes(SIGNED_IN),
    "api_skip": _writes(SIGNED_IN),
    "api_release": _writes(SIGNED_IN),
    "api_comments": _reads(SIGNED_IN),
    "api_comment": _writes(SIGNED_IN),
    "api_share": _reads(SIGNED_IN),
    "api_take_back_share": _writes(SIGNED_IN),
    "api_ratings": _reads(SIGNED_IN),
    "api_rate": _writes(SIGNED_IN),
    "api_progress": _reads(SIGNED_IN),
    "api_checks": _reads(CHECKERS),
    "api_check": _writes(CHECKERS),
    "api_agreement": _reads(CHECKERS),
    "api_decisions": _reads(CHECKERS),
    "api_settle": _writes(EXPERTS),
}
"""Route name -> rule. ``create_app`` refuses a route that is not in the table."""
