"""One table of all limits: on work, on memory, on sizes that a small file may claim, on what is shown at once.

Two lists in a small file can multiply to something huge, such as functions and their calls; each such product has a
limit. Limits count work or memory, never time, so the same input gives the same bytes on every machine.
`docs/limits.md` shows the table to users; `docs/make.py` generates it.
"""

from __future__ import annotations

from typing import Self


class Limit(int):
    """An int with its meaning: the largest number of a `unit` in a `stage`, what it `bounds`, and what happens
    `beyond`.

    >>> few = Limit(3, "read", "graphs", "that an error lists", "counted")
    >>> few + 1, f"{few} {few.unit} {few.bounds}"
    (4, '3 graphs that an error lists')
    """

    stage: str
    unit: str
    bounds: str
    beyond: str

    def __new__(cls, value: int, stage: str, unit: str, bounds: str, beyond: str) -> Self:
        """Create the number and attach its description."""
        limit = super().__new__(cls, value)
        limit.stage, limit.unit, limit.bounds, limit.beyond = stage, unit, bounds, beyond
        return limit

    def __getnewargs__(self) -> tuple[int, str, str, str, str]:  # type: ignore[override]
        """Return the constructor's arguments, for copying and pickling."""
        return int(self), self.stage, self.unit, self.bounds, self.beyond


class Meter:
    """A budget of work or memory, counted down from a limit.

    >>> meter = Meter(3)
    >>> meter.take(2), meter.take(), meter.take(), meter.spent
    (True, True, False, True)
    """

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, count: int = 1) -> bool:
        """Spend `count`; return False once the budget is overdrawn."""
        self.left -= count
        return self.left >= 0

    @property
    def spent(self) -> bool:
        """Return whether the budget is overdrawn."""
        return self.left < 0


# fmt: off
MAX_GRAPH_BYTES = Limit(4 << 30, "read", "bytes", "of one graph; a message itself ends at 2 GiB", "refused")
FREE_MEMORY_BYTES = Limit(512 << 20, "read", "bytes",
    "of memory that the values of any source may take", "refused past ten times the bytes on disk")
MEMORY_PER_BYTE = Limit(10, "read", "bytes",
    "of memory for each byte on disk; the text of a real model takes about five", "refused")
MAX_EMPTY_MESSAGE_BYTES = Limit(200_000, "read", "bytes",
    "of empty messages one behind the other, two bytes each", "refused")
MAX_JSON_DEPTH = Limit(600, "read", "levels",
    "of objects and arrays of JSON within one another: two hundred models, each inside the next; Python's own "
    "limits begin past it", "refused")
MESSAGE_SAMPLE_BYTES = Limit(1 << 16, "read", "bytes",
    "from which the message of a file is recognised", "not looked at")
MAX_MESSAGE_DEPTH = Limit(100, "read", "levels", "of messages within messages, as protobuf has it", "refused")
MAX_TEXT_DEPTH = Limit(99, "read", "levels",
    "of messages within messages in text: protobuf refuses one more", "refused")
MAX_UNKNOWN_NAMES = Limit(20, "read", "names", "that a notice lists of unknown fields", "counted")
MAX_BUFFERED_TEXT_BYTES = Limit(4 << 20, "read", "bytes", "of text that wait before they are parsed", "parsed at once")
MAX_CACHED_LINES = Limit(1 << 16, "read", "lines",
    "that are remembered for each type of message", "forgotten, and parsed again")
MAX_CACHED_LINE_LETTERS = Limit(240, "read", "characters",
    "of a line that is remembered; longer ones are seldom met twice", "parsed again")
HEAD_BYTES = Limit(1 << 16, "read", "bytes", "of a file from which its format is recognised", "not looked at")
LARGE_TEXT_BYTES = Limit(32 << 20, "read", "bytes", "of a text that is read as a whole", "read in windows")
MAX_CONFIG_BYTES = Limit(256 << 20, "read", "bytes", "of the JSON of a Keras archive, unpacked", "refused")
MAX_PROGRAM_DEPTH = Limit(50, "read", "levels", "of bodies within bodies of an exported program", "refused")
MAX_PROGRAM_BODIES = Limit(20_000, "read", "bodies",
    "of control flow and functions of an exported program: real ones have hundreds", "refused")
MAX_SCOPE_LETTERS_OF_PROGRAM = Limit(50_000_000, "read", "letters",
    "of the scopes of all calls of modules of an exported program", "without a scope, a notice")
MAX_SOURCE_LINE_LETTERS = Limit(200, "read", "letters", "of a line of source of an exported program", "cut")
MAX_PROGRAM_CONSTANT_BYTES = Limit(1 << 12, "read", "bytes",
    "of the numbers of a constant of an exported program", "without its numbers")
