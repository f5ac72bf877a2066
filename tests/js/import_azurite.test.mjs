// kyanite import azurite: what the SDKs put into Azurite is what they read from Kyanite. Azurite is the locked one of
// tests/azurite; where it could not be installed its tests are skipped.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { fill, read } from './azurite_data.mjs';
import { ACCOUNT, KEY, Server } from './server.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const binary = process.env.KYANITE_BINARY ?? path.join(root, 'build/release/kyanite');
const azurite = path.join(root, 'build/azurite/node_modules/azurite/dist/src/azurite.js');
const skip = existsSync(azurite) ? false : 'Azurite is not installed: ./dev test installs it where npm has all of it';

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

const until = async (what, patience = 60_000) => {
  const end = Date.now() + patience;
  for (;;) {
    try {
      return await what();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
};

const kyanite = (...words) => spawnSync(binary, words, { encoding: 'utf8' });

describe('a data directory of Azurite', { skip }, () => {
  let scratch, data, expected;

  before(async () => {
    scratch = await mkdtemp(path.join(tmpdir(), 'kyanite-import-'));
    data = path.join(scratch, 'azurite');
    const [blob, queue, table] = [await freePort(), await freePort(), await freePort()];
    const process = spawn('node', [azurite, '-s', '--skipApiVersionCheck', '--disableTelemetry', '-l', data, '--blobPort', blob, '--queuePort', queue,
      '--tablePort', table], { stdio: 'ignore' });
    after(() => process.kill('SIGKILL'));
    const at = (port) => `http://127.0.0.1:${port}/${ACCOUNT}`;
    const connection = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${at(blob)};` +
      `QueueEndpoint=${at(queue)};TableEndpoint=${at(table)};`;
    await until(() => BlobServiceClient.fromConnectionString(connection, { retryOptions: { maxTries: 1 } }).getProperties());
    await until(() => QueueServiceClient.fromConnectionString(connection, { retryOptions: { maxTries: 1 } }).getProperties());
    await fill(connection);
    // The message that was taken can be seen again.
    await until(async () => {
      const { peekedMessageItems } = await QueueServiceClient.fromConnectionString(connection).getQueueClient('jobs').peekMessages({ numberOfMessages: 32 });
      assert.equal(peekedMessageItems.length, 4);
    });
    expected = await read(connection);
    const ended = new Promise((resolve) => process.on('exit', resolve));
    process.kill('SIGINT');
    await ended;
  });
  after(() => rm(scratch, { recursive: true, force: true }));

  it('is brought over with all that can be seen of it', async () => {
    const location = path.join(scratch, 'location');
    const done = kyanite('import', 'azurite', data, '--location', location);
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /6 containers, .* 4 uncommitted blocks, 3 queues, 8 messages, 3 tables, 12 entities/);
    const checked = kyanite('check', '-l', location);
    assert.equal(checked.status, 0, checked.stdout);
    const server = await Server.start({ location });
    const seen = await read(server.connectionString);
    await server.stop();
    for (const both of [expected, seen]) {
      for (const container of Object.values(both.containers)) {
        for (const blob of Object.values(container.blobs)) {
          delete blob.sealed; // Azurite also says that a blob is not sealed.
          blob.metadata = Object.fromEntries(Object.entries(blob.metadata ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
        }
      }
    }
    assert.deepEqual(seen.queues, expected.queues);
    assert.deepEqual(seen.tables, expected.tables);
    assert.deepEqual(seen.cors, expected.cors);
    assert.deepEqual(Object.keys(seen.containers), Object.keys(expected.containers));
    for (const [name, container] of Object.entries(expected.containers)) {
      const { blobs, ...rest } = container;
      const { blobs: seenBlobs, ...seenRest } = seen.containers[name];
      assert.deepEqual(seenRest, rest);
      assert.deepEqual(Object.keys(seenBlobs).sort(), Object.keys(blobs).sort());
      for (const [key, blob] of Object.entries(blobs)) assert.deepEqual(seenBlobs[key], blob, key);
    }
  });

  it('is told from ours at a start, and left as it is', async () => {
    const before = await readdir(data);
    const done = kyanite('--location', data, '--blobPort', '0');
    assert.notEqual(done.status, 0);
    assert.match(done.stderr, /data directory of Azurite's: bring it over with kyanite import azurite/);
    assert.deepEqual(await readdir(data), before);
  });

  it('is not brought into a directory that has something in it', async () => {
    const full = await mkdtemp(path.join(scratch, 'full-'));
    await writeFile(path.join(full, 'something'), 'x');
    const done = kyanite('import', 'azurite', data, '--location', full);
    assert.equal(done.status, 1);
    assert.match(done.stderr, /is not empty/);
    assert.deepEqual(await readdir(full), ['something']);
  });

  it('is not brought into a directory that somebody uses, and made within it', async () => {
    const location = path.join(scratch, 'used');
    await mkdir(location, { mode: 0o755 });
    const holder = spawn('flock', [path.join(location, 'lock'), 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'ignore'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const refused = kyanite('import', 'azurite', data, '--location', location);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /a server or another command uses the directory/);
    const gone = new Promise((resolve) => holder.on('exit', resolve));
    holder.stdin.end('go\n');
    await gone;
    // What is left of one that was killed is removed, and no server starts on it.
    await mkdir(path.join(location, 'making'));
    await writeFile(path.join(location, 'IMPORTING'), '');
    const started = kyanite('--location', location, '--blobPort', '0');
    assert.notEqual(started.status, 0);
    assert.match(started.stderr, /was not brought over to its end: run kyanite import again/);
    const beside = await readdir(scratch);
    assert.equal(kyanite('import', 'azurite', data, '--location', location).status, 0);
    assert.deepEqual(await readdir(scratch), beside);
    assert.deepEqual((await readdir(location)).filter((name) => ['IMPORTING', 'making'].includes(name)), []);
    const own = await stat(path.join(location, 'FORMAT'));
    assert.equal(own.mode & 0o077, 0);
    assert.equal(kyanite('check', '-l', location).status, 0);
  });

  it('is refused as a whole when an extent is missing or a database is cut', async () => {
    const broken = path.join(scratch, 'broken');
    await cp(data, broken, { recursive: true });
    const location = path.join(scratch, 'never');
    const [extent] = await readdir(path.join(broken, '__blobstorage__'));
    await rm(path.join(broken, '__blobstorage__', extent));
    const missing = kyanite('import', 'azurite', broken, '--location', location);
    assert.equal(missing.status, 1);
    assert.match(missing.stderr, /No such file/);
    // What can be used for the next try, and has nothing of this one.
    assert.deepEqual(await readdir(location), ['lock']);
    const database = path.join(broken, '__azurite_db_table__.json');
    await writeFile(database, (await readFile(database)).subarray(0, 500));
    const cut = kyanite('import', 'azurite', broken, '--location', location);
    assert.equal(cut.status, 1);
    assert.match(cut.stderr, /is no JSON/);
    assert.deepEqual(await readdir(location), ['lock']);
    assert.equal(kyanite('import', 'azurite', data, '--location', location).status, 0);
  });
});

describe('kyanite import', () => {
  it('refuses what it does not know', () => {
    assert.throws(() => execFileSync(binary, ['import', 'minio', '/tmp'], { stdio: 'pipe' }), /only directories of Azurite are known/);
    assert.throws(() => execFileSync(binary, ['import', 'azurite', '/nonexistent', '-l', '/tmp/kyanite-never'], { stdio: 'pipe' }), /holds none of Azurite's databases/);
  });
});
