// In place of Azurite: its names, its flags, the lines that others wait for, its environment; and keys that change.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { BlobSASPermissions, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { TableServiceClient } from '@azure/data-tables';
import { ACCOUNT, FREE_PORTS, KEY, Server, binary, run } from './server.mjs';

let directory;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'kyanite-drop-in-'));
  for (const name of ['azurite', 'azurite-blob', 'azurite-queue', 'azurite-table']) await symlink(binary, path.join(directory, name));
});
after(() => rm(directory, { recursive: true, force: true }));

// Runs a program as others do that wait for lines, and hands over what they would see.
async function started(program, flags, { env = {}, lines }) {
  const child = spawn(program, flags, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const seen = { child, output: '', errors: '' };
  process.on('exit', () => child.kill('SIGKILL'));
  seen.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  child.stderr.on('data', (bytes) => (seen.errors += bytes));
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      seen.output += bytes;
      if (lines.every((line) => line.test(seen.output))) resolve();
    });
    seen.ended.then((code) => reject(new Error(`ended with ${code}: ${seen.output}${seen.errors}`)));
  });
  return seen;
}

const urlOf = (seen, service) => new RegExp(`Azurite ${service} service .*(?:listening at|listens on) (http://\\S+)`).exec(seen.output)[1];
const THREE = ['Blob', 'Queue', 'Table'].map((name) => new RegExp(`Azurite ${name} service is successfully listening at http://127\\.0\\.0\\.1:\\d+`));
const SOME_PORTS = ['--blobPort', '0', '--queuePort', '0', '--tablePort', '0'];

