"""Hyperparameters and the metrics of their trials."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.hparams import trials_table
from graphviz_tb.serve.answers import json_answer
from graphviz_tb.serve.asked import known, session_of
from graphviz_tb.serve.threads import in_thread


async def hparams(request: Request) -> Response:
    """A column for each hyperparameter and metric, a row for each session."""
    known(request, ())
    session = session_of(request)
    table = await in_thread(trials_table, session.logged)
    rows = [{**row, "run": session.run_id(row["run"])} for row in table["rows"]]
    return json_answer(request, {**table, "rows": rows}, same=True)


ROUTES = [Route("/api/hparams", hparams, methods=["GET"])]
