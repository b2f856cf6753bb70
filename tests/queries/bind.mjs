// Parses and binds KQL with Kusto's own language service, offline: `node bind.mjs FOLDER`, where FOLDER holds
// node_modules. stdin: {tables: {name: "column: type, ..."}, queries: {name: text}};
// stdout: {name: {errors: ["..."], columns: {name: type}}}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
require('@kusto/language-service-next/bridge.js');
require('@kusto/language-service-next/Kusto.Language.Bridge.js');
const { KustoCode, GlobalState, Symbols } = globalThis.Kusto.Language;

// The service is compiled from C#: its lists are walked by index.
const listed = (list) => Array.from({ length: list.Count }, (_, index) => list.getItem(index));

const { tables, queries } = JSON.parse(readFileSync(0, 'utf8'));
const symbols = Object.entries(tables).map(
  ([name, columns]) => Symbols.TableSymbol.From(`(${columns})`).WithName(name),
);
const globals = GlobalState.Default.WithDatabase(new Symbols.DatabaseSymbol.ctor('insights', symbols));

const bound = {};
for (const [name, text] of Object.entries(queries)) {
  const code = KustoCode.ParseAndAnalyze(text, globals);
  const errors = listed(code.GetDiagnostics()).map(({ Severity, Message, Start }) => {
    const line = text.slice(0, Start).split('\n').length;
    return `line ${line}: ${Severity}: ${Message}`;
  });
  const columns = code.ResultType?.Columns ? listed(code.ResultType.Columns) : [];
  bound[name] = { errors, columns: Object.fromEntries(columns.map(({ Name, Type }) => [Name, Type.Name])) };
}
process.stdout.write(JSON.stringify(bound));
