// Counts tokens as o200k does: `node count.mjs FOLDER`, where FOLDER holds node_modules.
// stdin: [text, ...]; stdout: [number, ...].
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
const { Tiktoken } = require('js-tiktoken/lite');
const tokenizer = new Tiktoken(require('js-tiktoken/ranks/o200k_base'));

const texts = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => tokenizer.encode(text, [], []).length)));
