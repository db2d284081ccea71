"""Ways in beside a password, and limits on trying."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from queue_samples import Clock
from sqlalchemy import select

from taxpraben.queue.accounts import (
    accept_invitation,
    accept_invitation_by_identity,
    api_tokens,
    end_sessions,
    find_api_token,
    find_identity,
    find_invitation,
    invitations,
    invite,
    link_identity,
    make_api_token,
    revoke_api_token,
    revoke_invitation,
    set_role,
)
from taxpraben.queue.attempts import blocked, note_attempt
from taxpraben.queue.people import create_person, find_session, leave, open_session, verify
from taxpraben.queue.states import NotFoundError, QueueError
from taxpraben.queue.store import Queue, open_queue
from taxpraben.queue.tables import ApiToken, Invitation


def test_an_invitation_lets_somebody_in_once(queue: Queue) -> None:
    token = invite(queue, "a01", "annotator", "admin")
    assert accept_invitation(queue, token, "long enough").role == "annotator"
    assert verify(queue, "a01", "long enough") is not None
    with pytest.raises(NotFoundError):
        accept_invitation(queue, token, "long enough")
    assert find_invitation(queue, token) is None


@pytest.mark.parametrize("end", ["time", "revoked", "newer"])
def test_an_invitation_ends_by_time_by_revoking_and_by_a_newer_one(queue: Queue, clock: Clock, end: str) -> None:
    token = invite(queue, "a01", "annotator", "admin", hours=1)
    ends: dict[str, Callable[[], object]] = {
        "time": lambda: clock.move(61),
        "revoked": lambda: revoke_invitation(queue, invitations(queue)[0].token_id, "admin"),
        "newer": lambda: invite(queue, "a01", "checker", "admin"),
    }
    ends[end]()
    with pytest.raises(NotFoundError, match="ended"):
        accept_invitation(queue, token, "long enough")


def test_of_secrets_only_hashes_are_kept(queue: Queue) -> None:
    create_person(queue, "a01", "annotator", "long enough")
    invited, token = invite(queue, "a02", "annotator", "admin"), make_api_token(queue, "a01", "脚本", "read", "a01")
    with queue.read() as session:
        kept = [*session.scalars(select(Invitation.token_hash)), *session.scalars(select(ApiToken.token_hash))]
    assert all(secret not in kept for secret in (invited, token))
    assert {len(each) for each in kept} == {64}


def test_a_token_holds_until_it_ends_is_revoked_or_its_owner_leaves(queue: Queue, clock: Clock) -> None:
    create_person(queue, "a01", "annotator", "long enough")
    first = make_api_token(queue, "a01", "甲", "write", "a01", days=1)
    second = make_api_token(queue, "a01", "乙", "read", "a01", days=30)
    found = find_api_token(queue, first)
    assert found is not None
    assert (found.member.name, found.scope) == ("a01", "write")
    assert {token.label: bool(token.last_used_at) for token in api_tokens(queue)} == {"甲": True, "乙": False}
    clock.move(60 * 24 + 1)
    assert find_api_token(queue, first) is None
    other = find_api_token(queue, second)
    assert other is not None
    with pytest.raises(NotFoundError):
        revoke_api_token(queue, other.token_id, "a02", name="a02")  # not theirs
    third = make_api_token(queue, "a01", "丙", "read", "a01")
    revoke_api_token(queue, other.token_id, "a01", name="a01")
    assert find_api_token(queue, second) is None
    leave(queue, "a01")
    assert find_api_token(queue, third) is None
    assert find_api_token(queue, "tpb_nonsense") is None


def test_an_account_elsewhere_signs_one_person_in(queue: Queue) -> None:
    token = invite(queue, "a01", "annotator", "admin")
    accept_invitation_by_identity(queue, token, "https://id.example", "42", "a@example.org")
    member = find_identity(queue, "https://id.example", "42")
    assert member is not None
    assert member.name == "a01"
    assert verify(queue, "a01", "") is None  # no password
    create_person(queue, "a02", "annotator", "long enough")
    with pytest.raises(QueueError, match="somebody else"):
        link_identity(queue, "https://id.example", "42", "a02", "a@example.org", "admin")
    assert find_identity(queue, "https://id.example", "43") is None


def test_an_invitation_is_not_used_up_where_the_account_belongs_to_somebody(queue: Queue) -> None:
    create_person(queue, "a02", "annotator", "long enough")
    link_identity(queue, "https://id.example", "42", "a02", "a@example.org", "admin")
    token = invite(queue, "a01", "annotator", "admin")
    with pytest.raises(QueueError, match="somebody else"):
        accept_invitation_by_identity(queue, token, "https://id.example", "42", "a@example.org")
    assert find_invitation(queue, token) is not None


def test_who_fails_too_often_waits_in_every_process(queue: Queue, clock: Clock, url: str) -> None:
    other = open_queue(url, clock)  # another worker of the portal
    for _ in range(8):
        assert blocked(other, "a01", "10.0.0.1") == 0
        note_attempt(queue, "a01", "10.0.0.1", succeeded=False)
    assert blocked(other, "a01", "10.0.0.2") == pytest.approx(10)
    assert blocked(other, "a02", "10.0.0.1") == 0
    clock.move(4)
    assert blocked(other, "a01", "10.0.0.2") == pytest.approx(6)
    clock.move(7)
    assert blocked(other, "a01", "10.0.0.2") == 0
    other.close()


def test_an_address_that_tries_many_names_waits_and_a_success_forgets_the_names_failures_only(queue: Queue) -> None:
    for number in range(40):
        note_attempt(queue, f"a{number:02d}", "10.0.0.1", succeeded=False)
    note_attempt(queue, "a07", "10.0.0.1", succeeded=True)
    assert blocked(queue, "b01", "10.0.0.1") > 0
    assert blocked(queue, "a07", "10.0.0.2") == 0


def test_a_role_holds_at_once_and_the_last_admin_stays(queue: Queue) -> None:
    create_person(queue, "boss", "admin", "long enough")
    create_person(queue, "a01", "annotator", "long enough")
    session = open_session(queue, "a01")
    set_role(queue, "a01", "checker", "boss")
    found = find_session(queue, session)
    assert found is not None
    assert found.member.role == "checker"
    with pytest.raises(QueueError, match="last admin"):
        set_role(queue, "boss", "expert", "boss")
    with pytest.raises(QueueError, match="last admin"):
        leave(queue, "boss")
    assert end_sessions(queue, "a01", "boss") == 1
    assert find_session(queue, session) is None
