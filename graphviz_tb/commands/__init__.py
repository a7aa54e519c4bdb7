"""The command line. Only this folder prints.

Commands are loaded when they are called, so that `tbgraph --help` imports nothing but click.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module

import click

from graphviz_tb import __version__
from graphviz_tb.commands.terminal import detach_stdout, print_message, replace_closed_streams

# Name to module, function and the line that `--help` shows.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "open": ("graphviz_tb.commands.open", "open_page", "Show a graph or log directory in the browser."),
    "render": (
        "graphviz_tb.commands.render",
        "render",
        "Draw a graph: SVG, PNG, PDF, HTML, DOT, JSON.",
    ),
    "diff": ("graphviz_tb.commands.diff", "diff", "Report the changes between two graphs."),
    "info": ("graphviz_tb.commands.info", "info", "Describe a graph or log directory."),
    "serve": ("graphviz_tb.commands.serve", "serve", "Follow a training in the browser."),
    "find": ("graphviz_tb.commands.find", "find", "Find ops and groups by name, type, shape, cost …"),
    "check": ("graphviz_tb.commands.check", "check", "Check assertions: counts, parameters, FLOPs."),
    "review": ("graphviz_tb.commands.review", "review", "Report the changes to a model since a git revision."),
    "tree": ("graphviz_tb.commands.tree", "tree", "Print the name scopes as a tree."),
    "scalars": (
        "graphviz_tb.commands.scalars",
        "scalars",
        "Print logged scalars: table, curves, CSV, chart.",
    ),
    "project": ("graphviz_tb.commands.project", "project", "List embeddings, or draw one as a cloud of points."),
}

COLLECTOR_THRESHOLD = 100_000  # objects between two collections: objects made by imports are never garbage
EXIT_UNEXPECTED, EXIT_INTERRUPTED = 70, 130  # EX_SOFTWARE of sysexits.h; 128 + SIGINT, as in shells
EXIT_REQUEST, EXIT_MACHINE = 2, 5  # exit codes of `RequestError` and `ToolError`
ANSWERED_OPTIONS = ("-h", "--help", "-V", "--version")  # options of tbgraph itself, answered without a command


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the implied command before words that name no command."""
        if args and args[0] not in COMMANDS and args[0] not in ANSWERED_OPTIONS:
            from graphviz_tb.commands.habits import (  # only needed here
                COMMAND_SYNONYMS,
                SILENT_SYNONYMS,
                choose_command,
            )

            word, args = args[0], choose_command(args, COMMANDS)
            is_noted = args[0] != word and word in COMMAND_SYNONYMS and word not in SILENT_SYNONYMS
            if is_noted and not ctx.resilient_parsing:
                print_message("note", f"`tbgraph {word}` is `tbgraph {args[0]}`", "yellow")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant, and its words, with options of similar programs translated."""
        word = args[0]
        # Leave options to click, whose message lists them.
        if word not in COMMANDS and not word.startswith("-"):
            ctx.fail(f"no command {word!r}; {_command_hint(word)}")
        name, command, words = super().resolve_command(ctx, args)
        if command is not None and any(text.startswith("-") and text != "-" for text in words):
            from graphviz_tb.commands.habits import translate_options

            words = translate_options(command, name or "", words)
        return name, command, words

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        from graphviz_tb.commands.options import complete_file_names  # not needed for the help of all commands

        module, function, _ = COMMANDS[name]
        return complete_file_names(getattr(import_module(module), function))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


def _command_hint(word: str) -> str:
    """Return a hint for a word that is not a command.

    >>> _command_hint("rendr"), _command_hint("xyz")[:37]
    ('did you mean: tbgraph render', 'choose one of: open, render, diff, in')
    """
    from graphviz_tb.commands.habits import REFUSED_WORDS

    if word in REFUSED_WORDS:
        return REFUSED_WORDS[word]
    from difflib import get_close_matches  # only needed for a wrong word

    near = get_close_matches(word, COMMANDS, n=1)
    return f"did you mean: tbgraph {near[0]}" if near else f"choose one of: {', '.join(COMMANDS)}"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, "-V", "--version", prog_name="tbgraph")
@click.pass_context
def cli(context: click.Context) -> None:
    """Draw, describe, check and compare TensorFlow, Keras and PyTorch graphs.

    \b
    tbgraph model.pb                             # show it in the browser
    tbgraph render model.pbtxt -o graph.svg      # draw it, folded to a readable size
    tbgraph render logdir --run train -o g.png   # draw a run of a log directory
    tbgraph diff old.pb new.pb                   # report the changes
    tbgraph info saved_model/                    # describe it

    MODEL is a GraphDef (binary or text), SavedModel, MetaGraph, event file, log directory, Keras model, or a model of
    torch.export, ONNX or TensorFlow Lite, detected by its content; "-" reads standard input. `tbgraph COMMAND --help`
    describes a command.
    """
    # Releases of click differ in where they print the help, and in the exit code.
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        context.exit(EXIT_REQUEST)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 request, 3 file, 4 graph, 5 machine, 70 a fault of ours, 130 Ctrl-C,
    143 SIGTERM."""
    replace_closed_streams()
    gc.set_threshold(COLLECTOR_THRESHOLD)
    sys.exit(_run_command_line(arguments))