MAX_SOURCE_LINES = Limit(12, "read", "lines", "of source behind one op of an exported program", "the innermost")
MAX_LZMA_DICTIONARY_BYTES = Limit(256 << 20, "read", "bytes", "that LZMA may look back over", "refused")
MAX_LISTED_GRAPHS = Limit(20, "read", "graphs",
    "that an error lists: more scroll its first line out of sight", "counted")
SNIFFED_BYTES = Limit(512, "read", "bytes", "of a file that show whether it is an event file", "not looked at")
MAX_SIBLING_ENTRIES = Limit(200, "read", "entries",
    "of a folder that may hold runs beside one event file", "not looked at")
MAX_NOTICES_PER_KIND = Limit(20, "read", "notices", "of one kind about a log", "counted in one more")
MAX_LINKED_FILES = Limit(50_000, "read", "files",
    "and folders behind links: a link to `/` takes minutes", "not looked at, a notice")
WALKED_FILES = Limit(300_000, "read", "files", "and folders of a log or a folder of models", "not looked at, a notice")
MAX_CACHED_HEADERS = Limit(4096, "read", "lengths", "of records whose checksums are remembered", "computed again")
MAX_INDEX_BYTES = Limit(1 << 28, "read", "bytes", "of the index of a checkpoint; a tensor takes about fifty", "refused")
MAX_INDEX_NAME_LETTERS = Limit(1 << 28, "read", "letters",
    "of names in the index of a checkpoint: each may repeat what the one before begins with", "refused")
MAX_OBJECT_GRAPH_BYTES = Limit(64 << 20, "read", "bytes",
    "of the names of variables in a checkpoint", "without these names")
MAX_INLINED_LETTERS = Limit(20_000_000, "read", "letters",
    "of names that opening wrapped calls rewrites", "further wrapped calls stay closed")
MAX_INLINED_WAITS = Limit(100_000, "read", "control inputs",
    "that opening wrapped calls writes", "further wrapped calls stay closed")
MAX_NESTED_CALLS = Limit(100, "read", "calls",
    "in calls that are opened: TensorFlow writes a handful", "left as a call")
MAX_COMPARED_SIGNATURES = Limit(20, "read", "signatures",
    "whose bodies are compared for the largest", "the first are compared")
MAX_OBJECT_NAME_LETTERS = Limit(20_000_000, "read", "letters",
    "of all names of objects of a SavedModel", "without a name")
MAX_CLAIMED_OUTPUTS = Limit(200_000, "read", "outputs",
    "all together, that consumers of Keras layers name by their numbers", "unknown")
MAX_SHOWN_WEIGHT_SHAPES = Limit(3, "read", "shapes", "of weights on the second line of a layer", "counted")
MAX_HDF5_ITEMS = Limit(200_000, "read", "items",
    "of a file of weights; a model of a thousand layers has five thousand", "not read")
MAX_HDF5_PATH_LETTERS = Limit(64 << 20, "read", "characters", "of all paths of a file of weights", "not read")
MAX_HDF5_MEMORY_BYTES = Limit(512 << 20, "read", "bytes",
    "that the process that reads weights may ask for", "not read, a notice")
MAX_HDF5_SECONDS = Limit(10, "read", "seconds",
    "that the process that reads weights may take; a model of a thousand layers takes one", "not read, a notice")
MAX_CONFIG_DEPTH = Limit(60, "read", "levels",
    "of values within one another in the configuration of a layer", "not shown")
MAX_LAYER_WORDS = Limit(6, "read", "words", "on the second line of a layer", "cut")
MAX_FILLED_NUMBERS = Limit(4096, "read", "numbers",
    "that a logged tensor may claim beyond those it holds: the last repeats", "not filled")
MAX_WHOLE_RECORD_BYTES = Limit(1 << 28, "read", "bytes", "of a large record that is read as a whole", "skipped")
MAX_CLAIMED_BYTES = Limit(1 << 28, "read", "bytes", "that a logged tensor may claim beyond those it holds", "damaged")
MAX_STRUCTURES_PER_LENGTH = Limit(64, "read", "structures",
    "of events of one length that are remembered", "decoded one by one")
MAX_STORED_VALUE_BYTES = Limit(1 << 14, "read", "bytes",
    "of the values of a tensor of an ONNX model: shapes, axes and paddings have a few", "not read: a weight")
MAX_COMPARED_TENSOR_BYTES = Limit(1 << 30, "read", "bytes",
    "of the tensors of an ONNX model that are compared with each other", "not compared: a bound")