test('azurite: three services, whoever waits for their lines', async () => {
  const flags = ['--silent', '--location', path.join(directory, 'three'), '--debug', path.join(directory, 'debug.log'), '--loose',
    '--skipApiVersionCheck', '--disableProductStyleUrl', '--disableTelemetry', ...SOME_PORTS];
  const seen = await started(path.join(directory, 'azurite'), flags, { lines: THREE });
  const [blob, queue, table] = ['Blob', 'Queue', 'Table'].map((service) => `${urlOf(seen, service)}/${ACCOUNT}`);
  const credentials = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY}`;
  const connection = `${credentials};BlobEndpoint=${blob};QueueEndpoint=${queue};TableEndpoint=${table};`;
  await BlobServiceClient.fromConnectionString(connection).createContainer('box');
  await QueueServiceClient.fromConnectionString(connection).createQueue('box');
  await TableServiceClient.fromConnectionString(connection, { allowInsecureConnection: true }).createTable('box');
  // A second one runs beside it, since nothing else is listened to.
  const second = await started(path.join(directory, 'azurite'), ['--inMemoryPersistence', ...SOME_PORTS], { lines: THREE });
  second.child.kill('SIGTERM');
  assert.equal(await second.ended, 0);
  seen.child.kill('SIGTERM');
  assert.equal(await seen.ended, 0);
  assert.match(seen.output, /Azurite Table service is closing\.\.\.\n.*Azurite Blob service successfully closed\n/s);
  assert.doesNotMatch(seen.output, /Kyanite/);
});

test('azurite: the log may be in the location, which may have other things in it', async () => {
  const cases = [ // what is there before, and where data is then
    [[], 'FORMAT'],
    [['debug.log'], 'kyanite/FORMAT'],
    [['.gitignore', 'package.json'], 'kyanite/FORMAT'],
  ];
  for (const [files, marker] of cases) {
    const location = path.join(directory, `with ${files.join(' ')}`);
    if (files.length > 0) await mkdir(location);
    for (const file of files) await writeFile(path.join(location, file), 'x');
    const flags = ['--silent', '--location', location, '--debug', path.join(location, 'logs', 'debug.log'), ...SOME_PORTS];
    for (let start = 0; start < 2; ++start) {
      const seen = await started(path.join(directory, 'azurite'), flags, { lines: THREE });
      const box = new BlobServiceClient(`${urlOf(seen, 'Blob')}/${ACCOUNT}`, new StorageSharedKeyCredential(ACCOUNT, KEY)).getContainerClient('box');
      assert.equal((await box.createIfNotExists()).succeeded, start === 0);
      seen.child.kill('SIGTERM');
      assert.equal(await seen.ended, 0);
    }
    assert.ok((await stat(path.join(location, marker))).isFile());
    const log = await readFile(path.join(location, 'logs', 'debug.log'), 'utf8');
    assert.match(log, /PUT .*box/);
    assert.equal(/has other things in it: data is kept in .*\/kyanite/.test(log), files.length > 0);
    for (const file of files) assert.equal(await readFile(path.join(location, file), 'utf8'), 'x');
  }
  // By its own name it does not settle among the things of others.
  const refused = await run(['--location', path.join(directory, 'with debug.log'), ...FREE_PORTS]);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /is not empty and was not made by Kyanite/);
  const own = path.join(directory, 'own');
  const server = await Server.start({ location: own, flags: ['--debug', path.join(own, 'debug.log')] });
  await server.stop();
});

for (const [program, lines] of [
  ['azurite-blob', /Azurite Blob service is starting on 127\.0\.0\.1:0\nAzurite Blob service successfully listens on http:\/\/127\.0\.0\.1:\d+\n/],
  ['azurite-queue', /Azurite Queue service successfully listens on http:\/\/127\.0\.0\.1:\d+\n/],
  ['azurite-table', /Azurite Table service successfully started on 127\.0\.0\.1:0\n/],
]) {
  test(`${program} by name and as the first word`, async () => {
    for (const command of [[path.join(directory, program)], [binary, program]]) {
      const flags = [...command.slice(1), '--inMemoryPersistence', '--silent', ...SOME_PORTS];
      const seen = await started(command[0], flags, { lines: [lines] });
      assert.equal(seen.output.match(/is starting/g).length, 1);
      seen.child.kill('SIGINT');
      assert.equal(await seen.ended, 0);
    }
  });
}

test('the well-known account on other addresses: only when asked for, and then said', async () => {
  const flags = ['azurite', '--inMemoryPersistence', ...SOME_PORTS, '--blobHost', '0.0.0.0'];
  const refused = await run(flags);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /0\.0\.0\.0.*--insecureOffLoopback/);
  const open = { env: { KYANITE_INSECURE_OFF_LOOPBACK: 'true' }, lines: [/Blob service is successfully listening at http:\/\/0\.0\.0\.0:\d+/] };
  const seen = await started(binary, flags, open);
  assert.match(seen.errors, /Serving on 0\.0\.0\.0 with the well-known account.*whoever reaches/);
  seen.child.kill('SIGTERM');
  assert.equal(await seen.ended, 0);
});

test('accounts of any name that Azurite takes', async () => {
  for (const name of ['a', 'My-Account_1']) {
    const env = { AZURITE_ACCOUNTS: `${name}:c2VjcmV0` };
    const seen = await started(path.join(directory, 'azurite'), ['--silent', '--inMemoryPersistence', ...SOME_PORTS], { env, lines: THREE });
    const [blob, queue, table] = ['Blob', 'Queue', 'Table'].map((service) => `${urlOf(seen, service)}/${name}`);
    const connection = `DefaultEndpointsProtocol=http;AccountName=${name};AccountKey=c2VjcmV0;BlobEndpoint=${blob};QueueEndpoint=${queue};TableEndpoint=${table};`;
    const box = BlobServiceClient.fromConnectionString(connection).getContainerClient('box');
    await box.create();
    await box.getBlockBlobClient('b').upload('1', 1);
    const signed = await box.getBlockBlobClient('b').generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 60_000) });
    assert.equal(await (await fetch(signed)).text(), '1');
    await QueueServiceClient.fromConnectionString(connection).createQueue('box');
    await TableServiceClient.fromConnectionString(connection, { allowInsecureConnection: true }).createTable('box');
    seen.child.kill('SIGTERM');
    assert.equal(await seen.ended, 0);
  }
});

test('flags of the environment, and keys that are not base64', async () => {
  const env = { KYANITE_SETTING: 'blobVersioning=true', KYANITE_BLOB_PROT: '7', AZURITE_DB: 'mysql://h/d', AZURITE_ACCOUNTS: 'acme:not base64!' };
  const server = await Server.start({ env });
  assert.match(server.log, /KYANITE_BLOB_PROT is no setting; KYANITE_BLOB_PORT is one/);
  assert.match(server.log, /AZURITE_DB/);
  const url = server.blobUrl.replace(ACCOUNT, 'acme');
  const box = new BlobServiceClient(url, new StorageSharedKeyCredential('acme', 'not base64!')).getContainerClient('box');
  await box.create();
  const blob = box.getBlockBlobClient('b');
  const first = await blob.upload('1', 1);
  assert.ok(first.versionId);
  await server.stop();
});

test('health is asked for from outside', async () => {
  const server = await Server.start();
  const { port } = new URL(server.adminUrl);
  assert.deepEqual(await run(['--healthcheck', '--adminPort', port]), { code: 0, output: '', errors: '' });
  assert.equal((await run(['--healthcheck'], { KYANITE_ADMIN_PORT: port, KYANITE_ADMIN_HOST: '0.0.0.0' })).code, 0);
  await server.stop();
  const gone = await run(['--healthcheck', '--adminPort', port]);
  assert.equal(gone.code, 1);
  assert.match(gone.errors, new RegExp(`no health at 127\\.0\\.0\\.1:${port}`));
});

test('keys rotate while the server serves', async () => {
  const config = path.join(directory, 'accounts.json');
  const keys = ['Zmlyc3Q=', 'c2Vjb25k', 'dGhpcmQ='];
  const write = async (text) => {
    await writeFile(`${config}.new`, text);
    await rename(`${config}.new`, config);
  };
  const accounts = (...used) => JSON.stringify({ accounts: [{ name: 'acme', keys: used }] });
  const until = async (condition) => {
    for (let i = 0; !(await condition()); ++i) {
      assert.ok(i < 500, 'it does not come');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await write(accounts(keys[0]));
  const server = await Server.start({ flags: ['--config', config] });
  const client = (key) => new BlobServiceClient(server.blobUrl, new StorageSharedKeyCredential('acme', key), { retryOptions: { maxTries: 1 } });
  const works = (key) => client(key).getProperties().then(() => true, (error) => assert.equal(error.statusCode, 403) ?? false);
  await client(keys[0]).createContainer('box');

  // Somebody uses the first key all the time that it is good.
  let using = true;
  const user = (async () => {
    for (; using; ) await client(keys[0]).getProperties();
  })();
  await write(accounts(keys[0], keys[1]));
  await until(() => works(keys[1]));
  using = false;
  await user;
  await write('{"accounts": [');
  await until(() => /the changed accounts are not used.*not JSON/.test(server.log));
  assert.ok((await works(keys[0])) && (await works(keys[1])));
  await write(accounts(keys[1], keys[2]));
  await until(() => works(keys[2]));
  assert.equal(await works(keys[0]), false);
  for await (const { name } of client(keys[2]).listContainers()) assert.equal(name, 'box');
  assert.doesNotMatch(server.log, /Zmlyc3Q|c2Vjb25k|dGhpcmQ/);
  await server.stop();
});
