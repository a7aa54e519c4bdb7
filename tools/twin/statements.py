"""Translate statements, functions and classes."""

from __future__ import annotations

import ast

from twin.expressions import Expressions
from twin.kinds import Kinds
from twin.names import Global, World, bound

AUGMENTED = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.BitXor: "^="}


class Statements(Expressions):
    """Translates the definitions of one module."""

    def __init__(self, world: World, kinds: Kinds, module: str) -> None:
        super().__init__(world, kinds, module)
        self.lines: list[str] = []
        self.depth = 0

    def definition(self, one: Global) -> list[str]:
        """Return the lines of a function, a class or a constant."""
        node, name = self.world.definition(one), self.world.js[one]
        if isinstance(node, ast.FunctionDef):
            return self.function(node, f"function {'*' if yields(node) else ''}{name}")
        if isinstance(node, ast.ClassDef):
            return self.klass(node, name)
        return [f"const {name} = {self.expr(node)};"]

    def function(self, node: ast.FunctionDef, head: str, method: bool = False) -> list[str]:
        """Return the lines of a function; local names are declared at its top."""
        args = node.args
        params = [one.arg for one in (*args.posonlyargs, *args.args)]
        defaults: dict[str, ast.expr] = dict(
            zip(params[len(params) - len(args.defaults) :], args.defaults, strict=True)
        )
        defaults |= {one.arg: value for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value}
        params += [one.arg for one in args.kwonlyargs]
        params += [args.kwarg.arg] if args.kwarg else []
        if (args.vararg and args.kwonlyargs) or (args.kwarg and len(params) > 1):
            raise self.fail(node, "a list of arguments")
        params += [args.vararg.arg] if args.vararg else []
        written = {name: f" = {self.expr(value)}" for name, value in defaults.items()}
        before, self.lines = self.lines, []
        outer = self.self_name
        if method:
            self.self_name, params = params[0], params[1:]
        names = bound(node.body)
        with self.scope({*params, *names}):
            own = [self.local(name) for name in names if name not in params and not self.inner(node, name)]
            self.depth += 1
            if own:
                self.line(f"let {', '.join(own)};")
            self.body(node.body)
            self.depth -= 1
            rest = args.vararg.arg if args.vararg else None
            listed = ", ".join(f"{'...' * (name == rest)}{self.local(name)}{written.get(name, '')}" for name in params)
        found, self.lines, self.self_name = self.lines, before, outer
        pad = "  " * self.depth
        return [f"{pad}{head}({listed}) {{", *found, f"{pad}}}"]

    def inner(self, node: ast.FunctionDef, name: str) -> bool:
        return any(isinstance(one, ast.FunctionDef) and one.name == name for one in ast.walk(node) if one is not node)

    def klass(self, node: ast.ClassDef, name: str) -> list[str]:
        """Return the lines of a class; a dataclass gets a constructor."""
        base = self.base(node)
        found = [f"class {name} extends {base} {{" if base else f"class {name} {{"]
        self.depth += 1
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        fields = fields if node.decorator_list else []  # a plain class only declares the fields of its subclasses
        if fields:
            names = [one.target.id for one in fields if isinstance(one.target, ast.Name)]
            listed = ", ".join(
                self.local(name) + self.default(node, one) for name, one in zip(names, fields, strict=True)
            )
            found += [f"  constructor({listed}) {{", *(["    super();"] if base else [])]
            found += [f"    this.{name} = {self.local(name)};" for name in names] + ["  }"]
        for one in node.body:
            if isinstance(one, ast.FunctionDef):
                getter = any(isinstance(by, ast.Name) and by.id == "property" for by in one.decorator_list)
                mark = "get " if getter else "*" if yields(one) else ""
                head = "constructor" if one.name == "__init__" else f"{mark}{one.name}"
                found += self.function(one, head, method=True)
        self.depth -= 1
        return [*found, "}"]

    def base(self, node: ast.ClassDef) -> str:
        """Return the name of the base class if it is of the package; else ""."""
        found = [self.world.resolve(self.module, one.id) for one in node.bases if isinstance(one, ast.Name)]
        ours = [one for one in found if isinstance(one, Global)]
        for one in ours:
            definition = self.world.definition(one)
            if not isinstance(definition, ast.ClassDef) or definition.decorator_list:
                raise self.fail(node, "a base class with fields of its own")
        return self.use(ours[0]) if ours else ""

    def default(self, owner: ast.ClassDef, one: ast.AnnAssign) -> str:
        """Return the default of a field."""
        value = one.value
        if value is None:
            return ""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "field"):
            return f" = {self.expr(value)}"
        said = {word.arg: word.value for word in value.keywords}
        if "default" in said:
            return f" = {self.expr(said['default'])}"
        if "default_factory" not in said:
            return ""
        factory = ast.unparse(said["default_factory"])
        assert isinstance(one.target, ast.Name)
        kind = self.kinds.field(self.module, owner.name, one.target.id)
        if factory == "dict":
            return f" = new {self.map_class(kind)}()"
        if factory in ("set", "frozenset"):
            return f" = new {self.set_class(kind)}()"
        if factory in ("list", "tuple"):
            return " = []"
        return f" = {self.expr(said['default_factory'])}()"

    # statements

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def body(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            run = getattr(self, f"do_{type(node).__name__}", None)
            if run is None:
                raise self.fail(node, f"no {type(node).__name__} in the subset")
            run(node)

    def block(self, head: str, nodes: list[ast.stmt]) -> None:
        self.line(f"{head} {{")
        self.depth += 1
        self.body(nodes)
        self.depth -= 1
        self.line("}")

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.lines += self.function(node, f"function {'*' if yields(node) else ''}{self.local(node.name)}")

    def do_Return(self, node: ast.Return) -> None:
        self.line(f"return {self.expr(node.value)};" if node.value else "return;")

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        pass

    def do_Assert(self, node: ast.Assert) -> None:
        pass

    def do_Break(self, node: ast.Break) -> None:
        self.line("break;")

    def do_Continue(self, node: ast.Continue) -> None:
        self.line("continue;")

    def do_Raise(self, node: ast.Raise) -> None:
        """Throw an error that a hand-written function creates, for readers; any other is for developers only."""
        made = self.meaning(node.exc.func) if isinstance(node.exc, ast.Call) else None
        by_hand = isinstance(made, Global) and self.world.js[made].startswith("hand_")
        self.line(
            f"throw {self.expr(node.exc)};" if by_hand and node.exc else f"throw new Error({ast.unparse(node)!r});"
        )

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.IfExp):
            self.block(f"if ({self.truth(node.value.test)})", [ast.Expr(node.value.body)])
            self.block("else", [ast.Expr(node.value.orelse)])
        elif isinstance(node.value, ast.Yield):
            assert node.value.value is not None
            self.line(f"yield {self.expr(node.value.value)};")
        elif isinstance(node.value, ast.YieldFrom):
            self.line(f"yield* {self.iterable(node.value.value)};")
        else:
            self.line(f"{self.expr(node.value)};")

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expr(node.value)
        for target in node.targets:
            self.assign(target, value)
            value = self.expr(load(node.targets[0])) if len(node.targets) > 1 else value

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expr(node.value))

    def assign(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Subscript):
            self.store(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self.line(f"{self.stored(target)} = {value};")
        elif isinstance(target, ast.Attribute):
            self.line(f"{self.expr(target)} = {value};")
        else:
            self.line(f"{self.target(target)} = {value};")

    def store(self, target: ast.Subscript, value: str) -> None:
        target_value = self.expr(target.value)
        if self.kind(target.value).name == "dict":
            self.line(f"{target_value}.set({self.expr(target.slice)}, {value});")
        else:
            self.line(f"{self.stored(target)} = {value};")

    def stored(self, node: ast.expr) -> str:
        """Translate a target to which JavaScript can assign."""
        if isinstance(node, ast.Tuple | ast.List):
            return f"[{', '.join(map(self.stored, node.elts))}]"
        if isinstance(node, ast.Attribute):
            return self.expr(node)
        if not isinstance(node, ast.Subscript):
            return self.target(node)
        kind, target_value = self.kind(node.value), self.expr(node.value)
        if not kind.array or isinstance(node.slice, ast.Slice):
            raise self.fail(node, "target")
        written = self.expr(node.slice)
        if self.kind(node.slice).name == "bool":
            written = f"Number({written})"
        if not (isinstance(node.slice, ast.Constant) or written.startswith("Number(")):  # it may count from the end
            written = f"py_position({target_value}, {written})"
        return f"{target_value}[{written}]"

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        target, value = load(node.target), self.expr(node.value)
        kind = (
            self.kind(node.target) if not isinstance(node.target, ast.Name) else self.kinds.of(self.module, node.target)
        )
        target_value = self.kinds.of(self.module, node.value)
        if kind.name == "any":
            kind = target_value
        if kind.name == "list" or (kind.name == "any" and target_value.array):
            self.line(f"py_extend({self.expr(target)}, {self.iterable(node.value)});")
        elif kind.name == "tuple":
            self.assign(node.target, f"[...{self.expr(target)}, ...{self.iterable(node.value)}]")
        elif kind.name == "dict" and isinstance(node.op, ast.BitOr):
            self.line(f"py_update({self.expr(target)}, {value});")
        elif kind.name == "set":
            name = {ast.BitOr: "union", ast.BitAnd: "intersection", ast.Sub: "difference"}[type(node.op)]
            self.assign(node.target, f"py_{name}({self.expr(target)}, {value})")
        elif isinstance(node.target, ast.Subscript) and self.kind(node.target.value).name == "dict":
            if not isinstance(node.op, ast.Add | ast.Sub):
                raise self.fail(node, "operator")
            sign = "+" if isinstance(node.op, ast.Add) else "-"
            self.store(node.target, f"{self.expr(target)} {sign} {value}")
        elif isinstance(node.op, ast.FloorDiv):
            self.assign(node.target, f"Math.floor({self.expr(target)} / {value})")
        elif type(node.op) in AUGMENTED:
            self.line(f"{self.stored(node.target)} {AUGMENTED[type(node.op)]} {value};")
        else:
            raise self.fail(node, "operator")

    def do_If(self, node: ast.If) -> None:
        self.block(f"if ({self.truth(node.test)})", node.body)
        if node.orelse:
            self.block("else", node.orelse)

    def do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.fail(node, "else of a loop")
        self.block(f"while ({self.truth(node.test)})", node.body)

    def do_For(self, node: ast.For) -> None:
        if node.orelse:
            raise self.fail(node, "else of a loop")
        self.block(f"for ({self.target(node.target)} of {self.iterable(node.iter)})", node.body)

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or self.kind(target.value).name != "dict":
                raise self.fail(node, "del")
            self.line(f"{self.expr(target.value)}.delete({self.expr(target.slice)});")


def load(node: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    found = ast.parse(ast.unparse(node), mode="eval").body
    for one, other in zip(ast.walk(found), ast.walk(node), strict=True):
        if isinstance(one, ast.expr):
            ast.copy_location(one, other)
    return found


def yields(node: ast.FunctionDef) -> bool:
    """Return whether a function is a generator."""
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node))
