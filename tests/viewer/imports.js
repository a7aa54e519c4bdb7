// Checks that modules import every name of another module that they use, and nothing else: `node imports.js FOLDER MODULE…`.
// Modules are read as scripts of one scope, in which TypeScript finds where each name is declared.
const ts = require("typescript");
const path = require("node:path");

const [, , folder, ...modules] = process.argv;
const files = modules.map((module) => path.join(folder, module));
const blank = (text) => text.replace(/^import .*$/gm, "").replace(/^export /gm, "       ");
const host = ts.createCompilerHost({});
const own = new Map(files.map((file) => [file, ts.sys.readFile(file)]));
const getSourceFile = host.getSourceFile.bind(host);
host.getSourceFile = (name, ...rest) => (own.has(name) ? ts.createSourceFile(name, blank(own.get(name)), ts.ScriptTarget.ES2023, true, ts.ScriptKind.JS) : getSourceFile(name, ...rest));
const program = ts.createProgram(files, { allowJs: true, checkJs: true, noEmit: true, target: ts.ScriptTarget.ES2023, lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] }, host);
const checker = program.getTypeChecker();

/** The names of other modules that a module uses, as `name from path`. */
function used(file) {
  const found = new Set();
  const source = program.getSourceFile(file);
  const visit = (node) => {
    const isKey = node.parent && ((ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) || (ts.isBindingElement(node.parent) && node.parent.propertyName === node));
    if (ts.isIdentifier(node) && !isKey) {
      const symbol = ts.isShorthandPropertyAssignment(node.parent) ? checker.getShorthandAssignmentValueSymbol(node.parent) : checker.getSymbolAtLocation(node);
      const declared = symbol?.valueDeclaration;
      const from = declared?.getSourceFile();
      if (from && from !== source && own.has(from.fileName)) {
        let top = declared;
        while (!ts.isSourceFile(top.parent)) top = top.parent;
        const named = ts.isBindingElement(declared) ? declared.parent.parent : declared;
        if (top === declared || named.parent?.parent === top) found.add(`${node.text} from ${path.relative(folder, from.fileName)}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

/** The names that a module imports, in the same words. */
function imported(file) {
  const found = new Set();
  for (const [, names, from] of own.get(file).matchAll(/^import \{ ([^}]*) \} from "([^"]+)";$/gm)) {
    for (const name of names.split(", ")) found.add(`${name} from ${path.relative(folder, path.resolve(path.dirname(file), from))}`);
  }
  return found;
}

/** Whether a module exports a name. */
const exported = (file, name) => new RegExp(`^export (?:async )?(?:(?:const|let|class|function\\*?) )${name.replace("$", "\\$")}\\b|^export (?:const|let) [\\[{][^=]*\\b${name}\\b[^=]*=`, "m").test(own.get(file));

for (const file of files) {
  const [needs, has] = [used(file), imported(file)];
  for (const one of needs) if (!has.has(one)) console.log(`${path.relative(folder, file)} does not import ${one}`);
  for (const one of has) if (!needs.has(one)) console.log(`${path.relative(folder, file)} does not need ${one}`);
  for (const one of has) {
    const [name, from] = one.split(" from ");
    if (!exported(path.join(folder, from), name)) console.log(`${from} does not export ${name}`);
  }
}