MAX_CUSTOM_CHARTS = Limit(1_000, "read", "charts", "that the custom layouts of a log have together", "left out")
MAX_PROJECTOR_CONFIG_BYTES = Limit(1 << 20, "read", "bytes", "of a projector_config.pbtxt", "not read, a notice")
MAX_LISTED_EMBEDDINGS = Limit(1_000, "read", "embeddings", "of a source", "left out, a notice")
EMBEDDING_POINTS = Limit(200_000, "read", "points", "of an embedding", "the first are read, a notice")
MAX_EMBEDDING_DIMENSIONS = Limit(20_000, "read", "dimensions", "of an embedding", "not listed, a notice")
MAX_EMBEDDING_NUMBERS = Limit(1 << 28, "read", "numbers",
    "of an embedding: 1 GiB", "the first points are read, a notice")
MAX_EMBEDDING_TEXT_BYTES = Limit(4 << 30, "read", "bytes",
    "of a TSV file with the values of an embedding", "not read, a notice")
MIN_EMBEDDING_POINTS = Limit(4, "read", "points",
    "of a logged or a stored tensor that is an embedding", "listed from here on")
MAX_METADATA_BYTES = Limit(256 << 20, "read", "bytes", "of the metadata of an embedding", "not read, a notice")
MAX_METADATA_COLUMNS = Limit(64, "read", "columns", "of the metadata of an embedding", "left out, a notice")
MAX_METADATA_LETTERS = Limit(500, "read", "letters", "of one text of the metadata of an embedding", "cut")
MAX_SPRITE_BYTES = Limit(64 << 20, "read", "bytes", "of the sprite image of an embedding", "not shown, a notice")
FREE_GRAPH_NODES = Limit(200_000, "read", "nodes",
    "of any source, and one more for each 12 bytes: those of a name, an op and an input", "refused")
FREE_GRAPH_INPUTS = Limit(2_000_000, "read", "inputs",
    "of nodes of any packed graph, and one more for each byte; real graphs have one for four to ten", "refused")
FREE_FLATBUFFER_VALUES = Limit(1_000_000, "read", "values",
    "of lists of a TensorFlow Lite file, each counted as often as it is used, and four more for each byte", "refused")
FREE_LAYER_PATH_LETTERS = Limit(50_000_000, "read", "letters",
    "of the paths of all Keras layers, and ten more for each byte", "refused")
FREE_WALKED_NODES = Limit(200_000, "read", "nodes",
    "that choosing between signatures walks, and four times those of the file", "the first signatures are compared")

MAX_QUANTITY = Limit((1 << 63) - 1, "any stage", "",
    "of a quantity: shapes larger than any memory give numbers of any length", "this number")
MAX_CACHED_TENSORS = Limit(1 << 19, "any stage", "tensors", "that are remembered", "decoded again")
MAX_INDEX_OPS = Limit(64, "any stage", "ops", "between indices and what is computed from them alone", "seen as data")
MAX_CACHED_NODES = Limit(1 << 12, "any stage", "definitions", "of nodes that are held open", "opened again")

MAX_UNCALLED_FUNCTIONS = Limit(12, "any stage", "functions",
    "that a picture shows though nothing calls them: a column no taller than most levels", "left out, a notice")
MAX_LAYER_DEPTH = Limit(200, "any stage", "levels",
    "of a name that is searched for a layer: all scopes around a deep name have the square of its letters", "no layer")

MAX_FOLLOWED_CARRIERS = Limit(40, "interpret", "carriers",
    "one behind the other that a weight is followed through", "no weight")
MAX_JOIN_PATHS = Limit(2000, "join", "paths",
    "of rows whose parts one tag has in their order", "no longer ones are looked for")
MAX_CHAINED_MARKS = Limit(20, "interpret", "marks",
    "that hang on each other and are followed all at once", "followed one by one")
MAX_BUILT_LABEL_LETTERS = Limit(40, "interpret", "characters",
    "of a label that is put together for an op of PyTorch", "cut")
MAX_LABEL_INPUTS = Limit(9, "interpret", "inputs", "that are looked at for such a label", "not named")

FREE_BYPASS_EDGES = Limit(100_000, "flatten", "edges",
    "that are led on through marks, and ten more for each edge", "end at the mark")
MAX_NESTED_LOOPS = Limit(8, "annotate", "loops",
    "of control flow v1 inside each other that are distinguished: a damaged graph enters one over and over",
    "taken as so deep")
MAX_CHAINED_LOOPS = Limit(50, "annotate", "loops",
    "of which each runs as often as the one before", "at least one round")
MAX_CONDITION_COMPARISONS = Limit(8, "annotate", "comparisons", "of the condition of one loop", "at least one round")
MAX_CACHED_DEFINITION_BYTES = Limit(4096, "annotate", "bytes",
    "of the definition of a node that is compared with others", "inferred and counted alone")
