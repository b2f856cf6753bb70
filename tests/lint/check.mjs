// Parses Cypher with Neo4j's language package, offline: `node check.mjs FOLDER`, where FOLDER holds
// node_modules. stdin: [{name, text, languages: ["CYPHER 5", ...]}];
// stdout: [{name, language, severity, line, message}].
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
const { isNotParamError, lintCypherQuery, testData } = require('@neo4j-cypher/language-support');

// What comes with plug-ins is not there on every server.
const PLUGINS = /^(apoc|gds|genai)\./;
const builtIn = (byLanguage) =>
  Object.fromEntries(
    Object.entries(byLanguage).map(([language, known]) => [
      language,
      Object.fromEntries(Object.entries(known).filter(([name]) => !PLUGINS.test(name))),
    ]),
  );
const schema = {
  functions: builtIn(testData.mockSchema.functions),
  procedures: builtIn(testData.mockSchema.procedures),
};

const found = [];
for (const { name, text, languages } of JSON.parse(readFileSync(0, 'utf8'))) {
  for (const language of languages) {
    const { diagnostics } = lintCypherQuery(text, { ...schema, defaultLanguage: language }, {});
    for (const { severity: number, range, message } of diagnostics.filter(isNotParamError)) {
      const severity = number === 1 ? 'error' : 'warning';
      found.push({ name, language, severity, line: range.start.line + 1, message });
    }
  }
}
process.stdout.write(JSON.stringify(found));
