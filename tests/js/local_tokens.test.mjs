// --oauth local: programs that get their tokens by DefaultAzureCredential run unchanged, with nothing but their environment set.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Server, run } from './server.mjs';

const server = await Server.forThisFile({ flags: ['--https', '--oauth', 'local', '--tokenPort', '0'] });
const ca = path.join(server.location, 'issuer/ca.pem');

// The lines that the server prints, as a shell would set them.
const exported = [...server.output.matchAll(/^ {2}export (.*)$/gm)]
  .map((line) => Object.fromEntries(line[1].split(' ').map((each) => each.split(/=(.*)/s).slice(0, 2))));
const [application, appService, virtualMachine] = ['AZURE_CLIENT_ID', 'IDENTITY_HEADER', 'AZURE_POD_IDENTITY_AUTHORITY_HOST']
  .map((name) => exported.find((each) => name in each));

const PROGRAM = `
  import { DefaultAzureCredential } from '@azure/identity';
  import { BlobServiceClient } from '@azure/storage-blob';
  const service = new BlobServiceClient(process.env.BLOB_URL, new DefaultAzureCredential(), { retryOptions: { maxTries: 1 } });
  const container = service.getContainerClient(process.env.CONTAINER);
  await container.create();
  await container.getBlockBlobClient('b').upload('by token', 8);
  console.log((await container.getBlockBlobClient('b').downloadToBuffer()).toString());
`;

// In a process of its own, which trusts the authority by the documented variable.
async function runProgram(container, env) {
  const { NODE_TLS_REJECT_UNAUTHORIZED, ...mine } = process.env;
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: import.meta.dirname,
    env: { ...mine, NODE_EXTRA_CA_CERTS: ca, BLOB_URL: server.blobUrl, CONTAINER: container, ...env },
    timeout: 60_000,
  });
}

for (const [name, env] of Object.entries({ application, 'app-service': appService, 'virtual-machine': virtualMachine })) {
  test(`DefaultAzureCredential as ${name}`, async () => {
    const { stdout } = await runProgram(name, env);
    assert.equal(stdout.trim(), 'by token');
  });
}

test('whose identity header is wrong gets no token', async () => {
  await assert.rejects(runProgram('never', { ...appService, IDENTITY_HEADER: 'guessed' }), /CredentialUnavailable|AuthenticationRequired|401|unauthorized/i);
});

test('a token of another key is refused', async () => {
  const other = await Server.start({ flags: ['--https', '--oauth', 'local', '--tokenPort', '0', '--inMemoryPersistence'] });
  const host = /IDENTITY_HEADER=(\S+)/.exec(other.output)[1];
  const url = `${other.adminUrl}/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com`;
  const { access_token: token } = await (await fetch(url, { headers: { 'X-IDENTITY-HEADER': host } })).json();
  await other.stop();
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const status = async (bearer) => (await fetch(`${server.blobUrl}?comp=list`, {
    headers: { authorization: `Bearer ${bearer}`, 'x-ms-version': '2024-11-04' } })).status;
  assert.equal(await status(token), 401);
  const own = `${server.adminUrl}/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com`;
  const mine = await (await fetch(own, { headers: { 'X-IDENTITY-HEADER': appService.IDENTITY_HEADER } })).json();
  assert.equal(await status(mine.access_token), 200);
  const elsewhere = await (await fetch(own.replace('storage.azure.com', 'vault.example'),
    { headers: { 'X-IDENTITY-HEADER': appService.IDENTITY_HEADER } })).json();
  assert.equal(await status(elsewhere.access_token), 401);
});

test('roles of the configuration are given to the ids in tokens', async () => {
  const reader = '11111111-2222-4333-8444-555555555555';
  const folder = await mkdtemp(path.join(tmpdir(), 'kyanite-roles-'));
  const config = path.join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ oauth: { roles: { [reader]: 'reader' }, defaultRole: 'contributor' } }));
  const other = await Server.start({ flags: ['--https', '--oauth', 'local', '--tokenPort', '0', '--inMemoryPersistence', '--config', config] });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const as = async (client) => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: 'any',
      scope: 'https://storage.azure.com/.default' });
    const reply = await fetch(`${other.url('Token')}/adfs/oauth2/v2.0/token`, { method: 'POST', body: form });
    return (await reply.json()).access_token;
  };
  const status = async (client, method, query) => (await fetch(`${other.blobUrl}/${query}`, { method,
    headers: { authorization: `Bearer ${await as(client)}`, 'x-ms-version': '2024-11-04' } })).status;
  assert.equal(await status(reader, 'GET', '?comp=list'), 200);
  assert.equal(await status(reader, 'PUT', 'box?restype=container'), 403);
  assert.equal(await status('somebody else', 'PUT', 'box?restype=container'), 201);
  await other.stop();
  await rm(folder, { recursive: true });
});

test('off loopback it is refused', async () => {
  const { code, errors } = await run(['--https', '--oauth', 'local', '--blobHost', '0.0.0.0', '--inMemoryPersistence'],
    { AZURITE_ACCOUNTS: 'acme:a2V5' });
  assert.equal(code, 1);
  assert.match(errors, /loopback only/);
});