MAX_CACHED_OPS = Limit(1 << 16, "annotate", "ops", "whose outputs and costs are remembered for equal ones",
    "inferred and counted again")
MAX_ARGUMENT_SETS = Limit(32, "annotate", "sets of arguments",
    "of one function for which its body is inferred; a shared layer has a handful",
    "inferred from what they have in common")
NODES_AGAIN = Limit(150_000, "annotate", "nodes",
    "whose shapes are inferred again for other arguments", "shapes inside stay unknown; notice `shape-limit`")
RESULTS_GIVEN = Limit(2_000_000, "annotate", "results",
    "of calls whose shapes are looked at", "shapes stay unknown; notice `shape-limit`")
MAX_LOOP_ROUNDS = Limit(8, "annotate", "rounds", "of a loop that are inferred", "unknown where it still changes")
MAX_SIZES_PER_OP = Limit(128, "annotate", "sizes",
    "of the outputs of one op that are always followed: a dozen tensors of any model", "followed while there is room")
MAX_CLAIMED_COUNT = Limit(64, "annotate", "outputs",
    "that an attribute of any op may claim", "as many as the inputs allow")
MAX_FOLDED_ELEMENTS = Limit(1024, "annotate", "elements",
    "of a tensor whose values are followed; shapes and axes have fewer", "unknown values")
CLAIMED_NUMBERS = Limit(2_000_000, "annotate", "sizes",
    "of outputs, and elements of vectors, that a few bytes claim", "shapes stay unknown; notice `shape-limit`")
MAX_FACTORS = Limit(64, "annotate", "factors", "of a product that is kept flat", "a new unknown")
MAX_LISTED_OUTPUTS = Limit(1 << 16, "annotate", "outputs", "of one op", "unknown")
MAX_SEARCHED_FUNCTIONS = Limit(300_000, "annotate", "functions",
    "all together, in which names of a profile are looked for", "a few for each name")
MAX_NAMED_CALLS = Limit(200, "annotate", "calls", "in each other, of which the path of a name has one part each", "cut")
MAX_NAME_READINGS = Limit(1000, "annotate", "ways",
    "of reading one name of a profile; only hostile names have more", "the first")
MAX_READ_NAME_PARTS = Limit(1_000_000, "annotate", "parts",
    "of traced names that are looked up", "only a few readings of each further name are tried")
MAX_LANE_LEVELS = Limit(128, "annotate", "slices",
    "of one thread or device at once that a timeline has rows for", "left out, and counted")
FEW_NAME_READINGS = Limit(8, "annotate", "ways", "and functions of each name after that", "the first")

MAX_REFINEMENTS = Limit(64, "group", "refinements",
    "of a graph for its canonical form; real levels need two or three", "equal groups may look different")
MAX_TRIED_EDGES = Limit(3_000_000, "group", "edges",
    "compared for repeated structures, in each of two passes",
    "equal groups may differ in colour; notice `template-limit`")
MAX_SINGLED_OUT_NODES = Limit(50, "group", "nodes",
    "that are singled out one after the other", "equal groups may look different")
MAX_ASKED_WEIGHTS = Limit(100, "group", "weights",
    "that are asked for the names of the program: one program made a file", "not asked")
MAX_VISITED_BOXES = Limit(200_000, "group", "boxes",
    "that are looked at again and again, one region inside the other, in one level: seconds; no network of 10,000 "
    "ops in one scope comes near", "left in plain order; notice `fold-limit`")
MAX_SEARCHED_INPUTS = Limit(1_000_000, "group", "inputs", "of one level searched for values used all over it: a second",
    "further values are not set apart")

MAX_COMPONENTS = Limit(10, "project", "components", "of a principal component analysis", "not found")
MAX_FITTED_POINTS = Limit(50_000, "project", "points",
    "from which principal components are found", "projected on the components of an even choice of points")
MAX_FITTED_WORK = Limit(20_000_000_000, "project", "products",
    "of numbers in the search for principal components: some seconds", "found from fewer points")
MAX_EXACT_SIDE = Limit(1_536, "project", "points or dimensions, whichever are fewer,",
    "of which principal components are found: 10 seconds", "found from an even choice of so many points")
MAX_NEIGHBOURS = Limit(1_000, "project", "neighbours", "of a point", "refused")
MAX_LAID_OUT_POINTS = Limit(10_000, "project", "points", "of t-SNE or UMAP: minutes", "an even choice is laid out")

MAX_CACHED_CALLS = Limit(20_000, "expand", "calls", "whose borders are remembered; some kB each", "found again")
MAX_SURPLUS_OPS = Limit(2_000, "expand", "ops", "of a member that is compared with the usual one of its stack",
    "what it has more has no box")