def _run_command_line(arguments: list[str] | None = None) -> int:
    try:
        # Not `standalone_mode`: click would print and exit by its own codes.
        result = cli.main(args=arguments, prog_name="tbgraph", standalone_mode=False)
        sys.stdout.flush()
        # A command that returns nothing has succeeded.
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort as stop:
        # Click raises it for Control-C, and for an `EOFError`, which is never a closed terminal here.
        return _report_fault(stop.__cause__) if isinstance(stop.__cause__, EOFError) else EXIT_INTERRUPTED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        _print_click_error(error)
        return error.exit_code
    except (BrokenPipeError, SystemExit):  # the reader of a pipe has ended, for which click raises SystemExit
        detach_stdout()
        return 0
    except MemoryError:
        print_error("out of memory", "give it more, or draw less of the graph: --depth 1, --page-max 5")
        return EXIT_MACHINE
    except Exception as error:
        # Only needed for an error: the help of all commands imports nothing but click.
        from graphviz_tb.errors import Ambiguous, MalformedAssertion, TbGraphError, ToolFailed

        if isinstance(error, TbGraphError):
            # These messages have several lines: choices, the output of a program, the place of an error.
            is_multiline = isinstance(error, Ambiguous | ToolFailed | MalformedAssertion)
            print_error(error.message if not str(error) else str(error), error.hint, is_multiline)
            return error.exit_code
        if os.environ.get("TBGRAPH_DEBUG"):
            raise
        # An OSError with a number comes from the machine, not from a fault in the program.
        if isinstance(error, OSError) and error.errno:
            return _report_machine_fault(error)
        return _report_fault(error)


def _report_fault(error: BaseException) -> int:
    print_error(f"unexpected {type(error).__name__}: {error}", "a fault of tbgraph; TBGRAPH_DEBUG=1 shows where")
    return EXIT_UNEXPECTED


def _report_machine_fault(error: OSError) -> int:
    """Report a failure of the machine: a file, the current folder, or standard output, which is closed then."""
    detach_stdout()
    nameless = "the current folder is gone" if isinstance(error, FileNotFoundError) else "cannot write standard output"
    what = nameless if error.filename is None else f"cannot open {str(error.filename)!r}"
    print_error(f"{what}: {os.strerror(error.errno or 0)}", None)
    return EXIT_MACHINE


def _print_click_error(error: click.ClickException) -> None:
    """Print click's own error: the usage, and the message, which may repeat any word of the user."""
    from graphviz_tb.limits import MAX_MESSAGE_LETTERS
    from graphviz_tb.model.formatting import printable
    from graphviz_tb.model.measure import truncate_middle

    shown = io.StringIO()
    error.show(shown)
    usage, mark, _ = shown.getvalue().partition("Error: ")
    print(f"{usage}{mark}{truncate_middle(printable(error.format_message()), MAX_MESSAGE_LETTERS)}", file=sys.stderr)


def print_error(message: str, hint: str | None, is_multiline: bool = False) -> None:
    """Print an error, with its line breaks if `is_multiline`, and a hint."""
    print_message("error", message, "red", is_multiline)
    if hint:
        print_message("hint", hint, "cyan")
