"""Runs migrations on the connection that ``store.open_queue`` hands over."""

from alembic import context

from taxpraben.queue.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