MAX_JOINED_RESULTS = Limit(100_000, "expand", "ends",
    "of lines that leave one call, in all its functions", "only the first are joined")
FREE_FILED_CROSSINGS = Limit(4_000_000, "expand", "crossings",
    "of borders that are filed at once, and ten more for each edge", "found by each group again")

MAX_OPEN_BOXES = Limit(10_000, "view", "boxes",
    "of all open levels, unless each is named, or `--max-open`; more are not readable, and their lines take a minute",
    "fewer groups are open; notice `max-open`")
MAX_OPEN_LINES = Limit(2_000_000, "view", "lines",
    "of all open levels; those of a training graph of a million nodes are fewer",
    "fewer groups are open; notice `max-lines`")
MAX_MATCHED_PLACES = Limit(50_000, "view", "places", "inside calls that a pattern may mean", "refused")
MAX_PLACE_LETTERS = Limit(20_000_000, "view", "letters", "of the addresses of such places", "refused")
MAX_MATCHED_NAMES = Limit(30_000_000, "view", "names",
    "that the patterns of one picture are compared with: about 20 seconds", "the request is refused")
MAX_ASSERTIONS_BYTES = Limit(1_000_000, "commands", "bytes", "of a file of assertions", "refused")
ASSERTION_CONTEXT_LETTERS = Limit(60, "search", "letters",
    "of an assertion on either side of what is wrong", "not shown")
MAX_QUERY_TERMS = Limit(100, "search", "words", "of one query", "refused")
MAX_PATTERN_STEPS = Limit(10_000, "view", "steps",
    "that a regular expression may take: with three stars, a name's length cubed", "compared without one")
MAX_LEVEL_CHILDREN = Limit(5000, "view", "children",
    "of a group that the first picture may open: extraction never leaves few of so many", "stays closed")
MAX_COMPARED_NAMES = Limit(1000, "view", "names", "that are looked at for a common part", "not looked at")
MAX_VISITED_WEIGHTS = Limit(100, "view", "weights", "of a stack or a loop that are looked at", "not looked at")
FREE_ADDRESS_LETTERS = Limit(20_000_000, "view", "letters",
    "of addresses that repeat the names of calls, and 8 for each name", "fewer calls are open; notice `long-addresses`")

MAX_ORDER_STEPS = Limit(2_000_000, "arrange", "lines",
    "of one level searched for cycles: more take seconds", "more lines may be turned than needed")
MAX_CACHED_LEVELS = Limit(4096, "arrange", "levels",
    "whose order is remembered; more than any picture shows", "the oldest is forgotten")
MAX_CACHED_PART_BOXES = Limit(64, "arrange", "boxes", "of a connected part whose order is remembered", "ordered again")
MAX_CACHED_PARTS = Limit(2048, "arrange", "parts", "whose order is remembered for equal ones", "ordered again")
MAX_BEST_DOT_BOXES = Limit(200, "arrange", "boxes",
    "from which on `dot` would take seconds for its best order", "ordered quickly by `dot`")
MAX_DOT_ITEMS = Limit(30_000, "arrange", "boxes and lines",
    "of a level, with `--engine dot`: as many take ten seconds if they are a single chain",
    "laid out by `layered`; notice `engine-limit`")
MAX_DRAFT_WORK = Limit(20_000_000, "arrange", "items",
    "looked through for parts merged and ranks opened: ten seconds", "drawn in plain rows")
MAX_DOT_SECONDS = Limit(10, "arrange", "seconds", "that Graphviz takes for a level, with `--engine dot`",
    "it is laid out by `layered`, levels after it quickly; notices `engine-limit`, `quick-levels`")
MAX_LEVEL_ITEMS = Limit(40_000, "arrange", "boxes, lines and bends",
    "of one level: to lay out as many takes ten seconds", "drawn in plain rows, a notice")
MAX_TRIED_BENDS = Limit(10_000, "arrange", "bends",
    "of lines, of all levels that differ, up to which several orders are tried: about four seconds",
    "ordered quickly; notice `quick-levels`")
MAX_PASSED_RANKS = Limit(100_000, "arrange", "ranks",
    "that lines pass, in all levels, equal ones too: to place and write as many takes four seconds",
    "drawn in plain rows; notice `plain-levels`")
MAX_SWEPT_ITEMS = Limit(30_000, "arrange", "items", "of a level up to which many sweeps are tried", "two sweeps")
MAX_REROUTED_WORK = Limit(250_000, "arrange", "items",
    "of ranks that rerouted lines pass: about a second", "not rerouted")
MAX_SEARCHED_RANK_ITEMS = Limit(80, "arrange", "items",
    "of a rank in which a rerouted line may go anywhere", "goes near its place")
