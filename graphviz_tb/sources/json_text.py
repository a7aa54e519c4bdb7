"""Parse the JSON of a source, which may be damaged or hostile."""

from __future__ import annotations

import json
import re
from typing import Any

from graphviz_tb.errors import MalformedText
from graphviz_tb.sources.bounds import is_nested_too_deep

LONE_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of a surrogate, perhaps without its partner


def parse_json(data: bytes, name: str) -> Any:
    """Parse JSON; lone surrogates, which no name can have, become question marks. Raises MalformedText."""
    # JSON may also be UTF-16 or UTF-32; the first bytes show which.
    try:
        text = data.decode(json.detect_encoding(data))
        if is_nested_too_deep(text):
            raise RecursionError
        parsed = json.loads(text)
        if LONE_SURROGATE_ESCAPE.search(data):
            # Encode and parse again, so that surrogates are replaced everywhere.
            parsed = json.loads(json.dumps(parsed, ensure_ascii=False).encode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise MalformedText(f"no JSON: {error.msg}", line=error.lineno, column=error.colno, name=name) from None
    except UnicodeDecodeError as error:
        raise MalformedText(f"no JSON: not {error.encoding.upper()}", line=1, column=1, name=name) from None
    except RecursionError:
        raise MalformedText("no JSON: nested too deep", line=1, column=1, name=name) from None
    except ValueError:  # int() of more digits than Python reads
        raise MalformedText("no JSON: a number of thousands of digits", line=1, column=1, name=name) from None
    return parsed
