"""Translate the words of similar programs on a command line: the command that is meant, and its options.

Nothing here runs a command. `choose_command` and `translate_options` rewrite words; `REFUSED_WORDS` has messages for
words that no command can serve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import RequestError

# Other names of commands; names in `SILENT_SYNONYMS` are accepted silently, the others with a message.
COMMAND_SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("show", "view", "browse", "explore", "visualize", "visualise", "launch", "start"), "open"),
    **dict.fromkeys(("ui", "gui", "web", "preview", "netron", "model-explorer"), "open"),
    **dict.fromkeys(("summary", "inspect", "describe", "stat", "stats", "ls", "list", "contents"), "info"),
    **dict.fromkeys(("params", "parameters", "flops", "cost", "count", "runs", "tags", "print", "dump"), "info"),
    **dict.fromkeys(("draw", "plot", "plot_model", "export", "convert", "save", "dot", "picture"), "render"),
    **dict.fromkeys(("compare", "cmp", "delta"), "diff"),
    **dict.fromkeys(("search", "grep", "query"), "find"),
    **dict.fromkeys(("assert", "test", "validate", "verify", "lint"), "check"),
    **dict.fromkeys(("tensorboard", "dashboard", "board", "server", "live"), "serve"),
    **dict.fromkeys(("scalar", "curves", "metrics", "history", "leet"), "scalars"),
    **dict.fromkeys(("embedding", "embeddings", "projector", "umap", "tsne", "pca"), "project"),
    **dict.fromkeys(("scopes", "outline", "structure", "layers", "groups"), "tree"),
}
# A format as the command: `tbgraph svg MODEL`, `to-png`.
FORMAT_COMMAND = compile_on_use(r"(?:to[-_])?(svg|png|pdf|html|dot|mermaid)")
SILENT_SYNONYMS = ("show", "view", "summary")
# Words with their own answer, as the arguments to use instead.
ANSWERED_WORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("version", "-version", "--v", "-v", "about"), ("--version",)),
    **dict.fromkeys(("help", "-help", "-?", "/?", "--usage"), ("--help",)),
}
REFUSED_WORDS: dict[str, str] = {
    **dict.fromkeys(("login", "logout", "signup", "init", "online", "offline"), "nothing is sent anywhere: no account"),
    **dict.fromkeys(("sync", "upload", "dev", "publish"), "a page to send: tbgraph render LOGDIR -o page.html"),
    **dict.fromkeys(("completion", "completions"), 'in bash: eval "$(_TBGRAPH_COMPLETE=bash_source tbgraph)"'),
    **dict.fromkeys(("update", "upgrade", "self-update"), "pip install --upgrade tbgraph brings a newer one"),
    **dict.fromkeys(("install", "extras"), "pip install 'tbgraph[serve]' brings what serve needs"),
    **dict.fromkeys(("watch", "tail", "follow"), "tbgraph scalars LOGDIR --watch follows runs that are being written"),
    **dict.fromkeys(("profile", "timeline"), "tbgraph info MODEL --profile says where the time of a step goes"),
    **dict.fromkeys(("hparams", "images", "image", "histograms", "audio", "text"), "tbgraph serve LOGDIR shows them"),
    **dict.fromkeys(("ops", "nodes"), "tbgraph find MODEL 'op:*' lists ops, tbgraph tree MODEL --ops where they are"),
    **dict.fromkeys(("download", "pull", "fetch"), "tbgraph scalars LOGDIR -o scalars.csv writes all points of a log"),
    "install-completion": 'in bash: eval "$(_TBGRAPH_COMPLETE=bash_source tbgraph)"',
}  # fmt: skip
# Options that imply a picture if no command is named.
DRAWING_OPTIONS = compile_on_use(r"-o|-o.+|--output(=.*)?|-f|--format(=.*)?|-T.*|-O|--to[-_]file(=.*)?|--out(=.*)?")
SERVING_OPTIONS = compile_on_use(r"--?(logdir|log|logdir_spec|logdir-spec)(=.*)?")
# Options of other programs → our option, with the value after "=" or as the next word; "" drops the option.
OPTION_RENAMES: dict[str, dict[str, str]] = {
    "render": {
        "--to-file": "--output", "--out": "--output", "--outfile": "--output", "--output-file": "--output",
        "--output-format": "--format", "--type": "--format", "--rankdir": "--direction", "--layout": "--engine",
        "--name": "--title", "--expand": "--open", "--save": "--output", "--orientation": "--direction",
        "--max-depth": "--depth", "--level": "--depth", "--levels": "--depth", "--zoom": "--scale",
    },
    "tree": {"-L": "--depth", "-d": "--depth", "--max-depth": "--depth", "--level": "--depth"},
    "find": {"--name": "", "--pattern": "", "-e": "", "--query": ""},
    "serve": {"--bind": "--host", "--address": "--host", "-p": "--port"},
    "scalars": {"--tags": "--tag", "--runs": "--run", "--smoothing": "--smooth"},
    "diff": {"--out": "--output", "--outfile": "--output"},
}  # fmt: skip
OPTION_RENAMES["open"] = OPTION_RENAMES["serve"]
# The model as an option, for every command with a model.
MODEL_OPTIONS = ("--model", "--input", "-i", "--graph", "--model-path", "--graph-path", "--input-file")
VERBOSE_OPTIONS = ("-v", "--verbose")  # ignored: everything is reported already
SWITCH_RENAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "render": {
        "-O": (), "--show-shapes": (), "--show-dtype": (), "--show-layer-names": (),
        "--expand-nested": ("--open-all",), "--dark": ("--theme", "dark"), "--light": ("--theme", "light"),
        "--svg": ("--format", "svg"), "--png": ("--format", "png"), "--pdf": ("--format", "pdf"),
        "--html": ("--format", "html"), "--horizontal": ("--direction", "LR"), "--show-trainable": (),
        "--expand-all": ("--open-all",), "--collapse": ("--depth", "0"), "--collapse-all": ("--depth", "0"),
        "--vertical": ("--direction", "BT"), "--show-layer-activations": (),
    },
    "tree": {"-a": ("--ops",), "--all": ("--ops",)},
    "info": {"--all": ("--top", "100000"), "--summary": ()},
    "scalars": {"--plot": ("--curves",), "--follow": ("--watch",)},
    "serve": {
        "-b": ("--browser",), "--browse": ("--browser",), "--open": ("--browser",), "--no-open-in-browser": (),
        "--no-browser": (), "--reuse-server": (),
    },
    "diff": {"--html": ("--output", "diff.html"), "--brief": ("--quiet",), "-u": (), "--unified": (), "--stat": ()},
}  # fmt: skip
SWITCH_RENAMES["open"] = {**SWITCH_RENAMES["serve"], **dict.fromkeys(("-b", "--browse", "--open", "--browser"), ())}
GRAPHVIZ_LETTERS = {"T": "--format", "K": "--engine"}  # one-letter options with attached values
RANKDIR = compile_on_use(r"-Grankdir=(\w+)")
TRUE_WORDS, FALSE_WORDS = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def choose_command(words: Sequence[str], commands: Mapping[str, object]) -> list[str]:
    """Return the words, preceded by the implied command if they name none of `commands`.

    >>> choose_command(["--logdir", "logs"], {}), choose_command(["no.pb", "-o", "x.svg"], {})
    (['serve', '--logdir', 'logs'], ['render', 'no.pb', '-o', 'x.svg'])
    """
    words = list(words)
    if not words or words[0] in commands or words[0] in ("-h", "--help", "-V", "--version"):
        return words
    first = words[0]
    if first in ANSWERED_WORDS and not path_exists(first):
        # `help render` is `render --help`.
        described_command = [word for word in words[1:2] if ANSWERED_WORDS[first] == ("--help",) and word in commands]
        return [*described_command, *ANSWERED_WORDS[first]]
    if first in REFUSED_WORDS:
        return words
    if "--inspect" in words or "-inspect" in words:  # of TensorBoard, with the folder as another option
        rest = (re.sub("^--?(logdir|event_file)(=|$)", "", word) for word in words if word.lstrip("-") != "inspect")
        return ["info", *filter(None, rest)]
    if any(SERVING_OPTIONS.fullmatch(word) for word in words) and first not in COMMAND_SYNONYMS:
        return ["serve", *words]
    if first in COMMAND_SYNONYMS and not path_exists(first):
        return [COMMAND_SYNONYMS[first], *words[1:]]
    if (format_match := FORMAT_COMMAND.fullmatch(first)) and not path_exists(first):
        return ["render", "--format", format_match[1], *words[1:]]
    arguments = [word for word in words if not word.startswith("-") or word == "-"]
    if not (first.startswith("-") or _looks_like_path(first)) or not arguments:
        return words
    return [_guess_command(words, arguments), *words]


def _guess_command(words: Sequence[str], named: Sequence[str]) -> str:
    """Return the command that is most likely meant by words without a command.

    >>> _guess_command(["m.pb"], ["m.pb"]), _guess_command(["m.pb", "--json"], ["m.pb"])
    ('open', 'info')
    """
    if any(DRAWING_OPTIONS.fullmatch(word) for word in words) or any(map(names_picture, named[1:])):
        return "render"
    return "info" if "--json" in words else "open"


def names_picture(word: str) -> bool:
    """Return whether a word has the suffix of a format that is written."""
    from graphviz_tb.output.renderers import RENDERERS  # only needed for words that name no command

    suffix = Path(word).suffix.lower()
    return bool(suffix) and suffix in {row.suffix for row in RENDERERS.values()}


def path_exists(word: str) -> bool:
    try:
        return bool(word) and Path(word).exists()
    except (OSError, ValueError):
        return False


def refuse_second_model(models: Sequence[str]) -> None:
    """Refuse a second model. Raises `RequestError` with the command for two models."""
    if len(models) > 1:
        hint = f"tbgraph diff {models[0]} {models[1]} compares two models; or give one at a time"
        raise RequestError(f"{len(models)} models are given, and a picture is of one", hint=hint)


def _looks_like_path(word: str) -> bool:
    """Return whether a word is an existing path, or looks like a path.

    >>> _looks_like_path("no/such.pb"), _looks_like_path("rendr"), _looks_like_path("gs://bucket/logs")
    (True, False, True)
    """
    return word == "-" or path_exists(word) or "/" in word or "\\" in word or bool(re.search(r"\w\.\w{1,12}$", word))


def translate_options(command: click.Command, name: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command line with options of other programs translated.

    One dash before a long name, `_` within it, `=true` after a switch and the spellings of `OPTION_RENAMES` and
    `SWITCH_RENAMES` are translated unless the command has such an option.
    """
    options = {word: param for param in command.params for word in (*param.opts, *param.secondary_opts)}
    kept = list(words)
    for at, word in enumerate(kept):
        if word == "--":
            return [*(each for one in kept[:at] for each in _translate_option(one, name, options)), *kept[at:]]
    return [translated for word in kept for translated in _translate_option(word, name, options)]