MAX_PORTS_PER_SIDE = Limit(8, "arrange", "ports",
    "on one side of a frame: more than an eye tells at a glance", "share one port")
MAX_WRAPPED_PLACES = Limit(400_000, "arrange", "places",
    "that the lines of a piece may pass on added rows: more take minutes to draw", "fewer rows")
MAX_WRAPPED_BENDS = Limit(30_000, "arrange", "waypoints",
    "on added rows: to place more takes ten seconds", "fewer rows")
MAX_CACHED_PLAIN_LEVELS = Limit(64, "arrange", "levels",
    "in plain rows that are remembered; each is large", "made again")

MAX_DRAWN_POINTS = Limit(20_000, "chart", "points", "of an embedding in a picture", "an even choice of them is drawn")
MAX_COLOURED_CATEGORIES = Limit(24, "chart", "categories",
    "of points with colours of their own", "one colour for the rest")

MAX_LEGEND_TYPES = Limit(3, "color", "op types", "without costs that the legend names", "counted")
MAX_BOX_BANDS = Limit(8, "color", "bands", "of a box, then one for the rest", "counted as others")
MAX_COUNTED_SHARES = Limit(20_000_000, "color", "numbers",
    "of ops of each category under all rows", "counted row by row")
MAX_CATEGORY_LETTERS = Limit(300, "color", "letters", "of a category: each group around its ops names it again", "cut")

MAX_DOT_TEXT_LETTERS = Limit(1500, "render", "letters", "of a text in DOT; Graphviz refuses strings of 16 KiB", "cut")
MAX_DOT_DEPTH = Limit(300, "render", "groups",
    "open one within another in DOT: pydot writes them by recursion", "refused")
MAX_PDF_SIDE_POINTS = Limit(14_400, "render", "points", "that a side of a page may have", "drawn smaller")
MAX_PNG_SIDE_PX = Limit(8_000, "render", "pixels", "of a side of a PNG, unless asked", "drawn smaller, a notice")
MAX_PNG_PIXELS = Limit(64_000_000, "render", "pixels", "of a PNG, unless asked", "drawn smaller, a notice")
MAX_PNG_WORK = Limit(16_000_000, "render", "pixels",
    "of lines in a PNG, or what takes as long, unless asked: ten seconds", "drawn smaller; notice `png-scaled`")
MAX_ASKED_PNG_WORK = Limit(24_000_000, "render", "pixels",
    "of lines in a PNG, or what takes as long, at an asked size", "refused")
MAX_PNG_TEXTS = Limit(25_000, "render", "texts",
    "that a PNG draws: as long as 9 million pixels of lines", "the largest are drawn; notice `png-names`")
MAX_PNG_STEPS = Limit(400_000, "render", "steps",
    "of outlines of other shapes that a PNG draws: as long as 8 million", "the largest are drawn; notice `png-shapes`")
MAX_PNG_HALVINGS = Limit(40, "render", "halvings", "in the search for a scale", "the last one")
MAX_CACHED_JSON_BYTES = Limit(4096, "render", "bytes",
    "of a part of the JSON that is kept for equal ones", "encoded again")
MAX_CACHED_JSON_TEXTS = Limit(1 << 14, "render", "texts", "of parts of the JSON that are kept so", "encoded again")
MAX_JSON_BYTES = Limit(500_000_000, "render", "bytes",
    "of JSON, and 2 kB a row: types and devices are listed for each group around an op, shapes for each line",
    "the request is refused")

MAX_UNGROUPED_LEVELS = Limit(2, "page", "levels", "in each other whose series may be ungrouped at once", "stay series")
MAX_UNGROUPED_LEVELS_OF_LARGE = Limit(1, "page", "levels", "the same in a large graph", "stay series")
LARGE_PAGE_ROWS = Limit(40_000, "page", "rows", "of a graph that is large for a page", "fewer levels ungrouped")
MAX_UNGROUPED_MEMBERS = Limit(1_000, "page", "members",
    "of a level's series together that may be ungrouped", "stay series")
MAX_UNGROUPED_GROUPS = Limit(1_000, "page", "groups",
    "inside stacks that may be ungrouped, together", "others stay stacks")
MAX_UNGROUPED_LETTERS = Limit(100 << 20, "page", "letters",
    "of all names of which second hierarchies are made", "stay series")
MAX_STEP_ROWS = Limit(2_000_000, "page", "rows",
    "of traced steps in a page: for each step those of the graph, 1,000, and 3 for each box inside calls",
    "further steps are not shown by themselves")
