// Runs the requests of tests/raw; its README.md tells the format.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blobServer, request } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, freshContainer } = await blobServer();
const directory = path.join(path.dirname(fileURLToPath(import.meta.url)), '../raw');

// "name: value" -> [name, value]
const pair = (text) => [text.slice(0, text.indexOf(':')).trim().toLowerCase(), text.slice(text.indexOf(':') + 1).trim()];

function parse(text, file) {
  const cases = [];
  let exchange;
  const line = {
    '==': (rest) => cases.push({ name: rest, exchanges: [] }),
    '>': (rest) => {
      if (/^[A-Z]+ \//.test(rest)) {
        const [method, target] = rest.split(' ');
        exchange = { method, target, headers: {}, body: [], anonymous: false, expects: [] };
        cases.at(-1).exchanges.push(exchange);
      } else if (rest.startsWith('" ')) exchange.body.push(rest.slice(2));
      else if (rest.startsWith('- ')) exchange.headers[rest.slice(2)] = undefined;
      else if (rest === '! anonymous') exchange.anonymous = true;
      else Object.assign(exchange.headers, Object.fromEntries([pair(rest)]));
    },
    '<': (rest) => exchange.expects.push(rest),
  };
  for (const [index, one] of text.split('\n').entries()) {
    if (one === '' || one.startsWith('#')) continue;
    const [mark] = one.split(' ', 1);
    assert.ok(mark in line, `${file}:${index + 1}: ${one}`);
    line[mark](one.slice(mark.length + 1));
  }
  return cases;
}

function agrees(expected, actual = '', about = '') {
  const pattern = /^\/(.*)\/$/.exec(expected);
  if (pattern) assert.match(actual, new RegExp(pattern[1]), about);
  else assert.equal(actual, expected, about);
}

function check(expected, got, values) {
  const about = `${expected}; the reply: ${got.status} ${got.code ?? ''} ${got.text.slice(0, 600)}`;
  const status = /^(\d{3})(?: (\w+))?$/.exec(expected);
  if (status) {
    assert.equal(got.status, Number(status[1]), about);
    if (status[2]) assert.equal(got.code ?? /<Code>(.*)<\/Code>/.exec(got.text)?.[1], status[2], about);
  } else if (expected.startsWith('- ')) {
    assert.equal(got.headers[expected.slice(2)], undefined, about);
  } else if (expected.startsWith('$')) {
    const [name, header] = pair(expected.slice(1));
    values[name] = got.headers[header];
  } else if (expected.startsWith('" ')) {
    const text = expected.slice(2);
    if (/^\/.*\/$/.test(text)) agrees(text, got.text, about);
    else assert.ok(got.text.includes(text), about);
  } else {
    const [name, value] = pair(expected);
    agrees(value, got.headers[name], about);
  }
}

for (const file of readdirSync(directory).filter((name) => name.endsWith('.txt')).sort()) {
  for (const { name, exchanges } of parse(readFileSync(path.join(directory, file), 'utf8'), file)) {
    test(`${path.basename(file, '.txt')}: ${name}`, async () => {
      const values = { box: (await freshContainer()).containerName };
      const filled = (text) => text?.replaceAll(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
      for (const { method, target, headers, body, anonymous, expects } of exchanges) {
        const all = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, filled(value)]));
        const got = await request(server, method, `/${ACCOUNT}${filled(target)}`,
          { headers: all, sign: !anonymous, body: body.length ? filled(body.join('\n')) : undefined });
        for (const expected of expects) check(filled(expected), got, values);
      }
    });
  }
}