def _translate_option(word: str, name: str, options: Mapping[str, click.Parameter]) -> Iterator[str]:
    """Yield the words that replace a word: none, itself, or several."""
    head, equals, value = word.partition("=")
    if not word.startswith("-") or word == "-" or (head in options and not equals):
        yield word
        return
    known_option = head if head in options else _long_option(head, options)
    switches, renamed = SWITCH_RENAMES.get(name, {}), OPTION_RENAMES.get(name, {})
    dashed = head.replace("_", "-") if head.startswith("--") else head
    if known_option is None and dashed in switches and value.lower() not in FALSE_WORDS:
        yield from switches[dashed]
    elif known_option is None and dashed in renamed and renamed[dashed]:
        yield renamed[dashed] + equals + value
    elif known_option is None and dashed in (*renamed, *(() if name == "diff" else MODEL_OPTIONS)):
        yield from [value] * bool(equals)  # drop the option, keep its value as the argument
    elif known_option is None and dashed in VERBOSE_OPTIONS:
        return
    elif known_option is not None:
        yield from _switch_words(known_option, equals, value, options[known_option])
    elif name == "render" and (found := RANKDIR.fullmatch(word)):
        yield from ("--direction", found[1])
    elif name == "render" and word[1:2] in GRAPHVIZ_LETTERS and "-" + word[1:2] not in options:
        yield from (GRAPHVIZ_LETTERS[word[1]], *([word[2:]] if len(word) > 2 else []))
    else:
        yield word


def _long_option(head: str, options: Mapping[str, click.Parameter]) -> str | None:
    """Return the option that `-name` or `--some_name` is a spelling of.

    >>> _long_option("-logdir", {"--logdir": None}), _long_option("--color_by", {"--color-by": None})
    ('--logdir', '--color-by')
    >>> _long_option("-qo", {"--quiet": None}), _long_option("--colour-by", {"--color-by": None})
    (None, '--color-by')
    """
    bare = head.lstrip("-").replace("colour", "color")
    if len(bare) < 3:
        return None
    return next((spelling for spelling in (f"--{bare}", f"--{bare.replace('_', '-')}") if spelling in options), None)


def _switch_words(spelled: str, equals: str, value: str, option: click.Parameter) -> Iterator[str]:
    """Yield an option with its value; yield a switch only where it is set to true."""
    if equals and isinstance(option, click.Option) and option.is_flag and value.lower() in (*TRUE_WORDS, *FALSE_WORDS):
        yield from [spelled] * (value.lower() in TRUE_WORDS)
    else:
        yield spelled + equals + value