CARDS_PER_BLOCK = Limit(2_000, "page", "nodes", "whose attributes are in one block", "in the next block")
MAX_LISTED_LINES = Limit(12, "page", "lines", "of source on the card of a group", "left out")
MAX_CARD_VALUE_LETTERS = Limit(1_000, "page", "characters", "of a value on a card", "cut")
MAX_CACHED_VALUE_BYTES = Limit(64, "page", "bytes", "of a value whose words are remembered", "worded again")
MAX_CARD_ELEMENTS = Limit(12, "page", "elements", "of a constant on a card", "counted")
MAX_MEASURED_ELEMENTS = Limit(200_000_000, "page", "elements", "of constants with range and mean", "not measured")
MAX_HISTOGRAM_ELEMENTS = Limit(65_536, "page", "elements", "of a constant in its histogram", "every so many")
MAX_LISTED_CHANGES = Limit(5_000, "page", "changes", "that a page lists", "counted")
MAX_LISTED_PLACES = Limit(40, "page", "places", "of a change that a page lists besides the first", "counted")
MAX_LISTED_INPUTS = Limit(200, "page", "ops", "of which only an input is from elsewhere, in one change", "counted")
MAX_NOTEBOOK_HEIGHT_PX = Limit(100_000, "page", "pixels", "that a picture in a notebook is high", "this height")
MAX_FUNCTION_NESTING = Limit(3, "page", "times", "that a page opens a function in itself", "drawn as the last of these")
MAX_GROUPS_INSIDE_CALLS = Limit(10_000, "page", "groups",
    "inside calls, counted at every call, that a page opens", "stay closed")

MAX_CHAIN_PARTS = Limit(8, "diff", "parts", "that are reported as one chain", "one thing at many places")
MAX_SEPARATE_CHANGES = Limit(2_000, "diff", "changes",
    "of unrelated graphs that are reported one by one", "put together, a notice")
MAX_COMPARED_LETTERS = Limit(10_000_000_000, "diff", "letters",
    "of the names of causes times letters of consequences: two seconds", "not compared")
MAX_STEPS_TO_KERNEL = Limit(8, "diff", "steps",
    "from a convolution through reads, casts and new dimensions to its kernel", "not found")
MAX_STEPS_TO_USER = Limit(8, "diff", "steps",
    "from a variable through reads, casts and identities to the op that uses it", "not found")
MAX_COSTED_NODES = Limit(200_000, "diff", "nodes", "whose operations a diff counts: 40 µs a node", "not counted")
MAX_CACHED_LAYER_NODES = Limit(10_000_000, "diff", "nodes", "of layers that are remembered", "found again")
MAX_COMPARED_CALLERS = Limit(100, "diff", "callers", "of one function that are compared", "the first by number")
MAX_CACHED_ATTRIBUTE_BYTES = Limit(96, "diff", "bytes",
    "of an attribute that is remembered as it is", "remembered by its hash")
MAX_SETTING_NUMBERS = Limit(64, "diff", "numbers", "in a constant that is a setting: axes, paddings, sizes", "data")
MAX_SETTING_FLOATS = Limit(8, "diff", "numbers",
    "the same of type float: rates and epsilons are scalars, mean and deviation of an image three each", "data")
MAX_SHOWN_NUMBERS = Limit(1000, "diff", "numbers", "of one tensor in a report", "a hash of them")
MAX_EXPANDED_NUMBERS = Limit(4096, "diff", "numbers",
    "of a tensor that are compared one by one", "compared without equal ones at the end")
MAX_ACCOUNT_LETTERS = Limit(1_000_000, "diff", "letters", "of one account", "its hash")
MAX_ALIGNED_PAIRS = Limit(256, "diff", "pairs",
    "of scopes of one part of a series that are compared", "paired in their order")
MAX_FOLLOWED_PLACES = Limit(8, "diff", "scopes", "that the content of one may have gone to", "not followed")
MAX_DISTINGUISHED_CALLS = Limit(8, "diff", "rounds", "how deep calls in calls are distinguished", "alike")
MAX_TRIED_FUNCTIONS = Limit(64, "diff", "functions",
    "of one name that are compared each with each", "paired in their order, a notice")
MAX_MATCH_SPREAD = Limit(200, "diff", "steps", "that a match spreads", "not matched this way")
MAX_CALL_ROUNDS = Limit(3, "diff", "rounds",
    "in which functions are paired by the calls of matched nodes", "not paired this way")
MAX_TRIED_RUN_MEMBERS = Limit(64, "diff", "members", "of a run that are tried each with each", "paired in their order")
MAX_ALIGNMENT_CELLS = Limit(1 << 27, "diff", "cells",
    "of the tables in which `diff` aligns series and inputs: a few seconds",
    "paired by their place; notice `input-limit`")
MAX_TABLE_CELLS = Limit(1 << 24, "diff", "cells",
    "of the table of one longest common subsequence", "paired in their order")
