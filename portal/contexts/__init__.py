"""One typed context a template: what a page knows, and nothing else."""

from __future__ import annotations

from portal.contexts.base import ErrorPage, Page
from portal.contexts.checking import CheckItemPage, ChecksPage
from portal.contexts.overview import AgreementPage, BoardPage, ProgressPage, QualityPage
from portal.contexts.people import LogPage, PeoplePage, SettingsPage
from portal.contexts.rating import RatePage, RatingsPage
from portal.contexts.review import ConflictPage, ItemPage, QueuePage
from portal.contexts.signing import EndedPage, InvitationPage, SignInPage

PAGES: tuple[type[Page], ...] = (
    SignInPage,
    InvitationPage,
    EndedPage,
    ErrorPage,
    QueuePage,
    ItemPage,
    ConflictPage,
    RatingsPage,
    RatePage,
    ChecksPage,
    CheckItemPage,
    ProgressPage,
    AgreementPage,
    BoardPage,
    QualityPage,
    SettingsPage,
    PeoplePage,
    LogPage,
)

__all__ = [
    "PAGES",
    "AgreementPage",
    "BoardPage",
    "CheckItemPage",
    "ChecksPage",
    "ConflictPage",
    "EndedPage",
    "ErrorPage",
    "InvitationPage",
    "ItemPage",
    "LogPage",
    "Page",
    "PeoplePage",
    "ProgressPage",
    "QualityPage",
    "QueuePage",
    "RatePage",
    "RatingsPage",
    "SettingsPage",
    "SignInPage",
]
