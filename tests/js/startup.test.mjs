// Starting and stopping: what is printed, what is refused and why, signals, the admin pages.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ACCOUNT, FREE_PORTS, KEY, Server, run, tlsFlags } from './server.mjs';

let directory;
before(async () => (directory = await mkdtemp(path.join(tmpdir(), 'kyanite-startup-'))));
after(() => rm(directory, { recursive: true, force: true }));

test('help and version end at once', async () => {
  const help = await run(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.output, /--blobPort/);
  assert.ok(help.output.split('\n').length <= 51);
  for (const words of [['-v'], ['version'], ['azurite', '-v']]) assert.deepEqual(await run(words), { code: 0, output: 'kyanite 0.1.0\n', errors: '' });
  assert.deepEqual(await run(['help']), help);
});

test('mistakes are refused before anything is touched', async (t) => {
  const wildcard = ['--blobHost', '0.0.0.0'];
  const cases = [
    ['unknown flag', ['--blobProt', '1'], {}, /did you mean --blobPort\?/],
    ['well-known account for everyone', wildcard, {}, /0\.0\.0\.0.*AZURITE_ACCOUNTS/],
    ['bad key', [], { AZURITE_ACCOUNTS: 'acme:???' }, /AZURITE_ACCOUNTS.*acme is not base64/],
    ['missing configuration', ['--config', '/nonexistent'], {}, /\/nonexistent/],
    ['missing certificate', ['--cert', '/nonexistent', '--key', '/nonexistent'], {}, /\/nonexistent/],
  ];
  for (const [name, flags, env, message] of cases) {
    await t.test(name, async () => {
      const location = path.join(directory, 'never');
      const result = await run(['-l', location, ...FREE_PORTS, ...flags], env);
      assert.equal(result.code, 1);
      assert.match(result.errors, message);
      assert.equal(result.output, '');
      await assert.rejects(rm(location), { code: 'ENOENT' });
    });
  }
});

test('an unwritable location is refused', async () => {
  const file = path.join(directory, 'a-file');
  await writeFile(file, '');
  const result = await run(['-l', file, ...FREE_PORTS]);
  assert.equal(result.code, 1);
  assert.match(result.errors, /a-file/);
});

test('a second process on the same location is refused', async () => {
  const server = await Server.start();
  const second = await run(['-l', server.location, ...FREE_PORTS]);
  assert.equal(second.code, 1);
  assert.match(second.errors, /Another Kyanite process/);
  await server.stop();
});

test('a taken port is named', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address();
  const result = await run(['--inMemoryPersistence', ...FREE_PORTS, '--blobPort', String(port)]);
  taken.close();
  assert.equal(result.code, 1);
  assert.match(result.errors, new RegExp(`${port}.*in use.*--blobPort`));
});

test('the start-up text has a ready connection string', async () => {
  const server = await Server.start();
  assert.match(server.connectionString, new RegExp(`AccountName=${ACCOUNT};`));
  assert.ok(server.connectionString.includes(`AccountKey=${KEY};`));
  assert.ok(server.connectionString.includes(`BlobEndpoint=${server.blobUrl};`));
  assert.ok(server.output.includes(server.location));
  await server.stop();
});

test('accounts come from environment and configuration; their keys are not printed', async () => {
  const config = path.join(directory, 'config.json');
  await writeFile(config, JSON.stringify({ accounts: [{ name: 'fromfile', keys: ['ZmlsZQ=='] }] }));
  const server = await Server.start({
    flags: ['--config', config, '--blobHost', '0.0.0.0'],
    env: { AZURITE_ACCOUNTS: 'fromenv:ZW52:ZW52Mg==' },
  });
  assert.match(server.output, /AccountName=fromenv/);
  assert.match(server.output, /AccountName=fromfile/);
  assert.doesNotMatch(server.output, /devstoreaccount1|ZmlsZQ|ZW52/);
  await server.stop();
});

test('flags without effect are said in the log', async () => {
  const server = await Server.start({ flags: ['--disableTelemetry'] });
  assert.match(server.log, /disableTelemetry/);
  await server.stop();
});

test('unverified tokens are said at every start, and refused to everybody else', async () => {
  const tls = await tlsFlags();
  const server = await Server.start({ flags: ['--oauth', 'basic', ...tls] });
  assert.match(server.log, /tokens are not verified.*oauth\.jwks/);
  await server.stop();
  const debugged = await Server.start({ flags: ['--oauth', 'basic', ...tls, '-d', path.join(directory, 'tokens.log')] });
  assert.match(debugged.log, /tokens are not verified.*oauth\.jwks/);
  await debugged.stop();
  const location = path.join(directory, 'never');
  const open = await run(['-l', location, ...FREE_PORTS, '--oauth', 'basic', ...tls, '--tableHost', '0.0.0.0'], { AZURITE_ACCOUNTS: 'acme:a2V5' });
  assert.equal(open.code, 1);
  assert.match(open.errors, /0\.0\.0\.0.*no key set.*oauth\.jwks.*--config/);
  await assert.rejects(rm(location), { code: 'ENOENT' });
});

test('the debug log shows headers, without secrets', async () => {
  const file = path.join(directory, 'debug.log');
  const server = await Server.start({ flags: ['-d', file] });
  const headers = { authorization: 'SharedKey acme:c2VjcmV0', 'x-ms-version': '2021-12-02', 'x-ms-encryption-key': 'c2VjcmV0',
    'x-ms-copy-source': 'http://h/a?sig=c2VjcmV0&sp=r', 'x-ms-meta-shown': 'plainly' };
  await fetch(`${server.blobUrl}?comp=list&sig=c2VjcmV0`, { headers });
  await server.stop();
  const log = await readFile(file, 'utf8');
  assert.match(log, /request-headers id=\S+ .*x-ms-meta-shown: plainly/);
  assert.match(log, /x-ms-copy-source: http:\/\/h\/a\?sig=REDACTED&sp=r/);
  assert.match(log, /authorization: SharedKey REDACTED/);
  assert.match(log, /reply-headers id=\S+ .*x-ms-error-code: \w+/);
  assert.doesNotMatch(log, /c2VjcmV0/);
});

test('health and metrics', async () => {
  const server = await Server.start();
  const health = await fetch(`${server.adminUrl}/healthz`);
  assert.equal(health.status, 200);
  assert.equal(await health.text(), 'ok\n');
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
  assert.match(metrics, /^process_resident_memory_bytes \d+$/m);
  assert.match(metrics, /^kyanite_connections_open \d+$/m);
  for (const line of metrics.trimEnd().split('\n')) {
    assert.match(line, /^(# (TYPE|HELP) .+|[a-z_]+(\{.*\})? [0-9.e+-]+)$/);
  }
  assert.equal((await fetch(`${server.adminUrl}/`)).status, 404);
  assert.equal((await fetch(`${server.adminUrl}/healthz`, { method: 'POST' })).status, 405);
  await server.stop();
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} ends it with success, an idle connection or not`, async () => {
    const server = await Server.start();
    const idle = net.connect(new URL(server.blobUrl).port, '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    idle.on('error', () => {});
    server.process.ref();
    server.process.kill(signal);
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    await server.stop();
  });
}
