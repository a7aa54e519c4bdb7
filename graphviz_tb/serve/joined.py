"""The tags of a log at the rows of one graph: known since its page was made, but for those that came later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from graphviz_tb.model.joins import Join
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.loading import Job, NotLoaded, ServedPage

JoinInProcess = Callable[[Sequence[str]], Job]


class JoinedTags:
    """The joins of the graph of one page. `join` joins more tags in a process: the graph is read there again."""

    def __init__(self, page: ServedPage, join: JoinInProcess) -> None:
        self.page, self._join = page, join
        self._known = {each.tag: each for each in page.joins}
        self._task: asyncio.Task[None] | None = None

    async def of(self, tags: Collection[str]) -> Mapping[str, Join]:
        """The join of each tag. Raises `Refused` where the graph cannot be read any more."""
        while new := [tag for tag in tags if tag not in self._known]:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._more(new))
                self._task.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever still waits
            try:
                await asyncio.shield(self._task)  # others wait for it too
            except NotLoaded as error:
                raise Refused(404, error.error, error.hint) from None
        return self._known

    async def _more(self, tags: Sequence[str]) -> None:
        joins: Sequence[Join] = await self._join(tags).result(lambda *told: None)
        self._known = {**self._known, **{each.tag: each for each in joins}}
