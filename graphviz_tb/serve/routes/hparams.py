"""Hyperparameters and the metrics of their trials."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.hparams import trials_table
from graphviz_tb.serve.answers import kept_json
from graphviz_tb.serve.asked import known, session_of


async def hparams(request: Request) -> Response:
    """A column for each hyperparameter and metric, a row for each session."""
    known(request, ())
    session = session_of(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        table = trials_table(logged)
        return {**table, "rows": [{**row, "run": session.run_id(row["run"])} for row in table["rows"]]}

    return await kept_json(request, make, f"hparams {session.generation}")


ROUTES = [Route("/api/hparams", hparams, methods=["GET"])]
