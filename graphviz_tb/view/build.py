"""Build the tree of open groups, with the drawing order of each level and the label of each child."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, child_path, neighbour_path, path_address
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import View
from graphviz_tb.view.node_labels import NodeLabels
from graphviz_tb.view.words import level_words


def build_view(
    hierarchy: Hierarchy,
    metagraph: Callable[[RowPath], Metagraph],
    opened: Iterable[RowPath],
    skeletons: Mapping[RowPath, Skeleton],
    node_labels: NodeLabels,
    stubs: int,
    members: Mapping[RowPath, RowPath],
) -> View:
    """Build the view of a picture, from the inside out.

    `opened` lists groups, each after the group around it; each has a skeleton, except stacks that show one of their
    `members` alone. `stubs` is how many stubs a side of a box shows. The result is one `View` with its open children
    inside it, and the content of a member inside its stack.
    """
    views: dict[RowPath, View] = {}
    for path in reversed(list(opened)):  # inner groups first: outer views contain them
        if path in members:
            views[path] = views[members[path]]
        else:
            views[path] = build_group_view(hierarchy, metagraph(path), path, skeletons[path], views, node_labels, stubs)
    return views[(0,)]


def build_group_view(
    hierarchy: Hierarchy,
    level: Metagraph,
    path: RowPath,
    skeleton: Skeleton,
    views: dict[RowPath, View],
    node_labels: NodeLabels,
    stubs: int,
) -> View:
    """Build one open group; the views of its open children come from `views`."""
    paths = [child_path(hierarchy, path, row) for row in level.children]
    listed = node_labels.function_labels(level, views) if path == (0,) else ()  # next to the main graph only
    opened = {position: views[child] for position, child in enumerate(paths) if child in views}
    opened |= {
        len(paths) + index: views[node_label.row,]  # positions of functions follow those of children
        for index, node_label in enumerate(listed)
        if (node_label.row,) in views
    }
    outside = {bridge.other for bridge in level.bridges}
    rows = {note.other for note in level.annotations} | outside
    view = View(
        address=path_address(hierarchy, path),
        path=path,
        metagraph=level,
        skeleton=skeleton,
        node_labels=tuple(
            node_labels.node_label(child, views[child].path if child in views else child) for child in paths
        ),
        opened=opened,
        names={row: hierarchy.name[row] for row in sorted(rows)},
        labels={row: hierarchy.display_label(row) for row in sorted(rows) if has_label(hierarchy, row)},
        addresses={
            row: path_address(hierarchy, neighbour_path(hierarchy, path, row, row not in outside))
            for row in sorted(rows)
        },
        functions=listed,
    )
    return replace(view, words=level_words(view, stubs))


def has_label(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a row has a label other than the end of its name."""
    return row in hierarchy.labels or row in hierarchy.short or int(hierarchy.node[row]) in hierarchy.graph.labels
