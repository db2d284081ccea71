"""A small OpenID Connect provider on the loopback address; it signs in whom it is told to, or misbehaves."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Form, Header, HTTPException, Request
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.responses import RedirectResponse

CLIENT, SECRET = "portal", "client secret"


@dataclass
class Provider:
    """Its state: who signs in next, and what it was asked.

    Attributes:
        claims: put over the right claims of the next identity token.
        codes: by code, what the authorization request asked for.
    """

    issuer: str
    subject: str = "subject-1"
    email: str = "ann@example.org"
    verified: bool = True
    claims: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    signs_with: RSAKey | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)


def provider_app(provider: Provider) -> FastAPI:
    """The provider as a web application."""
    app = FastAPI()

    @app.get("/.well-known/openid-configuration")
    def configuration() -> dict[str, str]:
        return {
            "issuer": provider.issuer,
            "authorization_endpoint": f"{provider.issuer}/authorize",
            "token_endpoint": f"{provider.issuer}/token",
            "jwks_uri": f"{provider.issuer}/keys",
        }

    @app.get("/keys")
    def keys() -> dict[str, Any]:
        return {"keys": [provider.key.as_dict(private=False)]}

    @app.get("/authorize")
    def authorize(request: Request) -> RedirectResponse:
        asked = dict(request.query_params)
        code = secrets.token_urlsafe(8)
        provider.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    @app.post("/token")
    def token(
        code: str = Form(), redirect_uri: str = Form(), code_verifier: str = Form(), authorization: str = Header()
    ) -> dict[str, Any]:
        asked = provider.codes.pop(code, None)
        digest = base64.urlsafe_b64encode(hashlib.sha256(code_verifier.encode()).digest()).rstrip(b"=").decode()
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if (
            asked is None
            or asked["code_challenge_method"] != "S256"
            or asked["code_challenge"] != digest
            or asked["redirect_uri"] != redirect_uri
            or authorization != f"Basic {known}"
        ):
            raise HTTPException(400, "invalid_grant")
        now = int(time.time())
        claims = {
            "iss": provider.issuer,
            "aud": CLIENT,
            "sub": provider.subject,
            "email": provider.email,
            "email_verified": provider.verified,
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 300,
            **provider.claims,
        }
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, provider.signs_with or provider.key)
        return {"access_token": "x", "token_type": "Bearer", "id_token": signed}

    return app
