"""One table of every limit: on work, on memory, on what a few bytes may claim, on what is shown at once.

Two lists in a small file can multiply to something huge, such as functions and their calls; each such product has a
limit. Limits count work or memory, never time, so the same input gives the same bytes on every machine.
`docs/performance.md` shows the table to users; `docs/make.py` generates it.
"""

from __future__ import annotations

from typing import Self


class Limit(int):
    """An int with its meaning: a `stage` takes at most so many of a `unit`, where (`bounds`), and what happens
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
        """Spend `count`; return False once more was spent than there was."""
        self.left -= count
        return self.left >= 0

    @property
    def spent(self) -> bool:
        """Return whether the budget is overdrawn."""
        return self.left < 0


# fmt: off
MOST_BYTES = Limit(4 << 30, "read", "bytes", "of one graph; a message itself ends at 2 GiB", "refused")
FREE_MEMORY = Limit(512 << 20, "read", "bytes",
    "of memory that the values of any source may take", "refused past ten times the bytes on disk")
MEMORY_OF_BYTE = Limit(10, "read", "bytes",
    "of memory for each byte on disk; the text of a real model takes about five", "refused")
EMPTY_MESSAGES = Limit(200_000, "read", "bytes",
    "of empty messages one behind the other, two bytes each", "refused")
JSON_DEPTH = Limit(600, "read", "levels",
    "of objects and arrays of JSON within one another: two hundred models, each inside the next; Python's own "
    "limits begin past it", "refused")
SAMPLE_OF_MESSAGE = Limit(1 << 16, "read", "bytes",
    "from which the message of a file is recognised", "not looked at")
MESSAGE_DEPTH = Limit(100, "read", "levels", "of messages within messages, as protobuf has it", "refused")
TEXT_DEPTH = Limit(99, "read", "levels",
    "of messages within messages in text: protobuf refuses one more", "refused")
UNKNOWN_NAMES = Limit(20, "read", "names", "that a notice lists of unknown fields", "counted")
WAITING_TEXT = Limit(4 << 20, "read", "bytes", "of text that wait before they are parsed", "parsed at once")
REMEMBERED_LINES = Limit(1 << 16, "read", "lines",
    "that are remembered for each type of message", "forgotten, and parsed anew")
REMEMBERED_LINE = Limit(240, "read", "characters",
    "of a line that is remembered; longer ones are seldom met twice", "parsed anew")
HEAD = Limit(1 << 16, "read", "bytes", "of a file from which its format is recognised", "not looked at")
LARGE_TEXT = Limit(32 << 20, "read", "bytes", "of a text that is read as a whole", "read in windows")
CONFIG_BYTES = Limit(256 << 20, "read", "bytes", "of the JSON of a Keras archive, unpacked", "refused")
LZMA_DICTIONARY = Limit(256 << 20, "read", "bytes", "that LZMA may look back over", "refused")
GRAPHS_LISTED = Limit(20, "read", "graphs",
    "that an error lists: more scroll its first line out of sight", "counted")
SNIFFED = Limit(512, "read", "bytes", "of a file that show whether it is an event file", "not looked at")
ENTRIES_BESIDE = Limit(200, "read", "entries",
    "of a folder that may hold runs beside one event file", "not looked at")
NOTICES_OF_KIND = Limit(20, "read", "notices", "of one kind about a log", "counted in one more")
LINKED_FILES = Limit(50_000, "read", "files",
    "and folders behind links: a link to `/` takes minutes", "not looked at, a notice")
WALKED_FILES = Limit(300_000, "read", "files", "and folders of a log or a folder of models", "not looked at, a notice")
KNOWN_HEADERS = Limit(4096, "read", "lengths", "of records whose checksums are remembered", "computed anew")
INDEX_BYTES = Limit(1 << 28, "read", "bytes", "of the index of a checkpoint; a tensor takes about fifty", "refused")
INDEX_NAMES = Limit(1 << 28, "read", "letters",
    "of names in the index of a checkpoint: each may repeat what the one before begins with", "refused")
OBJECTS_BYTES = Limit(64 << 20, "read", "bytes",
    "of the names of variables in a checkpoint", "without these names")
INLINED_LETTERS = Limit(20_000_000, "read", "letters",
    "of names that opening wrapped calls writes anew", "further wrapped calls stay closed")
INLINED_WAITS = Limit(100_000, "read", "control inputs",
    "that opening wrapped calls writes", "further wrapped calls stay closed")
CALLS_IN_CALLS = Limit(100, "read", "calls",
    "in calls that are opened: TensorFlow writes a handful", "left as a call")
SIGNATURES_COMPARED = Limit(20, "read", "signatures",
    "whose bodies are compared for the largest", "the first are compared")
OBJECT_NAMES = Limit(20_000_000, "read", "letters",
    "of all names of objects of a SavedModel", "without a name")
CLAIMED_OUTPUTS = Limit(200_000, "read", "outputs",
    "all together, that consumers of Keras layers name by their numbers", "unknown")
SHAPES_TOLD = Limit(3, "read", "shapes", "of weights on the second line of a layer", "counted")
HDF5_ITEMS = Limit(200_000, "read", "items",
    "of a file of weights; a model of a thousand layers has five thousand", "not read")
HDF5_TEXT = Limit(64 << 20, "read", "characters", "of all paths of a file of weights", "not read")
HDF5_MEMORY = Limit(512 << 20, "read", "bytes",
    "that the process that reads weights may ask for", "not read, a notice")
HDF5_SECONDS = Limit(10, "read", "seconds",
    "that the process that reads weights may take; a model of a thousand layers takes one", "not read, a notice")
CONFIG_DEPTH = Limit(60, "read", "levels",
    "of values within one another in the configuration of a layer", "not shown")
WORDS_TOLD = Limit(6, "read", "words", "on the second line of a layer", "cut")
FILLED_NUMBERS = Limit(4096, "read", "numbers",
    "that a logged tensor may claim beyond those it holds: the last repeats", "not filled")
WHOLE_RECORD = Limit(1 << 28, "read", "bytes", "of a large record that is read as a whole", "skipped")
CLAIMED_BYTES = Limit(1 << 28, "read", "bytes", "that a logged tensor may claim beyond those it holds", "damaged")
STRUCTURES_OF_LENGTH = Limit(64, "read", "structures",
    "of events of one length that are remembered", "decoded one by one")
CUSTOM_CHARTS = Limit(1_000, "read", "charts", "that the custom layouts of a log have together", "left out")
CONFIG_OF_PROJECTOR = Limit(1 << 20, "read", "bytes", "of a projector_config.pbtxt", "not read, a notice")
EMBEDDINGS_LISTED = Limit(1_000, "read", "embeddings", "of a source", "left out, a notice")
EMBEDDING_POINTS = Limit(200_000, "read", "points", "of an embedding", "the first are read, a notice")
EMBEDDING_DIMENSIONS = Limit(20_000, "read", "dimensions", "of an embedding", "not listed, a notice")
EMBEDDING_NUMBERS = Limit(1 << 28, "read", "numbers",
    "of an embedding: 1 GiB", "the first points are read, a notice")
EMBEDDING_TEXT = Limit(4 << 30, "read", "bytes",
    "of a TSV file with the values of an embedding", "not read, a notice")
FEWEST_POINTS = Limit(4, "read", "points",
    "of a logged or a stored tensor that is an embedding", "listed from here on")
METADATA_BYTES = Limit(256 << 20, "read", "bytes", "of the metadata of an embedding", "not read, a notice")
METADATA_COLUMNS = Limit(64, "read", "columns", "of the metadata of an embedding", "left out, a notice")
METADATA_LETTERS = Limit(500, "read", "letters", "of one text of the metadata of an embedding", "cut")
SPRITE_BYTES = Limit(64 << 20, "read", "bytes", "of the sprite image of an embedding", "not shown, a notice")
GRAPH_NODES = Limit(200_000, "read", "nodes",
    "of any source, and one more for each 12 bytes: those of a name, an op and an input", "refused")
GRAPH_INPUTS = Limit(2_000_000, "read", "inputs",
    "of nodes of any packed graph, and one more for each byte; real graphs have one for four to ten", "refused")
LAYER_PATHS = Limit(50_000_000, "read", "letters",
    "of the paths of all Keras layers, and ten more for each byte", "refused")
NODES_WALKED = Limit(200_000, "read", "nodes",
    "that choosing between signatures walks, and four times those of the file", "the first signatures are compared")

MOST_OF_QUANTITY = Limit((1 << 63) - 1, "any stage", "",
    "of a quantity: shapes larger than any memory give numbers of any length", "this number")
REMEMBERED_TENSORS = Limit(1 << 19, "any stage", "tensors", "that are remembered", "decoded anew")
REMEMBERED_NODES = Limit(1 << 12, "any stage", "definitions", "of nodes that are held open", "opened anew")

FUNCTIONS_SHOWN = Limit(12, "any stage", "functions",
    "that a picture shows though nothing calls them: a column no taller than most levels", "left out, a notice")
LAYER_DEPTH = Limit(200, "any stage", "levels",
    "of a name that is searched for a layer: all scopes around a deep name have the square of its letters", "no layer")

CARRIERS_FOLLOWED = Limit(40, "interpret", "carriers",
    "one behind the other that a weight is followed through", "no weight")
JOIN_PATHS = Limit(2000, "join", "paths",
    "of rows whose parts one tag has in their order", "no longer ones are looked for")
MARKS_DEEP = Limit(20, "interpret", "marks",
    "that hang on each other and are followed all at once", "followed one by one")
LABEL_PUT_TOGETHER = Limit(40, "interpret", "characters",
    "of a label that is put together for an op of PyTorch", "cut")
INPUTS_LOOKED_AT = Limit(9, "interpret", "inputs", "that are looked at for such a label", "not named")

EDGES_LED = Limit(100_000, "flatten", "edges",
    "that are led on through marks, and ten more for each edge", "end at the mark")
LOOPS_APART = Limit(8, "annotate", "loops",
    "of control flow v1 inside each other that are distinguished: a damaged graph enters one over and over",
    "taken as so deep")
LOOPS_CHAINED = Limit(50, "annotate", "loops",
    "of which each runs as often as the one before", "at least one round")
COMPARISONS = Limit(8, "annotate", "comparisons", "of the condition of one loop", "at least one round")
DEFINITION_REMEMBERED = Limit(4096, "annotate", "bytes",
    "of the definition of a node that is compared with others", "inferred and counted alone")
REMEMBERED_OPS = Limit(1 << 16, "annotate", "ops", "whose outputs and costs are remembered for equal ones",
    "inferred and counted anew")
FRAMES = Limit(32, "annotate", "sets of arguments",
    "of one function for which its body is inferred; a shared layer has a handful",
    "inferred from what they have in common")
NODES_AGAIN = Limit(150_000, "annotate", "nodes",
    "whose shapes are inferred again for other arguments", "shapes inside stay unknown; notice `shape-limit`")
RESULTS_GIVEN = Limit(2_000_000, "annotate", "results",
    "of calls whose shapes are looked at", "shapes stay unknown; notice `shape-limit`")
LOOP_ROUNDS = Limit(8, "annotate", "rounds", "of a loop that are inferred", "unknown where it still changes")
SIZES_OF_OP = Limit(128, "annotate", "sizes",
    "of the outputs of one op that are always followed: a dozen tensors of any model", "followed while there is room")
CLAIMED_COUNT = Limit(64, "annotate", "outputs",
    "that an attribute of any op may claim", "as many as the inputs allow")
FOLDED_ELEMENTS = Limit(1024, "annotate", "elements",
    "of a tensor whose values are followed; shapes and axes have fewer", "unknown values")
CLAIMED_NUMBERS = Limit(2_000_000, "annotate", "sizes",
    "of outputs, and elements of vectors, that a few bytes claim", "shapes stay unknown; notice `shape-limit`")
FACTORS = Limit(64, "annotate", "factors", "of a product that is kept flat", "a new unknown")
OUTPUTS_LISTED = Limit(1 << 16, "annotate", "outputs", "of one op", "unknown")
NAMES_LOOKED_FOR = Limit(300_000, "annotate", "functions",
    "all together, in which names of a profile are looked for", "a few for each name")
CALLS_NAMED = Limit(200, "annotate", "calls", "in each other, of which the path of a name has one part each", "cut")
WAYS_TO_READ = Limit(1000, "annotate", "ways",
    "of reading one name of a profile; only hostile names have more", "the first")
PARTS_READ = Limit(1_000_000, "annotate", "parts",
    "of traced names that are looked up", "only a few readings of each further name are tried")
LEVELS_OF_LANE = Limit(128, "annotate", "slices",
    "of one thread or device at once that a timeline has rows for", "left out, and counted")
FEW_WAYS = Limit(8, "annotate", "ways", "and functions of each name after that", "the first")

REFINEMENTS = Limit(64, "group", "refinements",
    "of a graph for its canonical form; real levels need two or three", "equal groups may look different")
TRIED_EDGES = Limit(3_000_000, "group", "edges",
    "compared for repeated structures, in each of two passes",
    "equal groups may differ in colour; notice `template-limit`")
SINGLED_OUT = Limit(50, "group", "nodes",
    "that are singled out one after the other", "equal groups may look different")
WEIGHTS_ASKED = Limit(100, "group", "weights",
    "that are asked for the names of the program: one program made a file", "not asked")
BOXES_LOOKED_AT = Limit(200_000, "group", "boxes",
    "that are looked at again and again, one region inside the other, in one level: seconds; no network of 10,000 "
    "ops in one scope comes near", "left in plain order; notice `fold-limit`")
MODULES_COUNTED = Limit(32, "group", "modules",
    "of those that use each other in turn whose uses are counted, each along the whole flow", "the others are not")
INPUTS_SEARCHED = Limit(1_000_000, "group", "inputs", "of one level searched for values used all over it: a second",
    "further values are not set apart")

COMPONENTS = Limit(10, "project", "components", "of a principal component analysis", "not found")
FITTED_POINTS = Limit(50_000, "project", "points",
    "from which principal components are found", "projected on the components of an even choice of points")
FITTED_WORK = Limit(20_000_000_000, "project", "products",
    "of numbers in the search for principal components: some seconds", "found from fewer points")
EXACT_SIDE = Limit(1_536, "project", "points or dimensions, whichever are fewer,",
    "of which principal components are found: 10 seconds", "found from an even choice of so many points")
NEIGHBOURS = Limit(1_000, "project", "neighbours", "of a point", "refused")
LAID_OUT_POINTS = Limit(10_000, "project", "points", "of t-SNE or UMAP: minutes", "an even choice is laid out")

REMEMBERED_CALLS = Limit(20_000, "expand", "calls", "whose borders are remembered; some kB each", "found anew")
RESULTS_JOINED = Limit(100_000, "expand", "ends",
    "of lines that leave one call, in all its functions", "only the first are joined")
CROSSINGS_FILED = Limit(4_000_000, "expand", "crossings",
    "of borders that are filed at once, and ten more for each edge", "found by each group anew")

MOST_OPEN = Limit(10_000, "view", "boxes",
    "of all open levels, unless each is named, or `--max-open`; more are not readable, and their lines take a minute",
    "fewer groups are open; notice `max-open`")
MOST_LINES = Limit(2_000_000, "view", "lines",
    "of all open levels; those of a training graph of a million nodes are fewer",
    "fewer groups are open; notice `max-lines`")
PLACES_MEANT = Limit(50_000, "view", "places", "inside calls that a pattern may mean", "refused")
LETTERS_OF_PLACES = Limit(20_000_000, "view", "letters", "of the addresses of such places", "refused")
NAMES_MATCHED = Limit(30_000_000, "view", "names",
    "that the patterns of one picture are compared with: about 20 seconds", "the request is refused")
ASSERTIONS_BYTES = Limit(1_000_000, "commands", "bytes", "of a file of assertions", "refused")
ASSERTION_SHOWN = Limit(60, "search", "letters",
    "of an assertion on either side of what is wrong", "not shown")
QUERY_TERMS = Limit(100, "search", "words", "of one query", "refused")
PATTERN_STEPS = Limit(10_000, "view", "steps",
    "that a regular expression may take: with three stars, a name's length cubed", "compared without one")
LEVEL_TOO_LARGE = Limit(5000, "view", "children",
    "of a group that the first picture may open: extraction never leaves few of so many", "stays closed")
NAMES_LOOKED_AT = Limit(1000, "view", "names", "that are looked at for a common part", "not looked at")
WEIGHTS_LOOKED_AT = Limit(100, "view", "weights", "of a stack or a loop that are looked at", "not looked at")
ADDRESS_LETTERS = Limit(20_000_000, "view", "letters",
    "of addresses that repeat the names of calls, and 8 for each name", "fewer calls are open; notice `long-addresses`")

ORDER_STEPS = Limit(2_000_000, "arrange", "lines",
    "of one level searched for cycles: more take seconds", "more lines may be turned than needed")
REMEMBERED_LEVELS = Limit(4096, "arrange", "levels",
    "whose order is remembered; more than any picture shows", "the oldest is forgotten")
REMEMBERED_PART = Limit(64, "arrange", "boxes", "of a connected part whose order is remembered", "ordered anew")
REMEMBERED_PARTS = Limit(2048, "arrange", "parts", "whose order is remembered for equal ones", "ordered anew")
DOT_BEST = Limit(200, "arrange", "boxes",
    "from which on `dot` would take seconds for its best order", "ordered quickly by `dot`")
DOT_LARGEST = Limit(30_000, "arrange", "boxes and lines",
    "of a level, with `--engine dot`: as many take ten seconds if they are a single chain",
    "laid out by `layered`; notice `engine-limit`")
DRAFT_WORK = Limit(20_000_000, "arrange", "items",
    "looked through for parts merged and ranks opened: ten seconds", "drawn in plain rows")
DOT_SECONDS = Limit(10, "arrange", "seconds", "that Graphviz takes for a level, with `--engine dot`",
    "it is laid out by `layered`, levels after it quickly; notices `engine-limit`, `quick-levels`")
LEVEL_ITEMS = Limit(40_000, "arrange", "boxes, lines and bends",
    "of one level: to lay out as many takes ten seconds", "drawn in plain rows, a notice")
BENDS_TRIED = Limit(10_000, "arrange", "bends",
    "of lines, of all levels that differ, up to which several orders are tried: about four seconds",
    "ordered quickly; notice `quick-levels`")
RANKS_PASSED = Limit(100_000, "arrange", "ranks",
    "that lines pass, in all levels, equal ones too: to place and write as many takes four seconds",
    "drawn in plain rows; notice `plain-levels`")
SWEPT_ITEMS = Limit(30_000, "arrange", "items", "of a level up to which many sweeps are tried", "two sweeps")
REROUTED_WORK = Limit(250_000, "arrange", "items",
    "of ranks that rerouted lines pass: about a second", "not rerouted")
RANK_SEARCHED = Limit(80, "arrange", "items",
    "of a rank in which a rerouted line may go anywhere", "goes near its place")
PORTS_OF_SIDE = Limit(8, "arrange", "ports",
    "on one side of a frame: more than an eye tells at a glance", "share one port")
WRAPPED_PLACES = Limit(400_000, "arrange", "places",
    "that the lines of a piece may pass on added rows: more take minutes to draw", "fewer rows")
WRAPPED_BENDS = Limit(30_000, "arrange", "waypoints",
    "on added rows: to place more takes ten seconds", "fewer rows")
REMEMBERED_ROWS = Limit(64, "arrange", "levels",
    "in plain rows that are remembered; each is large", "made anew")

POINTS_DRAWN = Limit(20_000, "chart", "points", "of an embedding in a picture", "an even choice of them is drawn")
COLOURED_CATEGORIES = Limit(24, "chart", "categories",
    "of points with colours of their own", "one colour for the rest")

TYPES_IN_LEGEND = Limit(3, "color", "op types", "without costs that the legend names", "counted")
BANDS = Limit(5, "color", "bands", "of a box, then one for the rest", "counted as others")
SHARES_COUNTED = Limit(20_000_000, "color", "numbers",
    "of ops of each category under all rows", "counted row by row")
CATEGORY_NAME = Limit(300, "color", "letters", "of a category: each group around its ops names it again", "cut")

DOT_TEXT = Limit(1500, "render", "letters", "of a text in DOT; Graphviz refuses strings of 16 KiB", "cut")
DOT_DEPTH = Limit(300, "render", "groups",
    "open one within another in DOT: pydot writes them by recursion", "refused")
PDF_SIDE = Limit(14_400, "render", "points", "that a side of a page may have", "drawn smaller")
PNG_SIDE = Limit(8_000, "render", "pixels", "of a side of a PNG, unless asked", "drawn smaller, a notice")
PNG_PIXELS = Limit(64_000_000, "render", "pixels", "of a PNG, unless asked", "drawn smaller, a notice")
PNG_WORK = Limit(16_000_000, "render", "pixels",
    "of lines in a PNG, or what takes as long, unless asked: ten seconds", "drawn smaller; notice `png-scaled`")
PNG_MOST_WORK = Limit(24_000_000, "render", "pixels",
    "of lines in a PNG, or what takes as long, at an asked size", "refused")
PNG_TEXTS = Limit(25_000, "render", "texts",
    "that a PNG draws: as long as 9 million pixels of lines", "the largest are drawn; notice `png-names`")
PNG_STEPS = Limit(400_000, "render", "steps",
    "of outlines of other shapes that a PNG draws: as long as 8 million", "the largest are drawn; notice `png-shapes`")
PNG_HALVINGS = Limit(40, "render", "halvings", "in the search for a scale", "the last one")
TEXT_REMEMBERED = Limit(4096, "render", "bytes",
    "of a part of the JSON that is kept for equal ones", "encoded anew")
TEXTS_REMEMBERED = Limit(1 << 14, "render", "texts", "of parts of the JSON that are kept so", "encoded anew")
JSON_BYTES = Limit(500_000_000, "render", "bytes",
    "of JSON, and 2 kB a row: types and devices are listed for each group around an op, shapes for each line",
    "the request is refused")

RANKS_APART = Limit(2, "page", "levels", "in each other whose series may be ungrouped at once", "stay series")
RANKS_APART_OF_LARGE = Limit(1, "page", "levels", "the same in a large graph", "stay series")
ROWS_OF_LARGE = Limit(40_000, "page", "rows", "of a graph that is large for a page", "fewer levels ungrouped")
MEMBERS_APART = Limit(1_000, "page", "members",
    "of a level's series together that may be ungrouped", "stay series")
GROUPS_APART = Limit(1_000, "page", "groups",
    "inside stacks that may be ungrouped, together", "others stay stacks")
LETTERS_APART = Limit(100 << 20, "page", "letters",
    "of all names of which second hierarchies are made", "stay series")
ROWS_OF_STEPS = Limit(2_000_000, "page", "rows",
    "of traced steps in a page: for each step those of the graph, 1,000, and 3 for each box inside calls",
    "further steps are not shown by themselves")
CARDS_OF_BLOCK = Limit(2_000, "page", "nodes", "whose attributes are in one block", "in the next block")
VALUE_OF_CARD = Limit(1_000, "page", "characters", "of a value on a card", "cut")
VALUE_REMEMBERED = Limit(64, "page", "bytes", "of a value whose words are remembered", "worded anew")
ELEMENTS_OF_CARD = Limit(12, "page", "elements", "of a constant on a card", "counted")
ELEMENTS_MEASURED = Limit(200_000_000, "page", "elements", "of constants with range and mean", "not measured")
ELEMENTS_OF_HISTOGRAM = Limit(65_536, "page", "elements", "of a constant in its histogram", "every so many")
CHANGES_LISTED = Limit(5_000, "page", "changes", "that a page lists", "counted")
PLACES_LISTED = Limit(40, "page", "places", "of a change that a page lists besides the first", "counted")
INPUTS_LISTED = Limit(200, "page", "ops", "of which only an input is from elsewhere, in one change", "counted")
NOTEBOOK_HEIGHT = Limit(100_000, "page", "pixels", "that a picture in a notebook is high", "this height")
FUNCTION_IN_ITSELF = Limit(3, "page", "times", "that a page opens a function in itself", "drawn as the last of these")
GROUPS_INSIDE_CALLS = Limit(10_000, "page", "groups",
    "inside calls, counted at every call, that a page opens", "stay closed")

CHAIN_PARTS = Limit(8, "diff", "parts", "that are reported as one chain", "one thing at many places")
CHANGES_APART = Limit(2_000, "diff", "changes",
    "of unrelated graphs that are reported one by one", "put together, a notice")
LETTERS_COMPARED = Limit(10_000_000_000, "diff", "letters",
    "of the names of causes times letters of consequences: two seconds", "not compared")
STEPS_TO_KERNEL = Limit(8, "diff", "steps",
    "from a convolution through reads, casts and new dimensions to its kernel", "not found")
STEPS_TO_USER = Limit(8, "diff", "steps",
    "from a variable through reads, casts and identities to the op that uses it", "not found")
NODES_COSTED = Limit(200_000, "diff", "nodes", "whose operations a diff counts: 40 µs a node", "not counted")
NODES_OF_LAYERS = Limit(10_000_000, "diff", "nodes", "of layers that are remembered", "found anew")
CALLERS = Limit(100, "diff", "callers", "of one function that are compared", "the first by number")
ATTRIBUTE_REMEMBERED = Limit(96, "diff", "bytes",
    "of an attribute that is remembered as it is", "remembered by its hash")
NUMBERS_OF_SETTING = Limit(64, "diff", "numbers", "in a constant that is a setting: axes, paddings, sizes", "data")
FLOATS_OF_SETTING = Limit(8, "diff", "numbers",
    "the same of type float: rates and epsilons are scalars, mean and deviation of an image three each", "data")
NUMBERS_SHOWN = Limit(1000, "diff", "numbers", "of one tensor in a report", "a hash of them")
NUMBERS_WRITTEN_OUT = Limit(4096, "diff", "numbers",
    "of a tensor that are compared one by one", "compared without equal ones at the end")
ACCOUNT = Limit(1_000_000, "diff", "letters", "of one account", "its hash")
PAIRS_ALIGNED = Limit(256, "diff", "pairs",
    "of scopes of one part of a series that are compared", "paired in their order")
PLACES_FOLLOWED = Limit(8, "diff", "scopes", "that the content of one may have gone to", "not followed")
CALLS_DISTINGUISHED = Limit(8, "diff", "rounds", "how deep calls in calls are distinguished", "alike")
FUNCTIONS_TRIED = Limit(64, "diff", "functions",
    "of one name that are compared each with each", "paired in their order, a notice")
MATCH_SPREAD = Limit(200, "diff", "steps", "that a match spreads", "not matched this way")
CALL_ROUNDS = Limit(3, "diff", "rounds",
    "in which functions are paired by the calls of matched nodes", "not paired this way")
RUN_TRIED = Limit(64, "diff", "members", "of a run that are tried each with each", "paired in their order")
CELLS_IN_ALL = Limit(1 << 27, "diff", "cells",
    "of the tables in which `diff` aligns series and inputs: a few seconds",
    "paired by their place; notice `input-limit`")
CELLS_OF_TABLE = Limit(1 << 24, "diff", "cells",
    "of the table of one longest common subsequence", "paired in their order")
PLACES_OPENED = Limit(3, "diff", "places", "of one change that are opened in the picture", "stay closed")
CHANGES_OPENED = Limit(40, "diff", "changes", "of which the picture opens a place, whatever room it takes",
    "open where there is room")
BOXES_OF_CHANGES = Limit(800, "diff", "boxes",
    "of one place of each change: as many as are placed in a tenth of a second", "stays closed")
BOXES_TO_CHANGES = Limit(40, "diff", "boxes",
    "that may be shown before a way to one more place stays closed: what one look takes in", "stays closed")
OPEN_IN_EACH_OTHER = Limit(100, "diff", "groups",
    "in each other on the way to a change: titles of more are higher than a screen", "stay closed")
CHANGES_IN_LEGEND = Limit(14, "diff", "rows",
    "of the list of changes in the legend: as high as a small picture", "counted")
KINDS_IN_BADGE = Limit(3, "diff", "kinds", "of changes that a box names", "the first")
CALLS_MARKED = Limit(32, "diff", "calls", "in calls of a changed function that are marked", "not marked")
COMMENT = Limit(65_000, "diff", "characters", "of a comment on a pull request", "shortened")
CHANGES_UNFOLDED = Limit(20, "diff", "changes", "that are not folded away: a comment of one screen", "folded")
REPORT_LETTERS = Limit(200_000_000, "diff", "letters",
    "of names in a JSON report of `diff`", "the report is refused")
FUNCTION_NAME = Limit(200, "diff", "letters",
    "of the name of a function in the line of each of its nodes", "cut")
PARTS_IN_HEAD = Limit(2, "diff", "parts",
    "that the headline of a change names: the first and the last", "not named")
VALUE_IN_REPORT = Limit(60, "diff", "characters",
    "of a value: two of them and an arrow fit a wide terminal", "cut")
NAMES_EXCHANGED = Limit(10_000_000_000, "diff", "letters",
    "of what was exchanged times letters of the names that may hold it: two seconds", "reported by themselves")

REMOTE_BYTES = Limit(50_000_000_000, "read", "bytes", "of logs elsewhere that are copied", "refused")
REMOTE_FILES = Limit(100_000, "read", "files", "elsewhere that are copied", "refused")
FACTS_BYTES = Limit(200_000_000, "commands", "bytes", "of a file of facts", "the file is refused")
VIEW_FILE_BYTES = Limit(1_000_000, "commands", "bytes", "of a view file", "the file is refused")
MERMAID_LINES = Limit(500, "render", "lines", "of a Mermaid chart: it draws no more", "refused")
VIEW_OPENED = Limit(500, "view", "groups", "that a query of a view file opens", "stay closed")

HOTSPOTS = Limit(10, "commands", "lines", "of each list of `hotspots`: half a terminal", "left out")
PARTS_OUTLINED = Limit(100, "commands", "boxes", "of an open group that an outline names; JSON has all", "counted")
OUTLINE_DEPTH = Limit(8, "commands", "levels", "that an outline is indented", "not indented further")
DEVICES_LISTED = Limit(20, "commands", "devices", "that `info` lists", "counted")
TERMINAL_WIDTH = Limit(10_000, "commands", "characters", "of a line, whatever COLUMNS says", "this width")
MESSAGE = Limit(2_000, "commands", "letters", "of a message", "cut")
FUNCTIONS_LISTED = Limit(12, "commands", "functions",
    "that `tree` lists where the main graph fills the screen", "counted")

LARGEST_NAMED = Limit(10, "commands", "groups", "of each kind that `info` names", "left out")
MEMBERS_NAMED = Limit(3, "commands", "members", "that `info` names of a series", "counted")
STRUCTURES_TRIED = Limit(2000, "commands", "structures",
    "that `info` looks at to find the largest", "not looked at")

VALUE_IN_ERROR = Limit(60, "commands", "letters", "of a value that a message repeats", "cut")
NAME_COMPARED = Limit(80, "commands", "letters",
    "of a name that is compared one by one for the nearest", "not compared")
# fmt: on


def all_limits() -> dict[str, Limit]:
    """Return every limit by name, in the order of the stages."""
    return {name: value for name, value in globals().items() if isinstance(value, Limit)}
