"""The API's OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response

router = APIRouter()

SCHEMA = "/api/openapi.json"


@router.get(SCHEMA, name="api_schema", include_in_schema=False)
def api_schema(request: Request) -> Response:
    """The OpenAPI document of everything under ``/api``."""
    return JSONResponse(request.app.state.api_schema)


def describe(routes: list[APIRoute]) -> dict[str, Any]:
    """The document of some routes: each wants a bearer token."""
    schema = get_openapi(
        title="TaxPraBen review API",
        version="1",
        description="The acts of the review pages for programs. Make a token in the portal's settings.",
        routes=routes,
    )
    schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schema["security"] = [{"token": []}]
    return schema