MAX_OPENED_PLACES = Limit(3, "diff", "places", "of one change that are opened in the picture", "stay closed")
MAX_OPENED_CHANGES = Limit(40, "diff", "changes", "of which the picture opens a place, whatever room it takes",
    "open where there is room")
MAX_BOXES_PER_CHANGE = Limit(800, "diff", "boxes",
    "of one place of each change: as many as are placed in a tenth of a second", "stays closed")
MAX_BOXES_TO_CHANGES = Limit(40, "diff", "boxes",
    "that may be shown before a way to one more place stays closed: what one look takes in", "stays closed")
MAX_NESTED_OPEN_GROUPS = Limit(100, "diff", "groups",
    "in each other on the way to a change: titles of more are higher than a screen", "stay closed")
MAX_LEGEND_CHANGES = Limit(14, "diff", "rows",
    "of the list of changes in the legend: as high as a small picture", "counted")
MAX_BADGE_KINDS = Limit(3, "diff", "kinds", "of changes that a box names", "the first")
MAX_MARKED_CALLS = Limit(32, "diff", "calls", "in calls of a changed function that are marked", "not marked")
MAX_COMMENT_LETTERS = Limit(65_000, "diff", "characters", "of a comment on a pull request", "shortened")
MAX_UNFOLDED_CHANGES = Limit(20, "diff", "changes", "that are not folded away: a comment of one screen", "folded")
MAX_REPORT_LETTERS = Limit(200_000_000, "diff", "letters",
    "of names in a JSON report of `diff`", "the report is refused")
MAX_FUNCTION_NAME_LETTERS = Limit(200, "diff", "letters",
    "of the name of a function in the line of each of its nodes", "cut")
MAX_HEADLINE_PARTS = Limit(2, "diff", "parts",
    "that the headline of a change names: the first and the last", "not named")
MAX_COMPARED_SOURCES = Limit(1_000, "diff", "nodes", "of a change whose lines of source are compared", "the first")
MAX_REPORT_VALUE_LETTERS = Limit(60, "diff", "characters",
    "of a value: two of them and an arrow fit a wide terminal", "cut")
MAX_EXCHANGED_LETTERS = Limit(10_000_000_000, "diff", "letters",
    "of what was exchanged times letters of the names that may hold it: two seconds", "reported by themselves")

MAX_REMOTE_BYTES = Limit(50_000_000_000, "read", "bytes", "of logs elsewhere that are copied", "refused")
MAX_REMOTE_FILES = Limit(100_000, "read", "files", "elsewhere that are copied", "refused")
MAX_FACTS_BYTES = Limit(200_000_000, "commands", "bytes", "of a file of facts", "the file is refused")
MAX_VIEW_FILE_BYTES = Limit(1_000_000, "commands", "bytes", "of a view file", "the file is refused")
MAX_MERMAID_LINES = Limit(500, "render", "lines", "of a Mermaid chart: it draws no more", "refused")
MAX_VIEW_OPENED_GROUPS = Limit(500, "view", "groups", "that a query of a view file opens", "stay closed")

MAX_RANKED_PLACES = Limit(10, "commands", "lines", "of each ranking of `info`: half a terminal", "left out")
MAX_OUTLINED_BOXES = Limit(100, "commands", "boxes", "of an open group that an outline names; JSON has all", "counted")
MAX_OUTLINE_DEPTH = Limit(8, "commands", "levels", "that an outline is indented", "not indented further")
MAX_LISTED_DEVICES = Limit(20, "commands", "devices", "that `info` lists", "counted")
MAX_TERMINAL_WIDTH = Limit(10_000, "commands", "characters", "of a line, whatever COLUMNS says", "this width")
MAX_MESSAGE_LETTERS = Limit(2_000, "commands", "letters", "of a message", "cut")
MAX_LISTED_FUNCTIONS = Limit(12, "commands", "functions",
    "that `tree` lists where the main graph fills the screen", "counted")

MAX_NAMED_GROUPS = Limit(10, "commands", "groups", "of each kind that `info` names", "left out")
MAX_NAMED_MEMBERS = Limit(3, "commands", "members", "that `info` names of a series", "counted")
MAX_TRIED_STRUCTURES = Limit(2000, "commands", "structures",
    "that `info` looks at to find the largest", "not looked at")

MAX_ERROR_VALUE_LETTERS = Limit(60, "commands", "letters", "of a value that a message repeats", "cut")
MAX_COMPARED_NAME_LETTERS = Limit(80, "commands", "letters",
    "of a name that is compared one by one for the nearest", "not compared")
# fmt: on


def _all_limits() -> dict[str, Limit]:
    """Return every limit by name, in the order of the stages."""
    return {name: value for name, value in globals().items() if isinstance(value, Limit)}
