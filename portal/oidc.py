"""Signing in with an account elsewhere: OpenID Connect, the authorization code flow with PKCE.

The provider's word is taken for who somebody is elsewhere, never for who they are here: a subject signs in the person
to whom it was linked (by the person, signed in; by an invitation; by an admin who named a verified e-mail address).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

SECONDS = 10.0
"""How long the provider may take to answer."""

KEPT_SECONDS = 3600.0
"""How long its addresses and keys are kept."""

ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Signatures that are taken; never ``none``, never one made with the client's own secret."""


class ProviderError(ValueError):
    """The provider cannot be reached, or what it says does not hold."""


@dataclass(frozen=True)
class Account:
    """Somebody elsewhere. ``email`` is lower case, and empty where the provider does not vouch for it."""

    issuer: str
    subject: str
    email: str


@dataclass(frozen=True)
class Started:
    """What has to be known again when the provider sends the browser back."""

    address: str
    state: str
    nonce: str
    verifier: str


@dataclass
class Provider:
    """An OpenID Connect provider as this portal's settings name it.

    Attributes:
        issuer: its address; ``/.well-known/openid-configuration`` under it says the rest.
        title: what the button says.
    """

    issuer: str
    client_id: str
    client_secret: str
    title: str
    _known: dict[str, Any] = field(default_factory=dict)
    _keys: dict[str, Any] = field(default_factory=dict)
    _read_at: float = 0.0

    @property
    def origin(self) -> str:
        """Where a form that links an account leads in the end; browsers want to know beforehand."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc}"

    def start(self, redirect_uri: str) -> Started:
        """Where to send the browser, with fresh secrets.

        Raises:
            ProviderError: the provider cannot be reached.
        """
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]

        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        with self._client(redirect_uri) as client:
            address, _ = client.create_authorization_url(
                self._configuration()["authorization_endpoint"],
                state=state,
                nonce=nonce,
                code_challenge=create_s256_code_challenge(verifier),
                code_challenge_method="S256",
            )
        return Started(address, state, nonce, verifier)

    def finish(self, redirect_uri: str, code: str, nonce: str, verifier: str) -> Account:
        """Who the provider says has signed in.

        Args:
            redirect_uri: the same as at the start.
            code: what the provider sent the browser back with.
            nonce: of ``Started``; the identity token must carry it.
            verifier: of ``Started``; proves that the same browser's portal asks.

        Raises:
            ProviderError: the code or the identity token does not hold.
        """
        from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]

        try:
            with self._client(redirect_uri) as client:
                token = client.fetch_token(
                    self._configuration()["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                )
        except (OAuthError, httpx.HTTPError, ValueError) as error:
            raise ProviderError(f"{self.issuer} refused the code: {error}") from error
        return self._account(str(token.get("id_token", "")), nonce)

    def _account(self, id_token: str, nonce: str) -> Account:
        claims = self._claims(id_token, nonce)
        subject = str(claims.get("sub", ""))
        if not subject or subject.startswith(EMAIL):
            raise ProviderError(f"{self.issuer} names nobody")
        email = str(claims.get("email", "")).strip().lower() if claims.get("email_verified") is True else ""
        return Account(self.issuer, subject, email)

    def _claims(self, id_token: str, nonce: str) -> Mapping[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError

        registry = jwt.JWTClaimsRegistry(
            leeway=60,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self.client_id},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        for fresh in (False, True):
            # An unknown key may be a new one: the provider is asked once more.
            try:
                claims = jwt.decode(id_token, self._key_set(fresh), algorithms=ALGORITHMS).claims
                registry.validate(claims)
            except (JoseError, ValueError) as error:
                if fresh:
                    raise ProviderError(f"The identity token of {self.issuer} does not hold: {error}") from error
            else:
                return claims
        raise ProviderError(f"The identity token of {self.issuer} does not hold")

    def _client(self, redirect_uri: str) -> Any:
        from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]

        return OAuth2Client(
            self.client_id,
            self.client_secret,
            scope="openid email",
            redirect_uri=redirect_uri,
            token_endpoint_auth_method="client_secret_basic" if self.client_secret else "none",
            timeout=SECONDS,
        )

    def _configuration(self, fresh: bool = False) -> dict[str, Any]:
        if fresh or not self._known or time.monotonic() - self._read_at > KEPT_SECONDS:
            known = _get(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if known.get("issuer") != self.issuer:
                raise ProviderError(f"{self.issuer} calls itself {known.get('issuer')!r}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                must_be_safe(str(known.get(name, "")))
            self._keys = _get(known["jwks_uri"])
            self._known, self._read_at = known, time.monotonic()
        return self._known

    def _key_set(self, fresh: bool) -> Any:
        from joserfc.jwk import KeySet

        self._configuration(fresh)
        return KeySet.import_key_set(self._keys)  # type: ignore[arg-type]


EMAIL = "email:"
"""Begins the subject under which an admin links an address, before the provider's own subject is known."""


def email_subject(email: str) -> str:
    """The stand-in of a subject of which only the verified e-mail address is known."""
    return EMAIL + email.strip().lower()


def must_be_safe(address: str) -> None:
    """Refuse an address that secrets must not be sent to.

    Raises:
        ProviderError: neither HTTPS nor this machine.
    """
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        raise ProviderError(f"{address!r} is not an HTTPS address")


def _get(address: str) -> dict[str, Any]:
    must_be_safe(address)
    try:
        reply = httpx.get(address, timeout=SECONDS)
        reply.raise_for_status()
        found = reply.json()
    except (httpx.HTTPError, ValueError) as error:
        raise ProviderError(f"{address} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ProviderError(f"{address} is no JSON object")
    return found


def provider_from(environment: Mapping[str, str]) -> Provider | None:
    """The provider that the environment names (it holds a credential); None where it names none.

    ``TAXPRABEN_OIDC_ISSUER``, ``TAXPRABEN_OIDC_CLIENT_ID``, ``TAXPRABEN_OIDC_CLIENT_SECRET``, and for the button
    ``TAXPRABEN_OIDC_TITLE``.

    Raises:
        ProviderError: an issuer without a client, or one that is no HTTPS address.
    """
    issuer = environment.get("TAXPRABEN_OIDC_ISSUER", "")
    if not issuer:
        return None
    must_be_safe(issuer)
    client_id = environment.get("TAXPRABEN_OIDC_CLIENT_ID", "")
    if not client_id:
        raise ProviderError("TAXPRABEN_OIDC_ISSUER is set but TAXPRABEN_OIDC_CLIENT_ID is not")
    title = environment.get("TAXPRABEN_OIDC_TITLE", "") or urlsplit(issuer).hostname or issuer
    return Provider(issuer, client_id, environment.get("TAXPRABEN_OIDC_CLIENT_SECRET", ""), title)
