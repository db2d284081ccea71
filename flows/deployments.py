"""What runs unattended: the lifecycle after the last decision, a look at the queue, new models every night."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from prefect import serve
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.events import DeploymentEventTrigger
from prefect.schedules import Cron, Interval

from flows.lifecycle import lifecycle
from flows.new_models import new_models
from flows.review_round import review_round
from taxpraben.queue.events import COMPLETED

LOOK_AT_QUEUE = timedelta(minutes=1)
NEW_MODELS_AT = "30 1 * * *"


def deployments(root: Path) -> list[Any]:
    """The deployments of a workspace.

    The lifecycle runs one at a time: a second trigger while it runs is turned away, for the run in progress sees the
    same decisions, and DVC allows one `dvc repro` in a workspace.
    """
    parameters = {"root": str(root.resolve())}
    return [
        lifecycle.to_deployment(
            name="after-review",
            parameters=parameters,
            triggers=[DeploymentEventTrigger(name="review completed", expect={COMPLETED}, parameters=parameters)],
            concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        ),
        review_round.to_deployment(name="look-at-queue", parameters=parameters, schedule=Interval(LOOK_AT_QUEUE)),
        new_models.to_deployment(name="nightly", parameters=parameters, schedule=Cron(NEW_MODELS_AT)),
    ]


def serve_all(root: Path) -> None:
    """Serve the deployments from this process until it is stopped."""
    serve(*deployments(root), print_starting_message=True)
